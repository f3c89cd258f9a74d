//! Is it down?

use pomp_motion::glam::Vec3;
use pomp_motion::{GlobalPose, Skeleton, humanoid};

/// Judges poses of one skeleton.
#[derive(Clone, Debug)]
pub struct FallDetector {
    standing_height_m: f32,
    lowest_m: f32,
    cosine: f32,
}

impl FallDetector {
    /// A body has fallen with its pelvis below `fall_height` of the height that it stands at, or its trunk farther than
    /// `fall_tilt_deg` degrees from upright.
    pub fn new(skeleton: &Skeleton, fall_height: f32, fall_tilt_deg: f32) -> Self {
        let standing_height_m = skeleton.joints()[0].offset.y;
        Self {
            standing_height_m,
            lowest_m: standing_height_m * fall_height,
            cosine: fall_tilt_deg.to_radians().cos(),
        }
    }

    /// Whether the trunk is tilted or the pelvis sunk beyond the limits; `ground_y` is the ground below the pelvis, metres.
    pub fn is_down(&self, pose: &GlobalPose, ground_y: f32) -> bool {
        let pelvis = pose.positions[humanoid::HIPS.0];
        let trunk = (pose.positions[humanoid::NECK.0] - pelvis).normalize_or(Vec3::Y);
        pelvis.y - ground_y < self.lowest_m || trunk.y < self.cosine
    }

    /// Height of the pelvis of a standing body, metres.
    pub fn standing_height_m(&self) -> f32 {
        self.standing_height_m
    }
}
