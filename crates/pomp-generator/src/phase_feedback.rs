//! The phase encoding module in the loop (method §5): simulated motion in, phase codes out.

use crate::{GeneratorError, PhaseFeedback};
use glam::Vec3;
use pomp_model::Model;
use pomp_motion::FrameTable;
use pomp_motion::features::{CharacterState, FUTURE_KEYS, KEY_OFFSETS, OutputFrame};
use pomp_phase::{
    FrameDecoder, FrameEncoder, PhaseState, StitchConfig, TargetSpan, WindowConfig, update_code,
};
use std::collections::VecDeque;

/// Reads phases off the simulated motion.
pub(crate) struct PhaseReader {
    encoder: Option<FrameEncoder>,
    decoder: FrameDecoder,
    window: WindowConfig,
    stitch: StitchConfig,
    past: Past,
    /// The predicted states at the keys.
    keys: Vec<PhaseState>,
    read: PhaseState,
    near: FrameTable<Vec3>,
    past_mean: Vec<Vec3>,
}

/// What was simulated: all that a reader remembers from frame to frame.
#[derive(Clone)]
pub(crate) struct Past {
    /// Joint velocities of the last frames, each in its own root frame, oldest first.
    velocities: VecDeque<Vec<Vec3>>,
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
        let config = &model.description.phase;
        let encoder = match feedback {
            PhaseFeedback::Aligned => Some(FrameEncoder::new(model.aligned_phase()?, config)?),
            PhaseFeedback::Unaligned => Some(FrameEncoder::new(&model.phase.encoder, config)?),
            PhaseFeedback::Predicted | PhaseFeedback::Constant => None,
        };
        let window = config.window;
        let stitch = model.description.stitch;
        let span = TargetSpan {
            key_spacing: (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as usize,
            first_frame: stitch.near_frames + 1,
            last_frame: window.radius_frames,
        };
        let joints = start.velocities_root.len();
        let velocities = vec![start.velocities_root.clone(); window.radius_frames + 1];
        Ok(Self {
            encoder,
            decoder: FrameDecoder::new(&model.phase.decoder, config, span)?,
            window,
            stitch,
            past: Past { velocities: velocities.into(), simulated_frames: 0 },
            keys: vec![PhaseState::default(); FUTURE_KEYS],
            read: PhaseState::default(),
            near: FrameTable::filled(stitch.near_frames, joints, Vec3::ZERO),
            past_mean: vec![Vec3::ZERO; joints],
        })
    }

    /// What the next frame depends on.
    pub fn save(&self) -> Past {
        self.past.clone()
    }

    /// Continues from what a reader of the same model remembered.
    pub fn restore(&mut self, past: Past) {
        self.past = past;
    }

    /// Forgets what it has read: the past is the start's velocities again, held.
    pub fn restart(&mut self, start: &CharacterState) {
        for row in &mut self.past.velocities {
            row.copy_from_slice(&start.velocities_root);
        }
        self.past.simulated_frames = 0;
    }

    /// Appends a simulated frame.
    pub fn push(&mut self, state: &CharacterState) {
        let past = &mut self.past;
        let mut row = past.velocities.pop_front().expect("the past is never empty");
        row.copy_from_slice(&state.velocities_root);
        past.velocities.push_back(row);
        past.simulated_frames += 1;
    }

    /// The present's phase code after `old`: half the way from `old` advanced at its frequency to what the encoder
    /// reads (eq. 9 of DeepPhase); with no encoder, or until a second of simulated motion is there to be read, to what the
    /// kinematic module predicted.
    pub fn update(&mut self, old: &[f32], prediction: &OutputFrame) -> Result<Vec<f32>, GeneratorError> {
        set_predicted_states(&mut self.keys, prediction, old.len() / 2)?;
        let can_read = self.past.simulated_frames >= self.past.velocities.len();
        let read = if can_read && self.read_window()? { &self.read } else { &self.keys[0] };
        let step = 1.0 / self.window.frame_rate_hz;
        Ok(update_code(old, &read.code(), &read.amplitudes(), &read.frequencies_hz(), step)?)
    }

    /// Reads the stitched window; false without an encoder.
    fn read_window(&mut self) -> Result<bool, GeneratorError> {
        let Some(encoder) = &mut self.encoder else { return Ok(false) };
        let past = &self.past.velocities;
        for (joint, mean) in self.past_mean.iter_mut().enumerate() {
            *mean = past.iter().map(|row| row[joint]).sum::<Vec3>() / past.len() as f32;
        }
        let far = self.decoder.target_velocities(&self.keys, &self.past_mean)?;
        let last = past.len() - 1;
        self.stitch.extrapolate(&past[last - 1], &past[last], self.window.frame_rate_hz, &mut self.near);
        let near_end = last + self.near.frames();
        let row = |frame: usize| {
            if frame <= last {
                &past[frame]
            } else if frame <= near_end {
                &self.near[frame - last - 1]
            } else {
                &far[frame - near_end - 1]
            }
        };
        encoder.encode(row, &mut self.read)?;
        Ok(true)
    }
}

/// The predicted future keys as phase states.
fn set_predicted_states(
    states: &mut [PhaseState],
    prediction: &OutputFrame,
    channels: usize,
) -> Result<(), GeneratorError> {
    let codes = prediction.phase_codes.chunks_exact(2 * channels);
    let parameters = prediction.phase_parameters.chunks_exact(3 * channels);
    debug_assert_eq!([codes.len(), parameters.len()], [states.len(); 2]);
    for (state, (code, parameters)) in states.iter_mut().zip(codes.zip(parameters)) {
        let (frequency, rest) = parameters.split_at(channels);
        let (amplitude, offset) = rest.split_at(channels);
        state.set_prediction(code, amplitude, frequency, offset)?;
        for channel in &mut state.channels {
            channel.frequency_hz = channel.frequency_hz.max(0.0);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::start::read_start;
    use pomp_embedded::Device;
    use pomp_motion::RootFrame;
    use pomp_phase::{WindowDecoder, WindowEncoder};

    fn wave(at: usize) -> f32 {
        (at as f32 * 0.731).sin()
    }

    #[test]
    fn the_reader_reads_what_the_general_networks_read_in_the_stitched_window() {
        let model = pomp_embedded::load(&Device::flex()).expect("the embedded model loads");
        let config = &model.description.phase;
        let (joints, channels) = (config.joints, config.channels);
        let layout = &model.description.layout;
        let (_, _, kinematic) = model.kinematic().expect("the embedded model is whole");
        let start = kinematic.starts.values().next().expect("it has starts");
        let start = read_start(layout, start, RootFrame { origin: Vec3::ZERO, yaw: 0.0 }).state;
        let mut reader =
            PhaseReader::new(&model, PhaseFeedback::Aligned, &start).expect("the model is whole");
        let frames = config.window.radius_frames + 20;
        let mut past = FrameTable::with_columns(joints);
        for frame in 0..frames {
            let at = |joint: usize, axis: usize| (0.1 * (frame + 3 * joint + axis) as f32).sin();
            let row: Vec<Vec3> =
                (0..joints).map(|joint| Vec3::new(at(joint, 0), at(joint, 1), at(joint, 2))).collect();
            reader.push(&CharacterState { velocities_root: row.clone(), ..start.clone() });
            if frame + 1 + config.window.radius_frames >= frames {
                past.push(&row);
            }
        }
        let prediction = OutputFrame {
            phase_codes: (0..2 * channels * FUTURE_KEYS).map(wave).collect(),
            phase_parameters: (0..3 * channels * FUTURE_KEYS).map(|at| 1.0 + wave(at)).collect(),
            ..layout.read_y(&vec![0.0; layout.y_len()])
        };
        let old: Vec<f32> = (0..2 * channels).map(|at| wave(at + 11)).collect();
        reader.update(&old, &prediction).expect("everything is finite");

        let mean: Vec<Vec3> = (0..joints)
            .map(|joint| past.rows().map(|row| row[joint]).sum::<Vec3>() / past.frames() as f32)
            .collect();
        let stitch = model.description.stitch;
        let radius = config.window.radius_frames;
        let decoder = WindowDecoder::new(&model.phase.decoder, config.window);
        let far = decoder
            .target_velocities(&reader.keys, 10, stitch.near_frames + 1, radius, &mean)
            .expect("the keys reach the end of the window");
        let window = stitch.stitch(&config.window, &past, &far).expect("the sizes agree");
        let encoder = WindowEncoder::new(model.aligned_phase().expect("the model has one"));
        let expected = encoder.encode(&window).expect("everything is finite").code();
        let scale = expected.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let pairs = expected.iter().zip(reader.read.code());
        let worst = pairs.map(|(a, b)| (a - b).abs() / scale).fold(0.0, f32::max);
        println!("codes differ by up to {worst:e} of the largest, {scale}");
        // Two networks, one after the other, each with sums of thousands of products in another order.
        assert!(worst < 1e-4, "{worst}");
    }
}
