//! Is it down?

use crate::GeneratorConfig;
use glam::Vec3;
use pomp_motion::{GlobalPose, Skeleton, humanoid};

/// Judges poses of one skeleton.
#[derive(Clone, Debug)]
pub(crate) struct FallDetector {
    standing_height_m: f32,
    lowest_m: f32,
    cosine: f32,
}

impl FallDetector {
    pub fn new(skeleton: &Skeleton, config: &GeneratorConfig) -> Self {
        let standing_height_m = skeleton.joints()[0].offset.y;
        Self {
            standing_height_m,
            lowest_m: standing_height_m * config.fall_height,
            cosine: config.fall_tilt_deg.to_radians().cos(),
        }
    }

    /// Whether the trunk is tilted or the pelvis sunk beyond the limits; `ground_y` is the ground below the pelvis.
    pub fn is_down(&self, pose: &GlobalPose, ground_y: f32) -> bool {
        let pelvis = pose.positions[humanoid::HIPS.0];
        let trunk = (pose.positions[humanoid::NECK.0] - pelvis).normalize_or(Vec3::Y);
        pelvis.y - ground_y < self.lowest_m || trunk.y < self.cosine
    }

    pub fn standing_height_m(&self) -> f32 {
        self.standing_height_m
    }
}
