//! Turn limit: steering turns no faster than the mocap does (ours).
//!
//! Acts on the command of [`crate::Generator::step_steered`], before the loop; plans are taken as they are. Faster turns are
//! beyond what most of the mocap shows, and trip the model: at 1.6 rad/s it falls twice as often where it starts, turns by 90°
//! and stops.
//!
//! Cost: a few operations on the command.

use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the turn limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TurnLimitConfig {
    /// If off, the commanded heading is used at once. Default true.
    pub enabled: bool,
    /// Largest turning rate of the heading, rad/s, 0.1 to 20. Default 1.
    pub rate_rad_s: f32,
    /// Share of its speed that the character keeps in the sharpest turn, 0 … 1. Default 0.35.
    pub speed_share: f32,
}

impl Default for TurnLimitConfig {
    fn default() -> Self {
        Self { enabled: true, rate_rad_s: 1.0, speed_share: 0.35 }
    }
}

impl Validate for TurnLimitConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("rate_rad_s", self.rate_rad_s, 0.1..=20.0)?;
        fields.within("speed_share", self.speed_share, 0.0..=1.0)
    }
}

impl TurnLimitConfig {
    /// The heading after `error` radians are asked for within `dt_s`: how far it turns.
    pub(crate) fn turn(&self, error: f32, dt_s: f32) -> f32 {
        if self.enabled { error.clamp(-self.rate_rad_s * dt_s, self.rate_rad_s * dt_s) } else { error }
    }

    /// Share of the speed that is kept while `error` radians are still to turn.
    pub(crate) fn speed_share(&self, error: f32) -> f32 {
        if self.enabled { error.cos().max(self.speed_share) } else { 1.0 }
    }
}
