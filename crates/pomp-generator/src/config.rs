use crate::stature::SERVED_M;
use crate::{GeneratorError, GroundMotion};
use pomp_kinematic::SamplerConfig;
use pomp_physics::{AssistConfig, DynamicConfig, GetUpConfig, PhysicsError};
use serde::{Deserialize, Serialize};

/// Where the present's phase code comes from (docs/method.md §5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Who moves the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dynamics {
    /// The simulator, towards the target: the method.
    Simulated,
    /// Nobody: the target is the pose. No contacts, no pushes; what the kinematic module does alone.
    KinematicOnly,
}

/// Settings of the closed loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeneratorConfig {
    /// How the kinematic module is sampled. Default: analytic DDIM in 4 steps with a third of the noise, in the steps and at
    /// their start: with the full noise the compact model falls, none at all moves less than people do.
    pub sampler: SamplerConfig,
    /// How long the sampler's noise remembers from frame to frame, seconds, 0 to 10; 0 draws every frame anew. Default 0.1.
    pub noise_memory_s: f32,
    /// Who moves the body. Default simulated.
    pub dynamics: Dynamics,
    /// Where phase codes come from. Default aligned.
    pub phase_feedback: PhaseFeedback,
    /// Share of the way that phase codes which have left the cycle of their gait are led back to it each frame, 0 … 1;
    /// codes on their cycle are left alone. 0 leaves all of them to what is read: a walk or jog that stumbles then loses
    /// its gait now and then, and falls. 1 keeps the stride whatever the body does. Default 0.3.
    pub cycle_keeping: f32,
    /// Whether a walk or jog that has lost its gait all the same, its codes off the cycle or its legs crossed, takes up its own
    /// last good stride again where the body is. Default true.
    pub regain_stride: bool,
    /// Share of the way that the target's root moves to the body's each frame, 0 … 1. 0 springs back after a
    /// push as if nothing had been; more gives ground to every lag: at 0.15 a body 4 cm behind slows the
    /// target by 0.36 m/s. Default 0.06.
    pub root_follow: f32,
    /// How much of the simulated pose the kinematic module sees, 0 … 1; the rest is its own last target. Place and heading
    /// are always the body's. 1 is the paper's loop: it starts from where the body is. Less keeps the distance between
    /// target and body by which the drives hold the weight, at the price of noticing disturbances of the
    /// limbs less. Default 0.5: at 1 the compact model falls now and then.
    pub pose_feedback: f32,
    /// The same where the predicted gait is a jog, 0 … 1. Default 0.2: the body lags most where it flies, and with more the
    /// compact model falls within seconds.
    pub pose_feedback_jogging: f32,
    /// Clearance of a swinging foot over the ground, metres, 0 to 0.2; 0 leaves the target's feet as they are, standing
    /// ones too. Too little trips over its own toes, too much marches. Default 0.05.
    pub swing_clearance_m: f32,
    /// Time constant with which one who stands and is to stand is drawn back to an upright posture, seconds, 0 to 60; 0
    /// is not at all. Too short stands like a statue, too long bows and falls. Default 0.5.
    pub stand_upright_s: f32,
    /// Exponent on the command's share in future positions; below 1 the command wins early. PFNN uses 0.5. Default 0.35.
    pub position_bias: f32,
    /// Exponent on the command's share in future directions. Default 2, as in PFNN.
    pub direction_bias: f32,
    /// Tilt of the trunk from upright beyond which the character has fallen, degrees. Default 65.
    pub fall_tilt_deg: f32,
    /// Height of the pelvis above the ground below which it has fallen, fraction of standing height. Default 0.5.
    pub fall_height: f32,
    /// How long it must be so before it counts as a fall, seconds, 0 to 5: a stumble may still be caught. Default 0.3.
    pub fall_after_s: f32,
    /// Strength of the joints while fallen, fraction of the gains, above 0 to 1. Default 0.05.
    pub fallen_strength: f32,
    /// What it does then.
    pub get_up: GetUpConfig,
    /// Height of the character, metres, 1.5 to 2.0; its mass is `dynamic.mass_kg`. Left out, as by default, it is that of the
    /// model's skeleton. Commands stay in m/s: what is a stroll for a tall character is a brisk walk for a small one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stature_m: Option<f32>,
    /// How the ground moves. Left out, as by default, it rests.
    #[serde(skip_serializing_if = "GroundMotion::rests")]
    pub ground_motion: GroundMotion,
    /// The ragdoll. Default as [`DynamicConfig`]'s, but for a horizontal root assist of at most 0.45 body weights: the loop
    /// needs less than the replay of a clip does.
    pub dynamic: DynamicConfig,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        Self {
            sampler: SamplerConfig {
                temperature: 0.3,
                initial_temperature: 0.3,
                ..SamplerConfig::analytic_ddim(4)
            },
            noise_memory_s: 0.1,
            dynamics: Dynamics::Simulated,
            phase_feedback: PhaseFeedback::Aligned,
            cycle_keeping: 0.3,
            regain_stride: true,
            root_follow: 0.06,
            pose_feedback: 0.5,
            pose_feedback_jogging: 0.2,
            swing_clearance_m: 0.05,
            stand_upright_s: 0.5,
            position_bias: 0.35,
            direction_bias: 2.0,
            fall_tilt_deg: 65.0,
            fall_height: 0.5,
            fall_after_s: 0.3,
            fallen_strength: 0.05,
            get_up: GetUpConfig::default(),
            stature_m: None,
            ground_motion: GroundMotion::default(),
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

impl GeneratorConfig {
    /// Checks every range.
    ///
    /// # Errors
    /// The first field outside its range.
    pub fn validate(&self) -> Result<(), GeneratorError> {
        let in_range = |field, value: f32, low: f32, high: f32, range| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(GeneratorError::BadConfig { field, value: value.to_string(), range })
            }
        };
        in_range("noise_memory_s", self.noise_memory_s, 0.0, 10.0, "0 to 10")?;
        in_range("cycle_keeping", self.cycle_keeping, 0.0, 1.0, "0 to 1")?;
        in_range("root_follow", self.root_follow, 0.0, 1.0, "0 to 1")?;
        in_range("pose_feedback", self.pose_feedback, 0.0, 1.0, "0 to 1")?;
        in_range("pose_feedback_jogging", self.pose_feedback_jogging, 0.0, 1.0, "0 to 1")?;
        in_range("swing_clearance_m", self.swing_clearance_m, 0.0, 0.2, "0 to 0.2")?;
        in_range("stand_upright_s", self.stand_upright_s, 0.0, 60.0, "0 to 60")?;
        in_range("position_bias", self.position_bias, 0.05, 20.0, "0.05 to 20")?;
        in_range("direction_bias", self.direction_bias, 0.05, 20.0, "0.05 to 20")?;
        in_range("fall_tilt_deg", self.fall_tilt_deg, 10.0, 180.0, "10 to 180")?;
        in_range("fall_height", self.fall_height, 0.0, 1.0, "0 to 1")?;
        in_range("fall_after_s", self.fall_after_s, 0.0, 5.0, "0 to 5")?;
        in_range("fallen_strength", self.fallen_strength, 0.001, 1.0, "0.001 to 1")?;
        if let Some(stature_m) = self.stature_m {
            in_range("stature_m", stature_m, SERVED_M[0], SERVED_M[1], "1.5 to 2 m")?;
        }
        self.ground_motion.validate()?;
        if !self.ground_motion.rests() && self.dynamics == Dynamics::KinematicOnly {
            return Err(GeneratorError::BadConfig {
                field: "ground_motion",
                value: "given, with dynamics = \"kinematic_only\"".to_owned(),
                range: "left out where nothing is simulated",
            });
        }
        self.get_up.validate().map_err(|error| match error {
            PhysicsError::BadConfig { field, value, rule } => {
                GeneratorError::BadConfig { field, value: (value as f32).to_string(), range: rule }
            }
            other => other.into(),
        })?;
        self.dynamic.validate()?;
        Ok(())
    }
}
