//! Clips to write.

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{Clip, Pose, Skeleton};
use std::sync::Arc;

/// Eight frames at 30 Hz of a body that walks, every joint turning.
pub fn walk() -> Clip {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let poses = (0..8)
        .map(|frame| {
            let mut pose = Pose::rest(&skeleton);
            pose.root_position += Vec3::new(0.1, -0.02, 0.3) * frame as f32;
            for (joint, rotation) in pose.local_rotations.iter_mut().enumerate() {
                *rotation = Quat::from_scaled_axis(Vec3::new(0.3, -0.2, 0.1) * (frame + joint % 5) as f32);
            }
            pose
        })
        .collect();
    Clip::new("walk", skeleton, 30.0, poses).unwrap()
}
