use crate::layers::LayersConfig;
use crate::{GeneratorError, GroundMotion};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_controllers::ControllerKind;
use pomp_kinematic::SamplerConfig;
use pomp_physics::{AssistConfig, DynamicConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the present's phase code comes from (docs/method.md §5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseFeedback {
    /// The aligned periodic autoencoder reads the simulated motion: the method.
    Aligned,
    /// The clean periodic autoencoder reads it, unaligned: an ablation.
    Unaligned,
    /// The kinematic module's own prediction, never corrected: an ablation.
    Predicted,
    /// The codes of the start, for ever: an ablation.
    Constant,
}

/// What moves the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dynamics {
    /// The simulator, towards the target: the method.
    Simulated,
    /// Nothing: the target is the pose. No contacts, no pushes; what the kinematic module does alone.
    KinematicOnly,
}

/// Settings of the closed loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GeneratorConfig {
    /// What proposes the next frame: the kinematic module, or a controller of the model in its place, which keeps phases of its
    /// own; those of the loop are held. Default pomp.
    pub controller: ControllerKind,
    /// How the kinematic module is sampled. Default: analytic DDIM in 4 steps with a third of the noise, in the steps and at
    /// their start: with the full noise the compact model falls, none at all moves less than people do.
    pub sampler: SamplerConfig,
    /// How long the sampler's noise remembers from frame to frame, seconds, 0 to 10; 0 draws every frame anew. Default 0.1.
    pub noise_memory_s: f32,
    /// What moves the body. Default simulated.
    pub dynamics: Dynamics,
    /// Where phase codes come from. Default aligned.
    pub phase_feedback: PhaseFeedback,
    /// Exponent on the command's share in future positions; below 1 the command wins early. PFNN uses 0.5. Default 0.35.
    pub position_bias: f32,
    /// Exponent on the command's share in future directions. Default 2, as in PFNN.
    pub direction_bias: f32,
    /// How the ground moves. Left out, as by default, it rests.
    #[serde(skip_serializing_if = "GroundMotion::rests")]
    pub ground_motion: GroundMotion,
    /// What acts beside the paper's loop: every layer with its own switch. [`LayersConfig::off`] leaves the paper's loop.
    pub layers: LayersConfig,
    /// The ragdoll. Default as [`DynamicConfig`]'s, but for a horizontal root assist of at most 0.45 body weights: the loop
    /// needs less than the replay of a clip does.
    pub dynamic: DynamicConfig,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        Self {
            controller: ControllerKind::Pomp,
            sampler: SamplerConfig {
                temperature: 0.3,
                initial_temperature: 0.3,
                ..SamplerConfig::analytic_ddim(4)
            },
            noise_memory_s: 0.1,
            dynamics: Dynamics::Simulated,
            phase_feedback: PhaseFeedback::Aligned,
            position_bias: 0.35,
            direction_bias: 2.0,
            ground_motion: GroundMotion::default(),
            layers: LayersConfig::default(),
            dynamic: DynamicConfig {
                assist: AssistConfig {
                    horizontal_limit_bw: 0.45,
                    struck_limit_bw: 0.05,
                    ..DynamicConfig::default().assist
                },
                ..DynamicConfig::default()
            },
        }
    }
}

impl Validate for GeneratorConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("noise_memory_s", self.noise_memory_s, 0.0..=10.0)?;
        fields.within("position_bias", self.position_bias, 0.05..=20.0)?;
        fields.within("direction_bias", self.direction_bias, 0.05..=20.0)?;
        self.ground_motion.check(fields)?;
        fields.holds(
            self.ground_motion.rests() || self.dynamics == Dynamics::Simulated,
            "ground_motion",
            "given, with dynamics = \"kinematic_only\"",
            "left out where nothing is simulated",
        )?;
        self.layers.check(&fields.section("layers"))?;
        self.dynamic.check(&fields.section("dynamic"))
    }
}

impl GeneratorConfig {
    /// Where phase codes come from with the controller that is chosen.
    pub(crate) fn feedback(&self) -> PhaseFeedback {
        match self.controller {
            ControllerKind::Pomp => self.phase_feedback,
            _ => PhaseFeedback::Constant,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`GeneratorError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), GeneratorError> {
        Ok(self.check(&Fields::root())?)
    }
}
