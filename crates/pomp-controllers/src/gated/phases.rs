//! The phases that a controller keeps for itself: a second of codes behind, a second ahead.

use super::cubic::cubic_weights;
use pomp_motion::FRAME_RATE_HZ;
use pomp_motion::features::{BlockName, FUTURE_KEYS, FeatureLayout, KEY_OFFSETS, OutputFrame, PAST_KEYS};
use pomp_phase::{PhaseError, extrapolate_code, update_code};
use std::collections::VecDeque;

const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;
/// Frames of past that the keys reach back, and the present.
const HISTORY_FRAMES: usize = 61;

/// Phase codes around the present.
#[derive(Clone, Debug)]
pub(super) struct PhaseTrack {
    channels: usize,
    /// The last frames' codes, newest at the back.
    past: VecDeque<Vec<f32>>,
    /// Codes of the present and the future keys.
    future: Vec<f32>,
}

impl PhaseTrack {
    /// The phases of a start.
    pub fn of_start(layout: &FeatureLayout, x: &[f32]) -> Self {
        let width = 2 * layout.channels();
        let codes = &x[layout.x_range(BlockName::PhaseCodes)];
        let spacing = (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as usize;
        let key = |frame: usize| (frame + spacing / 2) / spacing;
        let past = (0..HISTORY_FRAMES).map(|frame| codes[key(frame) * width..][..width].to_vec()).collect();
        Self { channels: layout.channels(), past, future: codes[PAST_KEYS * width..].to_vec() }
    }

    /// Codes of all keys.
    pub fn codes(&self) -> Vec<f32> {
        let width = 2 * self.channels;
        let behind = KEY_OFFSETS[..=PAST_KEYS]
            .iter()
            .flat_map(|offset| &self.past[(HISTORY_FRAMES as i32 - 1 + offset) as usize]);
        behind.chain(&self.future[width..]).copied().collect()
    }

    /// The code of the present.
    pub fn now(&self) -> &[f32] {
        &self.past[HISTORY_FRAMES - 1]
    }

    /// Moves on by what was predicted (DeepPhase eq. 9).
    pub fn follow(&mut self, output: &OutputFrame) -> Result<(), PhaseError> {
        let (channels, width) = (self.channels, 2 * self.channels);
        let (frequencies, amplitudes) = output.phase_parameters[..2 * channels].split_at(channels);
        let now = update_code(self.now(), &output.phase_codes[..width], amplitudes, frequencies, FRAME_S)?;
        self.future.copy_from_slice(&output.phase_codes);
        self.append(&now);
        Ok(())
    }

    /// Turns the one phase of a gait cycle on at the predicted frequency, which never turns it back (PFNN §5).
    pub fn turn(&mut self, output: &OutputFrame) -> Result<(), PhaseError> {
        self.future = turned_codes(self.now(), output.phase_parameters[0])?;
        let now = self.future[..2].to_vec();
        self.append(&now);
        Ok(())
    }

    fn append(&mut self, now: &[f32]) {
        let mut oldest = self.past.pop_front().expect("a track has its whole past");
        oldest.copy_from_slice(now);
        self.past.push_back(oldest);
        self.future[..now.len()].copy_from_slice(now);
    }
}

/// Codes of the present and the future keys, a frame after the one code `now` of a gait cycle that turns at this frequency, but never
/// back.
///
/// # Errors
/// A code of more than one channel.
pub fn turned_codes(now: &[f32], frequency_hz: f32) -> Result<Vec<f32>, PhaseError> {
    let frequency = [frequency_hz.max(0.0)];
    let next = extrapolate_code(now, &frequency, FRAME_S)?;
    let mut codes = Vec::with_capacity(2 * FUTURE_KEYS);
    for offset in &KEY_OFFSETS[PAST_KEYS..] {
        codes.extend_from_slice(&extrapolate_code(&next, &frequency, *offset as f32 * FRAME_S)?);
    }
    Ok(codes)
}

/// The blend of a phase-functioned network at a code of its one channel.
pub fn cubic_blend(code: &[f32]) -> [f32; super::cubic::CONTROL_POINTS] {
    cubic_weights(code[1].atan2(code[0]) / std::f32::consts::TAU)
}

/// Codes of the future keys that a layout of another number of channels is given: those of its input, held.
pub(crate) fn held(output: &mut OutputFrame, codes: &[f32], channels: usize) {
    output.phase_codes.clear();
    output.phase_codes.extend_from_slice(&codes[PAST_KEYS * 2 * channels..]);
    output.phase_parameters.clear();
    output.phase_parameters.resize(FUTURE_KEYS * 3 * channels, 0.0);
}
