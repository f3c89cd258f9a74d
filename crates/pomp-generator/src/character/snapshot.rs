//! A character between two frames, kept and taken up again.

use super::Character;
use crate::GeneratorError;
use crate::carry::Carry;
use crate::footing::Footing;
use crate::walking_surface::WalkingSurface;
use glam::Vec3;
use pomp_motion::features::CharacterState;
use pomp_motion::{Pose, RootFrame};
use pomp_physics::WorldSnapshot;
use pomp_terrain::HeightMap;
use std::sync::Arc;

/// Everything of a [`Character`] that a frame changes.
#[derive(Clone)]
pub(crate) struct CharacterSnapshot {
    terrain: Arc<HeightMap>,
    surface: Arc<WalkingSurface>,
    dynamic: WorldSnapshot,
    footing: Option<Footing>,
    carry: Carry,
    state: CharacterState,
    uncarried: Vec<Vec3>,
    target_frame: RootFrame,
    from: Pose,
    target_pose: Pose,
    shown_pose: Pose,
    jogging: f32,
    at_start: bool,
    let_go: bool,
}

impl Character {
    pub(crate) fn save(&self) -> CharacterSnapshot {
        // Every field is named, so that a new one cannot be forgotten here.
        let Self {
            skeleton: _,
            terrain,
            surface,
            dynamics: _,
            dynamic,
            footing,
            carry,
            root_follow: _,
            pose_feedback: _,
            pose_feedback_jogging: _,
            jogging,
            state,
            uncarried,
            target_frame,
            from,
            target_pose,
            shown_pose,
            at_start,
            let_go,
        } = self;
        CharacterSnapshot {
            terrain: Arc::clone(terrain),
            surface: Arc::clone(surface),
            dynamic: dynamic.save(),
            footing: *footing,
            carry: *carry,
            state: state.clone(),
            uncarried: uncarried.clone(),
            target_frame: *target_frame,
            from: from.clone(),
            target_pose: target_pose.clone(),
            shown_pose: shown_pose.clone(),
            jogging: *jogging,
            at_start: *at_start,
            let_go: *let_go,
        }
    }

    /// Nothing is changed when the snapshot is of another ragdoll.
    pub(crate) fn restore(&mut self, snapshot: &CharacterSnapshot) -> Result<(), GeneratorError> {
        self.dynamic.restore(&snapshot.dynamic)?;
        self.terrain = Arc::clone(&snapshot.terrain);
        self.surface = Arc::clone(&snapshot.surface);
        self.footing = snapshot.footing;
        self.carry = snapshot.carry;
        self.state = snapshot.state.clone();
        self.uncarried.clone_from(&snapshot.uncarried);
        self.target_frame = snapshot.target_frame;
        self.from = snapshot.from.clone();
        self.target_pose = snapshot.target_pose.clone();
        self.shown_pose = snapshot.shown_pose.clone();
        self.jogging = snapshot.jogging;
        self.at_start = snapshot.at_start;
        self.let_go = snapshot.let_go;
        Ok(())
    }
}
