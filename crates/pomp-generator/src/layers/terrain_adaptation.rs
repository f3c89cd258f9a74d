//! What of the simulated body the kinematic module and the phase encoding module are shown.

use super::{Character, FRAME_S};
use pomp_motion::features::CharacterState;
use pomp_physics::Frame;

impl Character {
    /// The state `body` of a `simulated` frame without what carries the target from the shown ground to the ground itself:
    /// the kinematic module's own pose, and how the body misses the target.
    pub(super) fn on_shown_ground(&mut self, mut body: CharacterState, simulated: &Frame) -> CharacterState {
        let (target, shown) = (&self.target_pose, &self.shown_pose);
        let before = std::mem::replace(&mut self.uncarried, simulated.pose.positions.clone());
        if target == shown {
            return body;
        }
        let to_root = |rotation| self.target_frame.rotation_to_root(rotation);
        for (joint, simulated) in body.rotations_local.iter_mut().enumerate() {
            let (mut aimed, mut shown) = (target.local_rotations[joint], shown.local_rotations[joint]);
            if joint == 0 {
                (aimed, shown) = (to_root(aimed), to_root(shown));
            }
            *simulated = (shown * aimed.inverse() * *simulated).normalize();
        }
        body.positions_root[0].y += shown.root_position.y - target.root_position.y;
        let world = self.skeleton.forward_kinematics(&body.to_pose()).positions;
        for (joint, position) in world.iter().enumerate() {
            body.positions_root[joint] = body.frame.to_root(*position);
            body.velocities_root[joint] = body.frame.vector_to_root((*position - before[joint]) / FRAME_S);
        }
        self.uncarried = world;
        body
    }

    /// Moves a simulated state back towards the kinematic module's pose by what `feedback` leaves out; its place and heading
    /// on the ground stay.
    pub(super) fn keep_part_of_target(&self, state: &mut CharacterState, feedback: f32) {
        let shown = &self.shown_pose;
        for (joint, simulated) in state.rotations_local.iter_mut().enumerate() {
            let mut shown = shown.local_rotations[joint];
            if joint == 0 {
                shown = self.target_frame.rotation_to_root(shown);
            }
            *simulated = shown.slerp(*simulated, feedback);
        }
        let shown_m = shown.root_position.y - self.target_frame.origin.y;
        state.positions_root[0].y = shown_m + (state.positions_root[0].y - shown_m) * feedback;
        let world = self.skeleton.forward_kinematics(&state.to_pose());
        // Velocities of what is fed back: the last fed state's joints, in the world, to these.
        for (joint, position) in world.positions.iter().enumerate() {
            let last = self.state.frame.to_world(self.state.positions_root[joint]);
            let fed = state.frame.vector_to_root((*position - last) / FRAME_S);
            state.velocities_root[joint] = fed.lerp(state.velocities_root[joint], feedback);
            state.positions_root[joint] = state.frame.to_root(*position);
        }
    }
}
