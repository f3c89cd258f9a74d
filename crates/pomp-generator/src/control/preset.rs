//! Ready-made commands.

use crate::GeneratorError;
use pomp_motion::smoothstep;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f32::consts::{FRAC_PI_2, PI, TAU};
use std::str::FromStr;

/// The preset `turn`: how often it turns by a quarter, after what time it begins, and how long it takes, seconds.
const TURN_EVERY_S: f32 = 3.0;
const TURN_AFTER_S: f32 = 1.0;
const TURN_S: f32 = 1.6;

/// The preset `crouch`: how long it stands first, seconds.
const CROUCH_AFTER_S: f32 = 1.0;

/// Speed of a walk backward and sideways, m/s.
pub(super) const BACKWARD_MPS: f32 = 0.7;
pub(super) const SIDEWAYS_MPS: f32 = 0.5;

/// Ready-made commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Stand at the start.
    Stand,
    /// Walk straight ahead at 1.2 m/s.
    Walk,
    /// Jog straight ahead at 2.4 m/s.
    Jog,
    /// Walk a circle of 3 m radius to the left at 1.1 m/s.
    Circle,
    /// Walk ahead at 1.1 m/s, swinging 1 m to either side every 10 m.
    Slalom,
    /// Walk for four seconds, stand for three, again and again.
    StopAndGo,
    /// Walk backward at 0.7 m/s, facing ahead.
    Backward,
    /// Step to the left at 0.5 m/s, facing ahead.
    Sideways,
    /// Stand for a second, then walk ahead at 0.5 m/s in a crouch.
    Crouch,
    /// Run straight ahead at 3.2 m/s.
    Run,
    /// Turn left on the spot by 90° every three seconds.
    Turn,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 11] = [
        Self::Stand,
        Self::Walk,
        Self::Jog,
        Self::Circle,
        Self::Slalom,
        Self::StopAndGo,
        Self::Backward,
        Self::Sideways,
        Self::Crouch,
        Self::Run,
        Self::Turn,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stand => "stand",
            Self::Walk => "walk",
            Self::Jog => "jog",
            Self::Circle => "circle",
            Self::Slalom => "slalom",
            Self::StopAndGo => "stop-and-go",
            Self::Backward => "backward",
            Self::Sideways => "sideways",
            Self::Crouch => "crouch",
            Self::Run => "run",
            Self::Turn => "turn",
        }
    }

    /// Speed that it asks for after `t` seconds, m/s.
    pub(super) fn speed_mps(self, t: f32) -> f32 {
        match self {
            // A rollout begins in a gait that the model has a start for, and no model has one for a crouch.
            Self::Crouch if t < CROUCH_AFTER_S => 0.0,
            Self::StopAndGo if t.rem_euclid(7.0) >= 4.0 => 0.0,
            Self::Stand | Self::Turn => 0.0,
            Self::Walk => 1.2,
            Self::Jog => 2.4,
            Self::Run => 3.2,
            Self::Circle | Self::Slalom | Self::StopAndGo => 1.1,
            Self::Backward => BACKWARD_MPS,
            Self::Sideways => SIDEWAYS_MPS,
            Self::Crouch => 0.5,
        }
    }

    /// Heading that it asks for after `t` seconds and `along_m` metres of the way, radians.
    pub(super) fn heading_rad(self, t: f32, along_m: f32) -> f32 {
        match self {
            Self::Circle => along_m / 3.0,
            Self::Slalom => {
                // Slope of a sine of 1 m amplitude and 10 m period.
                (TAU / 10.0 * (TAU * along_m / 10.0).sin()).atan()
            }
            Self::Turn => {
                let (turns, into) = ((t / TURN_EVERY_S).floor(), t.rem_euclid(TURN_EVERY_S));
                FRAC_PI_2 * (turns + smoothstep(((into - TURN_AFTER_S) / TURN_S).clamp(0.0, 1.0)))
            }
            _ => 0.0,
        }
    }

    /// Angle from the heading to the direction of travel, radians, left positive.
    pub(super) fn travel_rad(self) -> f32 {
        match self {
            Self::Backward => PI,
            Self::Sideways => FRAC_PI_2,
            _ => 0.0,
        }
    }
}

impl FromStr for Preset {
    type Err = GeneratorError;
    fn from_str(name: &str) -> Result<Self, GeneratorError> {
        Self::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| GeneratorError::BadControl {
            reason: format!(
                "there is no preset \"{name}\"; the presets are {}",
                Self::ALL.map(Self::name).join(", ")
            ),
        })
    }
}
