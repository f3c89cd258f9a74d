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

    /// Moves the present and the future keys on by what was predicted of each (DeepPhase eq. 9).
    pub fn follow(&mut self, output: &OutputFrame) -> Result<(), PhaseError> {
        let (channels, width) = (self.channels, 2 * self.channels);
        let keys = self
            .future
            .chunks_exact_mut(width)
            .zip(output.phase_codes.chunks_exact(width))
            .zip(output.phase_parameters.chunks_exact(3 * channels));
        for ((code, predicted), parameters) in keys {
            let (frequencies, amplitudes) = parameters[..width].split_at(channels);
            let next = update_code(code, predicted, amplitudes, frequencies, FRAME_S)?;
            code.copy_from_slice(&next);
        }
        let now = self.future[..width].to_vec();
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

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;
    use pomp_motion::Gait;
    use std::f32::consts::TAU;

    /// An output that says of every key: the code at this angle (turns), and this frequency (Hz) and amplitude.
    fn output(turns: f32, frequency_hz: f32, amplitude: f32) -> OutputFrame {
        let code = (Vec2::from_angle(TAU * turns) * amplitude).to_array();
        OutputFrame {
            positions_root: Default::default(),
            velocities_root: Default::default(),
            rotations_local: Default::default(),
            root_velocity: Vec2::ZERO,
            yaw_rate: 0.0,
            gait: Gait::Walk.one_hot(),
            trajectory: [(Vec2::ZERO, 0.0); FUTURE_KEYS],
            phase_codes: code.repeat(FUTURE_KEYS).as_slice().into(),
            phase_parameters: [frequency_hz, amplitude, 0.0].repeat(FUTURE_KEYS).as_slice().into(),
        }
    }

    #[test]
    fn every_key_goes_half_of_the_way_from_its_turned_code_to_the_predicted_one_at_the_predicted_amplitude() {
        let mut track = PhaseTrack {
            channels: 1,
            past: std::iter::repeat_n(vec![1.0, 0.0], HISTORY_FRAMES).collect(),
            future: (0..FUTURE_KEYS).flat_map(|key| [1.0, 0.1 * key as f32]).collect(),
        };
        let before = track.future.clone();
        track.follow(&output(0.1, 6.0, 2.0)).unwrap();
        for (was, is) in before.chunks_exact(2).zip(track.future.chunks_exact(2)) {
            // 6 Hz turn by a tenth of a turn in a frame.
            let turned = Vec2::from_slice(was).to_angle() / TAU + 0.1;
            let wanted = Vec2::from_angle(TAU * (turned + 0.1) / 2.0) * 2.0;
            assert!(wanted.distance(Vec2::from_slice(is)) < 1e-4, "{wanted} {is:?}");
        }
        assert_eq!(track.now(), &track.future[..2]);
        assert_eq!(track.codes().len(), 2 * (PAST_KEYS + FUTURE_KEYS));
    }
}
