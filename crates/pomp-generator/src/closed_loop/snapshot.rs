//! The loop between two frames, kept and taken up again.

use super::{ClosedLoop, Generator};
use crate::GeneratorError;
use crate::character::CharacterSnapshot;
use crate::kinematic_module::Style;
use crate::layers::Layers;
use crate::loop_state::LoopState;
use crate::phase_feedback::Past;
use std::collections::BTreeMap;

/// Everything of a [`Generator`] that a frame changes, the ground and the style. Model and settings are not part of it.
#[derive(Clone)]
pub struct GeneratorSnapshot {
    pub(super) character: CharacterSnapshot,
    phase_past: Past,
    layers: Layers,
    state: LoopState,
    style: Style,
    style_weights: BTreeMap<String, f32>,
}

impl std::fmt::Debug for GeneratorSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GeneratorSnapshot").field("frame", &self.state.frame).finish_non_exhaustive()
    }
}

impl GeneratorSnapshot {
    /// Frames done when it was taken.
    pub fn frames(&self) -> usize {
        self.state.frame
    }
}

impl Generator {
    /// The state between two frames; [`Self::restore`] continues from it bit for bit.
    pub fn save(&self) -> GeneratorSnapshot {
        self.inner.keep()
    }

    /// Continues from a snapshot of this generator, or of one made of the same model, ground and settings.
    ///
    /// # Errors
    /// A snapshot of another ragdoll; nothing is changed then.
    pub fn restore(&mut self, snapshot: &GeneratorSnapshot) -> Result<(), GeneratorError> {
        self.inner.take_up(snapshot)
    }
}

impl ClosedLoop {
    /// See [`Generator::save`].
    pub(super) fn keep(&self) -> GeneratorSnapshot {
        GeneratorSnapshot {
            character: self.character.save(),
            phase_past: self.phase_window.past().clone(),
            layers: self.layers.clone(),
            state: self.state.clone(),
            style: self.kinematic.style().clone(),
            style_weights: self.config.style.clone(),
        }
    }

    /// See [`Generator::restore`].
    pub(super) fn take_up(&mut self, snapshot: &GeneratorSnapshot) -> Result<(), GeneratorError> {
        self.character.restore(&snapshot.character)?;
        self.take_up_rest(snapshot);
        Ok(())
    }

    /// [`Self::take_up`] after frames in which nothing was simulated.
    pub(super) fn take_up_led(&mut self, snapshot: &GeneratorSnapshot) {
        self.character.restore_led(&snapshot.character);
        self.take_up_rest(snapshot);
    }

    fn take_up_rest(&mut self, snapshot: &GeneratorSnapshot) {
        self.phase_window.restore(snapshot.phase_past.clone());
        self.layers = snapshot.layers.clone();
        self.state = snapshot.state.clone();
        self.kinematic.restore_style(snapshot.style.clone());
        self.config.style.clone_from(&snapshot.style_weights);
    }
}
