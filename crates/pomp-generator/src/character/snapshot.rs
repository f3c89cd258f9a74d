//! A character between two frames, kept and taken up again.

use super::{Character, Motion};
use crate::GeneratorError;
use pomp_physics::WorldSnapshot;
use pomp_terrain::HeightMap;
use std::sync::Arc;

/// Everything of a [`Character`] that a frame changes, and the ground; of its world all but other characters.
#[derive(Clone)]
pub(crate) struct CharacterSnapshot {
    terrain: Arc<HeightMap>,
    dynamic: WorldSnapshot,
    motion: Motion,
}

impl Character {
    pub(crate) fn save(&self) -> CharacterSnapshot {
        CharacterSnapshot {
            terrain: Arc::clone(&self.terrain),
            dynamic: self.dynamic.save(),
            motion: self.motion.clone(),
        }
    }

    /// Nothing is changed when the snapshot is of another ragdoll.
    pub(crate) fn restore(&mut self, snapshot: &CharacterSnapshot) -> Result<(), GeneratorError> {
        self.dynamic.restore(&snapshot.dynamic)?;
        self.restore_led(snapshot);
        Ok(())
    }

    /// [`Self::restore`] after frames in which nothing was simulated.
    pub(crate) fn restore_led(&mut self, snapshot: &CharacterSnapshot) {
        self.dynamic.restore_controls(&snapshot.dynamic);
        self.terrain = Arc::clone(&snapshot.terrain);
        self.motion = snapshot.motion.clone();
    }
}
