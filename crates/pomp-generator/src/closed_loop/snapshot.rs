//! The loop between two frames, kept and taken up again.

use super::Generator;
use crate::GeneratorError;
use crate::character::CharacterSnapshot;
use crate::control::{ControlCursor, Rejoin};
use crate::gait_cycle::CycleKeeper;
use crate::phase_feedback::Past;
use crate::stride_memory::StrideMemory;
use crate::trajectory::History;
use glam::Vec3;
use pomp_kinematic::CoherentNoise;
use pomp_motion::features::OutputFrame;
use pomp_physics::Recovery;

/// Everything of a [`Generator`] that a frame changes, and the ground. Model and settings are not part of it.
#[derive(Clone)]
pub struct GeneratorSnapshot {
    character: CharacterSnapshot,
    phase_past: Past,
    noise: CoherentNoise,
    history: History,
    future_codes: Vec<f32>,
    cycle_keeper: CycleKeeper,
    stride_memory: StrideMemory,
    contact_impulse: Vec<Vec3>,
    prediction: Option<OutputFrame>,
    cursor: ControlCursor,
    down_frames: usize,
    recovery: Recovery,
    rejoin: Option<Rejoin>,
    assist_share: f32,
    frame: usize,
}

impl std::fmt::Debug for GeneratorSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GeneratorSnapshot").field("frame", &self.frame).finish_non_exhaustive()
    }
}

impl GeneratorSnapshot {
    /// Frames done when it was taken.
    pub fn frames(&self) -> usize {
        self.frame
    }
}

impl Generator {
    /// The state between two frames; [`Self::restore`] continues from it bit for bit.
    pub fn save(&self) -> GeneratorSnapshot {
        // Every field is named, so that a new one cannot be forgotten here.
        let Self {
            config: _,
            character,
            layout: _,
            description: _,
            stature: _,
            inference: _,
            phase_reader,
            falls: _,
            noise,
            weight_impulse_ns: _,
            history,
            future_codes,
            cycles: _,
            cycle_keeper,
            stride_memory,
            contact_impulse,
            prediction,
            cursor,
            down_frames,
            recovery,
            rejoin,
            assist_share,
            frame,
            x: _,
            normalised_x: _,
            y: _,
        } = self;
        GeneratorSnapshot {
            character: character.save(),
            phase_past: phase_reader.save(),
            noise: noise.clone(),
            history: history.clone(),
            future_codes: future_codes.clone(),
            cycle_keeper: *cycle_keeper,
            stride_memory: stride_memory.clone(),
            contact_impulse: contact_impulse.clone(),
            prediction: prediction.clone(),
            cursor: *cursor,
            down_frames: *down_frames,
            recovery: recovery.clone(),
            rejoin: *rejoin,
            assist_share: *assist_share,
            frame: *frame,
        }
    }

    /// Continues from a snapshot of this generator, or of one made of the same model, ground and settings.
    ///
    /// # Errors
    /// A snapshot of another ragdoll; nothing is changed then.
    pub fn restore(&mut self, snapshot: &GeneratorSnapshot) -> Result<(), GeneratorError> {
        self.character.restore(&snapshot.character)?;
        let kept = snapshot.clone();
        self.phase_reader.restore(kept.phase_past);
        self.noise = kept.noise;
        self.history = kept.history;
        self.future_codes = kept.future_codes;
        self.cycle_keeper = kept.cycle_keeper;
        self.stride_memory = kept.stride_memory;
        self.contact_impulse = kept.contact_impulse;
        self.prediction = kept.prediction;
        self.cursor = kept.cursor;
        self.down_frames = kept.down_frames;
        self.recovery = kept.recovery;
        self.rejoin = kept.rejoin;
        self.assist_share = kept.assist_share;
        self.frame = kept.frame;
        Ok(())
    }
}
