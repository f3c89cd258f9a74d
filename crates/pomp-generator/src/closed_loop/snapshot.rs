//! The loop between two frames, kept and taken up again.

use super::Generator;
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
    character: CharacterSnapshot,
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
        GeneratorSnapshot {
            character: self.inner.character.save(),
            phase_past: self.inner.phase_window.past().clone(),
            layers: self.inner.layers.clone(),
            state: self.inner.state.clone(),
            style: self.inner.kinematic.style().clone(),
            style_weights: self.style().clone(),
        }
    }

    /// Continues from a snapshot of this generator, or of one made of the same model, ground and settings.
    ///
    /// # Errors
    /// A snapshot of another ragdoll; nothing is changed then.
    pub fn restore(&mut self, snapshot: &GeneratorSnapshot) -> Result<(), GeneratorError> {
        self.inner.character.restore(&snapshot.character)?;
        self.inner.phase_window.restore(snapshot.phase_past.clone());
        self.inner.layers = snapshot.layers.clone();
        self.inner.state = snapshot.state.clone();
        self.inner.kinematic.restore_style(snapshot.style.clone());
        self.inner.config.style.clone_from(&snapshot.style_weights);
        Ok(())
    }
}
