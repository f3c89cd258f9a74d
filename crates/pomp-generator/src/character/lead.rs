//! What layers do to the target of a character: it is set in the world, mixed, released and handed back.

use super::Character;
use crate::layers::terrain_adaptation::AdaptedPose;
use pomp_motion::features::CharacterState;
use pomp_motion::{Pose, RootFrame};
use pomp_physics::Help;
use pomp_terrain::HeightMap;

impl Character {
    /// The shown surface as a map of heights.
    pub(crate) fn surface(&self) -> &HeightMap {
        self.shown_surface().map()
    }

    /// Mean speed of the joints that the module is shown, m/s: the body's own while it is released.
    pub(crate) fn mean_joint_speed_m_s(&self) -> f32 {
        let velocities = &self.motion.state.velocities_root;
        velocities.iter().map(|velocity| velocity.length()).sum::<f32>() / velocities.len() as f32
    }

    /// From now on targets come by [`Self::lead`], and the target's root follows nothing.
    pub(crate) fn release(&mut self) {
        self.motion.released = true;
    }

    /// Root motion leads on again, from `frame`, where the target stands.
    pub(crate) fn hand_back(&mut self, frame: RootFrame) {
        self.motion.released = false;
        self.motion.target_frame = frame;
        self.motion.adaptation.reset();
        self.motion.target = AdaptedPose::unadapted(self.motion.target.world.0.clone());
    }

    /// Sets the next target in the world.
    pub(crate) fn lead(&mut self, pose: Pose) {
        self.motion.target = AdaptedPose::unadapted(pose);
    }

    /// Sets the next target `to` in the world; it is reached from the pose `from`, if that is given, instead of from the last
    /// target.
    pub(crate) fn lead_from(&mut self, from: Option<Pose>, to: Pose) {
        if let Some(from) = from {
            self.motion.from = from;
        }
        self.lead(to);
    }

    /// Leaves only `share` of the next target; the rest is `other`.
    pub(crate) fn mix_target(&mut self, other: &Pose, share: f32) {
        if share < 1.0 {
            self.motion.target.each(|pose| *pose = other.lerp(pose, share));
        }
    }

    /// Leaves only `share` of the next target; the rest is `other`, which the kinematic module is not shown.
    pub(crate) fn mix_world_target(&mut self, other: &Pose, share: f32) {
        let target = &mut self.motion.target.world.0;
        *target = other.lerp(target, share);
    }

    /// Goes on from another state and target frame; the target stays where it is until the next one.
    pub(crate) fn go_on_from(&mut self, state: CharacterState, target_frame: RootFrame) {
        self.motion.state = state;
        self.motion.target_frame = target_frame;
        self.motion.adaptation.forget_standing();
    }

    /// Sets what drives and external root assist give; `assist_share` scales the assist besides.
    pub(crate) fn set_help(&mut self, help: Help, assist_share: f32) {
        self.dynamic.set_assist_scale(help.assist * assist_share);
        self.dynamic.set_strength_scale(help.strength);
        self.dynamic.set_held(help.held);
    }
}
