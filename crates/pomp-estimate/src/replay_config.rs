use crate::{ReplayPlanningConfig, ReplayTargetsConfig};
use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// How the replay treats clips that the ragdoll cannot follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplayConfig {
    /// Frames of constant-velocity approach before the first frame, so that contacts have settled when
    /// recording begins. Default 6.
    pub warm_up_frames: usize,
    /// If the simulated pelvis is farther than this from the clip's, the ragdoll has lost the clip and is reset onto it, metres.
    /// Such frames are counted as resets. A small value hides stumbling; a large one records long falls. Default 0.5.
    pub lost_beyond_m: f32,
    /// Feed-forward of the drives by the forces and accelerations of the clip, from the estimate of its contact impulses.
    /// Default true. Without feed-forward, the share of the weight on each leg depends on millimetres of the clip, and a heel
    /// impact lasts three frames instead of eight as in a person.
    pub feed_forward: bool,
    /// Stiffness of knee and ankle of a leg that is expected to bear load, relative to the drives. Default 0.15; 1 leaves it
    /// unchanged. Feed-forward supplies the torque of such a leg; a stiff spring only adds the errors of the clip's soles.
    pub bearing_stiffness: f32,
    /// Damping of the same joints, relative to the drives. Default 0.6.
    pub bearing_damping: f32,
    /// What is made of the clip for the ragdoll to track.
    pub targets: ReplayTargetsConfig,
    /// Corrections of the balance that keep a ragdoll without external support on its clip. They need `dynamic.balance`.
    pub planning: ReplayPlanningConfig,
}

impl Default for ReplayConfig {
    fn default() -> Self {
        Self {
            warm_up_frames: 6,
            lost_beyond_m: 0.5,
            feed_forward: true,
            bearing_stiffness: 0.15,
            bearing_damping: 0.6,
            targets: ReplayTargetsConfig::default(),
            planning: ReplayPlanningConfig::default(),
        }
    }
}

impl Validate for ReplayConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("lost_beyond_m", self.lost_beyond_m, (Bound::Excluded(0.0), Bound::Included(100.0)))?;
        self.targets.check(&fields.section("targets"))?;
        self.planning.check(&fields.section("planning"))?;
        fields.within("bearing_stiffness", self.bearing_stiffness, 0.0..=10.0)?;
        fields.within("bearing_damping", self.bearing_damping, 0.0..=10.0)?;
        fields.within("warm_up_frames", self.warm_up_frames, 0..=600)
    }
}
