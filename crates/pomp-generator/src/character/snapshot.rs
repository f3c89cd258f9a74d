//! A character between two frames, kept and taken up again.

use super::Character;
use crate::GeneratorError;
use crate::footing::Footing;
use pomp_motion::features::CharacterState;
use pomp_motion::{Pose, RootFrame};
use pomp_physics::WorldSnapshot;
use pomp_terrain::HeightMap;
use std::sync::Arc;

/// Everything of a [`Character`] that a frame changes.
#[derive(Clone)]
pub(crate) struct CharacterSnapshot {
    terrain: Arc<HeightMap>,
    dynamic: WorldSnapshot,
    footing: Option<Footing>,
    state: CharacterState,
    target_frame: RootFrame,
    from: Pose,
    target_pose: Pose,
    at_start: bool,
    let_go: bool,
}

impl Character {
    pub(crate) fn save(&self) -> CharacterSnapshot {
        // Every field is named, so that a new one cannot be forgotten here.
        let Self {
            skeleton: _,
            terrain,
            dynamics: _,
            dynamic,
            footing,
            root_follow: _,
            pose_feedback: _,
            state,
            target_frame,
            from,
            target_pose,
            at_start,
            let_go,
        } = self;
        CharacterSnapshot {
            terrain: Arc::clone(terrain),
            dynamic: dynamic.save(),
            footing: *footing,
            state: state.clone(),
            target_frame: *target_frame,
            from: from.clone(),
            target_pose: target_pose.clone(),
            at_start: *at_start,
            let_go: *let_go,
        }
    }

    /// Nothing is changed when the snapshot is of another ragdoll.
    pub(crate) fn restore(&mut self, snapshot: &CharacterSnapshot) -> Result<(), GeneratorError> {
        self.dynamic.restore(&snapshot.dynamic)?;
        self.terrain = Arc::clone(&snapshot.terrain);
        self.footing = snapshot.footing;
        self.state = snapshot.state.clone();
        self.target_frame = snapshot.target_frame;
        self.from = snapshot.from.clone();
        self.target_pose = snapshot.target_pose.clone();
        self.at_start = snapshot.at_start;
        self.let_go = snapshot.let_go;
        Ok(())
    }
}
