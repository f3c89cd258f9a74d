use crate::FRAME_RATE_HZ;
use glam::{Vec2, Vec3};
use pomp_motion::features::{CharacterState, OutputFrame};
use pomp_motion::{RootFrame, Skeleton};

/// The state after `before` when a prediction is the pose, untouched by anything, and stands in `frame`: whole bones, and velocities
/// that fit the positions. A prediction without rotations keeps those of before.
pub fn unhindered(
    skeleton: &Skeleton,
    before: &CharacterState,
    output: &OutputFrame,
    frame: RootFrame,
) -> CharacterState {
    let dt = 1.0 / FRAME_RATE_HZ;
    let mut next = output.state_in(frame);
    if next.rotations_local.is_empty() {
        next.rotations_local.clone_from(&before.rotations_local);
    } else {
        let world = skeleton.forward_kinematics(&next.to_pose());
        let old = before.positions_root.iter().map(|p| before.frame.to_world(*p));
        next.positions_root = world.positions.iter().map(|p| frame.to_root(*p)).collect();
        next.velocities_root = world
            .positions
            .iter()
            .zip(old)
            .map(|(new, old)| frame.vector_to_root((*new - old) / dt))
            .collect();
        let pelvis: Vec3 = next.velocities_root[0];
        next.root_velocity = Vec2::new(pelvis.x, pelvis.z);
    }
    next.yaw_rate = CharacterState::yaw_rate_between(&before.frame, &frame, dt);
    next
}
