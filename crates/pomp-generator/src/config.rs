use crate::layers::{
    BalancePlanningConfig, BalancePolicyConfig, FootLockingConfig, FootPlacementConfig, GetUpPlanningConfig,
    LayersConfig, ReferenceTrackingConfig, SpeedAdaptationConfig, StandingPostureConfig,
};
use crate::{GeneratorError, GroundMotion};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_controllers::ControllerKind;
use pomp_kinematic::{Precision, SamplerConfig};
use pomp_model::UsedParts;
use pomp_physics::{AssistConfig, BalanceConfig, ContactConfig, Drive, DriveConfig, DynamicConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the phase code of the present frame comes from (docs/method.md §5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseFeedback {
    /// The aligned periodic autoencoder reads the simulated motion: the method.
    Aligned,
    /// The clean periodic autoencoder reads the simulated motion, without alignment: an ablation.
    Unaligned,
    /// The kinematic module's own prediction, never corrected: an ablation.
    Predicted,
    /// The initial codes, held constant: an ablation.
    Constant,
}

/// What moves the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dynamics {
    /// The simulator drives the body towards the target: the method.
    Simulated,
    /// Nothing: the target becomes the pose, without contacts or pushes. This shows what the kinematic module does alone.
    KinematicOnly,
}

/// Settings of the closed loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GeneratorConfig {
    /// What proposes the next frame: the kinematic module (`pomp`), or another controller of the model. Another controller has
    /// phases of its own, and the phases of the loop are held constant. Default pomp.
    pub controller: ControllerKind,
    /// How the kinematic module is sampled. Default: analytic DDIM in 4 steps with a third of the noise, both initially and in
    /// the steps. With the full noise the compact model falls; without noise it moves less than people do.
    pub sampler: SamplerConfig,
    /// With which numbers the kinematic module multiplies. Default bfloat16.
    pub precision: Precision,
    /// Correlation time of the sampler's noise from frame to frame, seconds, 0 to 10; 0 draws new noise in every frame.
    /// Default 0.1.
    pub noise_memory_s: f32,
    /// What moves the body. Default simulated.
    pub dynamics: Dynamics,
    /// Where phase codes come from. Default aligned.
    pub phase_feedback: PhaseFeedback,
    /// Exponent of the command's share in future positions; below 1, the command dominates early. PFNN uses 0.5. Default 0.35.
    pub position_bias: f32,
    /// Exponent of the command's share in future directions. Default 2, as in PFNN.
    pub direction_bias: f32,
    /// How the ground moves. By default (left out) it is at rest.
    #[serde(skip_serializing_if = "GroundMotion::rests")]
    pub ground_motion: GroundMotion,
    /// Weights of the styles in which the character moves, by name: `{ zombie = 0.7 }`. Each is 0 to 1, and they add up to at most 1;
    /// the rest is the model's own, neutral motion. A style also slows the command down to its own pace. The model needs a style
    /// adapter. By default (left out) there is none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub style: BTreeMap<String, f32>,
    /// Layers that act in addition to the paper's loop, each with its own switch. [`LayersConfig::off`] leaves only the
    /// paper's loop.
    pub layers: LayersConfig,
    /// The ragdoll. The defaults are those of [`DynamicConfig`], except that the horizontal root assist is at most 0.45 body
    /// weights: the loop needs less assist than the replay of a clip.
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
            precision: Precision::Bfloat16,
            noise_memory_s: 0.1,
            dynamics: Dynamics::Simulated,
            phase_feedback: PhaseFeedback::Aligned,
            position_bias: 0.35,
            direction_bias: 2.0,
            ground_motion: GroundMotion::default(),
            style: BTreeMap::new(),
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
        fields.holds(
            self.dynamic.balance.enabled || !self.layers.balance_policy.enabled,
            "layers.balance_policy.enabled",
            "true, with dynamic.balance.enabled = false",
            "off, or on with dynamic.balance.enabled = true: the policy adds to the balance by the legs",
        )?;
        fields.holds(
            self.dynamic.balance.enabled || !self.layers.balance_planning.enabled,
            "layers.balance_planning.enabled",
            "true, with dynamic.balance.enabled = false",
            "off, or on with dynamic.balance.enabled = true: plans correct the balance by the legs",
        )?;
        fields.holds(
            self.dynamic.balance.enabled || !self.layers.get_up_planning.enabled,
            "layers.get_up_planning.enabled",
            "true, with dynamic.balance.enabled = false",
            "off, or on with dynamic.balance.enabled = true: it ends with a body that balances by its legs",
        )?;
        check_style(&self.style, fields)?;
        fields.holds(
            self.style.is_empty() || self.controller == ControllerKind::Pomp,
            "style",
            format!("given, with controller = \"{}\"", self.controller),
            "left out, or given with controller = \"pomp\": styles change the kinematic module",
        )?;
        self.layers.check(&fields.section("layers"))?;
        self.dynamic.check(&fields.section("dynamic"))
    }
}

impl GeneratorConfig {
    /// A character on its own feet: nothing outside holds it while it is up. The legs balance it, the model's balance policy corrects it, and
    /// where it follows its target badly, the loop tries corrections in the simulator before it acts. The values are those of
    /// `configs/own_feet_planned.toml`, which gives the reasons.
    pub fn own_feet() -> Self {
        let assisted = Self::default();
        let (layers, dynamic) = (assisted.layers, assisted.dynamic);
        Self {
            sampler: SamplerConfig { temperature: 0.03, initial_temperature: 0.03, ..assisted.sampler },
            layers: LayersConfig {
                reference_tracking: ReferenceTrackingConfig {
                    enabled: true,
                    share: 0.025,
                    return_share: 0.06,
                    ..layers.reference_tracking
                },
                standing_posture: StandingPostureConfig { time_s: 0.1, ..layers.standing_posture },
                foot_locking: FootLockingConfig {
                    landing_clearance_s2_m: 0.003,
                    toe_speed_share: 0.6,
                    ..layers.foot_locking
                },
                balance_policy: BalancePolicyConfig { enabled: true },
                balance_planning: BalancePlanningConfig { enabled: true, ..layers.balance_planning },
                get_up_planning: GetUpPlanningConfig { enabled: true, ..layers.get_up_planning },
                ..layers
            },
            dynamic: DynamicConfig {
                steps_per_frame: 4,
                balance: BalanceConfig {
                    enabled: true,
                    catching_step_s: 0.2,
                    level_rad_s: 6.0,
                    touch_yielding: 0.8,
                    stance_speed_m_s: 0.85,
                    vertical_rad_s: 10.0,
                    load_time_s: 0.2,
                    landing_clearance_s2_m: 0.003,
                    landing_depth_m: 0.01,
                    horizontal_weight: 0.15,
                    force_cost: 0.004,
                    recovery_force_cost: 0.001,
                    ..dynamic.balance
                },
                drives: DriveConfig {
                    damping_s: 0.026,
                    hip: Drive { stiffness_nm_per_rad: 1140.0, torque_limit_nm: 350.0 },
                    knee: Drive { stiffness_nm_per_rad: 980.0, torque_limit_nm: 350.0 },
                    ankle: Drive { stiffness_nm_per_rad: 820.0, torque_limit_nm: 250.0 },
                    ..dynamic.drives
                },
                contact: ContactConfig { frequency_hz: 12.4, damping_ratio: 1.0, ..dynamic.contact },
                ..dynamic
            },
            ..assisted
        }
    }

    /// A character on its own feet that a model leads which learned with gradients through time and was shown its own predictions only, such
    /// as `pomp-embedded-unrolled`: one denoising step and no foot locking. The values are those of
    /// `configs/own_feet_unrolled.toml`.
    pub fn own_feet_unrolled() -> Self {
        let planned = Self::own_feet();
        let (layers, dynamic) = (planned.layers, planned.dynamic);
        Self {
            sampler: SamplerConfig { steps: 1, ..planned.sampler },
            layers: LayersConfig {
                reference_tracking: ReferenceTrackingConfig {
                    shows_prediction: true,
                    return_share: 0.2,
                    ..layers.reference_tracking
                },
                foot_locking: FootLockingConfig { enabled: false, ..layers.foot_locking },
                ..layers
            },
            dynamic: DynamicConfig {
                balance: BalanceConfig {
                    stepping_hold_s: 0.3,
                    level_rad_s: 5.0,
                    vertical_rad_s: 16.0,
                    landing_clearance_s2_m: 0.006,
                    landing_depth_m: 0.006,
                    clearance_m: 0.035,
                    stance_speed_m_s: 0.8,
                    horizontal_weight: 0.12,
                    toe_share: 0.5,
                    bearing_height_m: 0.05,
                    ..dynamic.balance
                },
                ..dynamic
            },
            ..planned
        }
    }

    /// The same with plans twice as often, among twice as many corrections, for jogs and crouched walks on uneven ground. The values are
    /// those of `configs/own_feet_thorough.toml`.
    pub fn own_feet_thorough() -> Self {
        let mut settings = Self::own_feet_unrolled();
        let planning = &mut settings.layers.balance_planning;
        (planning.interval_s, planning.candidates) = (0.05, 24);
        settings
    }

    /// The same on stairs. The values are those of `configs/own_feet_stairs.toml`.
    pub fn own_feet_stairs() -> Self {
        let thorough = Self::own_feet_thorough();
        let (layers, dynamic) = (thorough.layers, thorough.dynamic);
        Self {
            layers: LayersConfig {
                speed_adaptation: SpeedAdaptationConfig {
                    slowest: 0.8,
                    braking_m: 2.0,
                    ..layers.speed_adaptation
                },
                foot_placement: FootPlacementConfig {
                    root_follows: 0.0,
                    pelvis_follows_s: 0.3,
                    ..layers.foot_placement
                },
                ..layers
            },
            dynamic: DynamicConfig {
                balance: BalanceConfig { stepping_hold_s: 0.0, footing_at_body: true, ..dynamic.balance },
                ..dynamic
            },
            ..thorough
        }
    }

    /// What rollouts with these settings use of a model.
    pub fn used_parts(&self) -> UsedParts {
        UsedParts {
            controller: self.controller,
            balance_policy: self.layers.balance_policy.enabled,
            styles: self.style.values().any(|weight| *weight != 0.0),
        }
    }

    /// Where phase codes come from with the controller that is chosen.
    pub(crate) fn feedback(&self) -> PhaseFeedback {
        match self.controller {
            ControllerKind::Pomp => self.phase_feedback,
            _ => PhaseFeedback::Constant,
        }
    }

    /// The layers with the controller that is chosen: one with blended experts has not learned to answer a body, and always goes on from
    /// its own target.
    pub(crate) fn layers(&self) -> LayersConfig {
        let mut layers = self.layers.clone();
        layers.reference_tracking.enabled |= self.controller.is_gated();
        layers
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`GeneratorError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), GeneratorError> {
        Ok(self.check(&Fields::root())?)
    }
}

/// That styles have weights of 0 to 1, and together at most 1.
pub(crate) fn check_style(style: &BTreeMap<String, f32>, fields: &Fields) -> Result<(), OutOfRange> {
    let weights = fields.section("style");
    style.iter().try_for_each(|(name, weight)| weights.within(name, *weight, 0.0..=1.0))?;
    let sum: f32 = style.values().sum();
    // A sum of weights that are written with two decimals may be a rounding error above 1.
    fields.holds(
        sum <= 1.0 + 1e-4,
        "style",
        format!("weights that add up to {sum}"),
        "weights that add up to at most 1",
    )
}
