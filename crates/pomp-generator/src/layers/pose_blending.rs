//! Pose blending: the kinematic module is shown a mixture of the simulated pose and its own target (ours).
//!
//! Acts at `after_simulation`, on the state that goes into the next x; place and heading are always the body's. With the
//! simulated pose alone, which is the paper's loop, the drives lose the distance between target and body by which they carry
//! the weight. The price is that disturbances of the limbs are noticed less.
//!
//! Cost: 0.1 % of a frame.
//!
//! Evidence: `pomp bench --config configs/bench/layers.toml`, with its figures in docs/layers.md.

use glam::Vec3;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::features::CharacterState;
use pomp_motion::{Pose, RootFrame, Skeleton};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const FRAME_S: f32 = 1.0 / pomp_motion::FRAME_RATE_HZ;

/// Settings of pose blending.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PoseBlendingConfig {
    /// If off, the kinematic module is shown the simulated pose. Default true.
    pub enabled: bool,
    /// Share of the simulated pose, 0 … 1; the rest is the last target of the module. Default 0.5.
    pub share: f32,
}

impl Default for PoseBlendingConfig {
    fn default() -> Self {
        Self { enabled: true, share: 0.5 }
    }
}

impl Validate for PoseBlendingConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("share", self.share, 0.0..=1.0)
    }
}

/// The layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoseBlending {
    config: PoseBlendingConfig,
}

impl PoseBlending {
    pub fn new(config: PoseBlendingConfig) -> Self {
        Self { config }
    }

    /// `after_simulation`: the simulated state `body`, moved towards the target `pose` of the module, whose root is in `frame`,
    /// by what the share leaves out. `last` is the state that the module was shown before.
    pub fn after_simulation(
        &self,
        skeleton: &Skeleton,
        body: &CharacterState,
        pose: &Pose,
        frame: &RootFrame,
        last: &CharacterState,
    ) -> CharacterState {
        let mut state = body.clone();
        if self.config.enabled && self.config.share < 1.0 {
            blend(skeleton, &mut state, self.config.share, pose, frame, last);
        }
        state
    }
}

/// Leaves only the share `feedback` of a simulated `state`.
fn blend(
    skeleton: &Skeleton,
    state: &mut CharacterState,
    feedback: f32,
    target: &Pose,
    target_frame: &RootFrame,
    last: &CharacterState,
) {
    for (joint, simulated) in state.rotations_local.iter_mut().enumerate() {
        let mut shown = target.local_rotations[joint];
        if joint == 0 {
            shown = target_frame.rotation_to_root(shown);
        }
        *simulated = shown.slerp(*simulated, feedback);
    }
    let shown_m = target.root_position.y - target_frame.origin.y;
    state.positions_root[0].y = shown_m + (state.positions_root[0].y - shown_m) * feedback;
    let world = skeleton.forward_kinematics(&state.to_pose());
    // Velocities of what is fed back: the last fed state's joints, in the world, to these.
    for (joint, position) in world.positions.iter().enumerate() {
        let last: Vec3 = last.frame.to_world(last.positions_root[joint]);
        let fed = state.frame.vector_to_root((*position - last) / FRAME_S);
        state.velocities_root[joint] = fed.lerp(state.velocities_root[joint], feedback);
        state.positions_root[joint] = state.frame.to_root(*position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Quat, Vec2};
    use pomp_motion::humanoid;

    fn state(skeleton: &Skeleton, bend_rad: f32) -> CharacterState {
        let mut pose = Pose::rest(skeleton);
        pose.local_rotations[humanoid::LEFT_LEG.0] = Quat::from_rotation_x(bend_rad);
        let world = skeleton.forward_kinematics(&pose);
        let still = vec![Vec3::ZERO; world.positions.len()];
        let mut state = CharacterState::from_world(skeleton, &world, &still, 0.0, 0.0);
        state.root_velocity = Vec2::ZERO;
        state
    }

    #[test]
    fn the_module_is_shown_its_share_of_the_body_and_all_of_it_when_switched_off_or_at_one() {
        let skeleton = Skeleton::humanoid(1.75);
        let (body, target) = (state(&skeleton, 1.0), state(&skeleton, 0.0));
        let knee = |share: f32, enabled| {
            let layer = PoseBlending::new(PoseBlendingConfig { enabled, share });
            let shown = layer.after_simulation(&skeleton, &body, &target.to_pose(), &target.frame, &target);
            shown.rotations_local[humanoid::LEFT_LEG.0].to_scaled_axis().x
        };
        assert!((knee(0.25, true) - 0.25).abs() < 1e-3);
        assert!((knee(0.25, false) - 1.0).abs() < 1e-5);
        assert!((knee(1.0, true) - 1.0).abs() < 1e-5);
    }
}
