//! The phase encoding module in the loop (method §5): simulated motion in, phase codes out.

use crate::{GeneratorError, PhaseFeedback};
use glam::Vec3;
use pomp_model::Model;
use pomp_motion::FrameTable;
use pomp_motion::features::{CharacterState, FUTURE_KEYS, KEY_OFFSETS, OutputFrame};
use pomp_phase::{PhaseState, StitchConfig, WindowConfig, WindowDecoder, WindowEncoder, update_code};
use std::collections::VecDeque;

/// Reads phases off the simulated motion.
#[derive(Clone)]
pub(crate) struct PhaseReader {
    encoder: Option<WindowEncoder>,
    decoder: WindowDecoder,
    window: WindowConfig,
    stitch: StitchConfig,
    joints: usize,
    /// Joint velocities of the last frames, each in its own root frame, oldest first.
    past: VecDeque<Vec<Vec3>>,
    /// Simulated frames among them; the rest is the start's, held.
    simulated_frames: usize,
}

impl PhaseReader {
    /// A reader whose past is the start's velocities, held.
    pub fn new(
        model: &Model,
        feedback: PhaseFeedback,
        start: &CharacterState,
    ) -> Result<Self, GeneratorError> {
        let encoder = match feedback {
            PhaseFeedback::Aligned => Some(WindowEncoder::new(model.aligned_phase()?)),
            PhaseFeedback::Unaligned => Some(WindowEncoder::new(&model.phase.encoder)),
            PhaseFeedback::Predicted | PhaseFeedback::Constant => None,
        };
        let window = model.description.phase.window;
        let past = vec![start.velocities_root.clone(); window.radius_frames + 1];
        Ok(Self {
            encoder,
            decoder: WindowDecoder::new(&model.phase.decoder, window),
            window,
            stitch: model.description.stitch,
            joints: start.velocities_root.len(),
            past: past.into(),
            simulated_frames: 0,
        })
    }

    /// Forgets what it has read: the past is the start's velocities again, held.
    pub fn restart(&mut self, start: &CharacterState) {
        for row in &mut self.past {
            row.copy_from_slice(&start.velocities_root);
        }
        self.simulated_frames = 0;
    }

    /// Appends a simulated frame.
    pub fn push(&mut self, state: &CharacterState) {
        let mut row = self.past.pop_front().expect("the past is never empty");
        row.copy_from_slice(&state.velocities_root);
        self.past.push_back(row);
        self.simulated_frames += 1;
    }

    /// The present's phase code after `old`: half the way from `old` advanced at its frequency to what the encoder
    /// reads (eq. 9 of DeepPhase); with no encoder, or until a second of simulated motion is there to be read, to what the
    /// kinematic module predicted.
    pub fn update(&self, old: &[f32], prediction: &OutputFrame) -> Result<Vec<f32>, GeneratorError> {
        let keys = predicted_states(prediction, old.len() / 2)?;
        let read = match &self.encoder {
            Some(encoder) if self.simulated_frames >= self.past.len() => {
                encoder.encode(&self.stitched(&keys)?)?
            }
            _ => keys[0].clone(),
        };
        let step = 1.0 / self.window.frame_rate_hz;
        Ok(update_code(old, &read.code(), &read.amplitudes(), &read.frequencies_hz(), step)?)
    }

    fn stitched(&self, keys: &[PhaseState]) -> Result<pomp_phase::VelocityWindow, GeneratorError> {
        let mut past = FrameTable::with_columns(self.joints);
        for row in &self.past {
            past.push(row);
        }
        let mean: Vec<Vec3> = (0..self.joints)
            .map(|joint| self.past.iter().map(|row| row[joint]).sum::<Vec3>() / self.past.len() as f32)
            .collect();
        let spacing = (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as usize;
        let first = self.stitch.near_frames + 1;
        let far = self.decoder.target_velocities(keys, spacing, first, self.window.radius_frames, &mean)?;
        Ok(self.stitch.stitch(&self.window, &past, &far)?)
    }
}

/// The predicted future keys as phase states.
fn predicted_states(prediction: &OutputFrame, channels: usize) -> Result<Vec<PhaseState>, GeneratorError> {
    let codes = prediction.phase_codes.chunks_exact(2 * channels);
    let parameters = prediction.phase_parameters.chunks_exact(3 * channels);
    let states: Vec<PhaseState> = codes
        .zip(parameters)
        .map(|(code, parameters)| {
            let (frequency, rest) = parameters.split_at(channels);
            let (amplitude, offset) = rest.split_at(channels);
            let frequency: Vec<f32> = frequency.iter().map(|f| f.max(0.0)).collect();
            PhaseState::from_prediction(code, amplitude, &frequency, offset)
        })
        .collect::<Result<_, _>>()?;
    debug_assert_eq!(states.len(), FUTURE_KEYS);
    Ok(states)
}
