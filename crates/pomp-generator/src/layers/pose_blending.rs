//! Pose blending: the kinematic module is shown a mixture of the simulated pose and its own target (ours).
//!
//! Acts at `after_simulation`, on the state that goes into the next x; place and heading are always the body's. With the
//! simulated pose alone, which is the paper's loop, the drives lose the distance between target and body by which they carry
//! the weight. The price is that disturbances of the limbs are noticed less.
//!
//! Cost: 0.1 % of a frame.
//!
//! Evidence (`pomp bench --config configs/bench/layers.toml`, runs without a fall of 30 with the layer and without): level
//! ground 30 and 30, hills 30 and 30, stairs 29 and 26, gaps 30 and 29, 75 N·s 30 and 29, 150 N·s 18 and 8, stops and starts 30
//! and 29, jogs 30 and 28. Foot sliding on level ground: 0.32 and 0.31 cm/frame.

use glam::Vec3;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::features::CharacterState;
use pomp_motion::{Gait, Pose, RootFrame, Skeleton};
use serde::{Deserialize, Serialize};

const FRAME_S: f32 = 1.0 / pomp_motion::FRAME_RATE_HZ;

/// Settings of pose blending.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoseBlendingConfig {
    /// Off, the module is shown the simulated pose. Default true.
    pub enabled: bool,
    /// Share of the simulated pose, 0 … 1; the rest is the module's own last target. Default 0.5.
    pub share: f32,
    /// The same where the predicted gait is a jog, 0 … 1: the body lags most where it flies, and with more the compact model
    /// falls within seconds. Default 0.2.
    pub share_jogging: f32,
}

impl Default for PoseBlendingConfig {
    fn default() -> Self {
        Self { enabled: true, share: 0.5, share_jogging: 0.2 }
    }
}

impl Validate for PoseBlendingConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("share", self.share, 0.0..=1.0)?;
        fields.within("share_jogging", self.share_jogging, 0.0..=1.0)
    }
}

/// The layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoseBlending {
    config: PoseBlendingConfig,
    /// How far the last prediction jogs, 0 to 1.
    jogging: f32,
}

impl PoseBlending {
    pub fn new(config: PoseBlendingConfig) -> Self {
        Self { config, jogging: 0.0 }
    }

    /// `on_target`: takes in the predicted gait.
    pub fn on_target(&mut self, gait: &[f32; Gait::COUNT]) {
        // From a quarter of the gait's weight on: walks carry some per cent of it.
        self.jogging = ((gait[Gait::Jog.index()] - 0.25) / 0.5).clamp(0.0, 1.0);
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
        let PoseBlendingConfig { enabled, share, share_jogging } = self.config;
        let feedback = share + (share_jogging - share) * self.jogging;
        let mut state = body.clone();
        if enabled && feedback < 1.0 {
            blend(skeleton, &mut state, feedback, pose, frame, last);
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
        let knee = |share: f32, enabled, gait: Gait| {
            let config = PoseBlendingConfig { enabled, share, share_jogging: 0.0 };
            let mut layer = PoseBlending::new(config);
            layer.on_target(&gait.one_hot());
            let shown = layer.after_simulation(&skeleton, &body, &target.to_pose(), &target.frame, &target);
            shown.rotations_local[humanoid::LEFT_LEG.0].to_scaled_axis().x
        };
        assert!((knee(0.25, true, Gait::Walk) - 0.25).abs() < 1e-3);
        assert!((knee(0.25, false, Gait::Walk) - 1.0).abs() < 1e-5);
        assert!((knee(1.0, true, Gait::Walk) - 1.0).abs() < 1e-5);
        assert!(knee(0.25, true, Gait::Jog).abs() < 1e-3, "a jog has a share of its own");
    }
}
