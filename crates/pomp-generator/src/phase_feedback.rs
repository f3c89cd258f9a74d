//! The phase encoding module in the loop (docs/method.md §5): simulated motion in, phase codes out.

use crate::{GeneratorError, PhaseFeedback};
use glam::Vec3;
use pomp_model::Model;
use pomp_motion::FrameTable;
use pomp_motion::features::{CharacterState, FUTURE_KEYS, KEY_OFFSETS, OutputFrame};
use pomp_phase::{
    FrameDecoder, FrameEncoder, PhaseState, StitchConfig, TargetSpan, WindowConfig, update_code,
};
use std::collections::VecDeque;

/// Reads phases off the simulated motion, frame by frame. A clone begins where the original is.
#[derive(Clone)]
pub struct PhaseReader {
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
#[derive(Clone, Debug)]
pub(crate) struct Past {
    /// Joint velocities of the last frames, each in its own root frame, oldest first.
    velocities: VecDeque<Vec<Vec3>>,
    /// Simulated frames among them; the rest is the start's, held.
    simulated_frames: usize,
}

impl PhaseReader {
    /// A reader whose past is the start's velocities, held.
    ///
    /// # Errors
    /// A model without the encoder that `feedback` asks for, or with phase networks that do not fit their description.
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
    pub(crate) fn save(&self) -> Past {
        self.past.clone()
    }

    /// Continues from what a reader of the same model remembered.
    pub(crate) fn restore(&mut self, past: Past) {
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
    ///
    /// # Errors
    /// Codes and predictions of other sizes than the model's, or numbers that are not finite.
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
impl PhaseReader {
    /// How far the phase code read in the present window, and the target velocities in it, are from those of the general
    /// networks: largest differences over the largest values. `None` before there is a window to read.
    pub(crate) fn differences_from_general(
        &mut self,
        model: &Model,
    ) -> Result<Option<[f32; 2]>, GeneratorError> {
        if self.past.simulated_frames < self.past.velocities.len() || !self.read_window()? {
            return Ok(None);
        }
        let far = self.decoder.target_velocities(&self.keys, &self.past_mean)?;
        let decoder = pomp_phase::WindowDecoder::new(&model.phase.decoder, self.window);
        let (near, radius) = (self.stitch.near_frames, self.window.radius_frames);
        let spacing = (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as usize;
        let expected = decoder.target_velocities(&self.keys, spacing, near + 1, radius, &self.past_mean)?;
        let mut past = FrameTable::with_columns(self.past_mean.len());
        self.past.velocities.iter().for_each(|row| past.push(row));
        let window = self.stitch.stitch(&self.window, &past, &expected)?;
        let read = pomp_phase::WindowEncoder::new(model.aligned_phase()?).encode(&window)?.code();
        let flat = |table: &FrameTable<Vec3>| -> Vec<f32> {
            table.values().iter().flat_map(Vec3::to_array).collect()
        };
        let relative = |expected: &[f32], found: &[f32]| {
            let largest = expected.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            expected.iter().zip(found).fold(0.0_f32, |worst, (a, b)| worst.max((a - b).abs() / largest))
        };
        Ok(Some([relative(&read, &self.read.code()), relative(&flat(&expected), &flat(far))]))
    }
}

#[cfg(test)]
mod tests {
    use crate::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
    use pomp_embedded::Device;
    use pomp_motion::Gait;
    use pomp_terrain::TerrainSpec;

    #[test]
    fn in_every_frame_up_stairs_the_reader_reads_what_the_general_networks_read() {
        let model = pomp_embedded::load(&Device::flex()).expect("the embedded model loads");
        let spec: TerrainSpec =
            toml::from_str("cell_m = 0.05\nshape = { kind = \"stairs\" }").expect("a spec");
        let terrain = pomp_terrain::generate(&spec, 1).expect("valid");
        let config = GeneratorConfig::default();
        let mut generator = Generator::new(&model, terrain, &config, Gait::Walk, 1).expect("whole");
        let plan = ControlPlan::preset(Preset::Walk, 9.0, FRAME_RATE_HZ);
        let (mut worst, mut frames) = ([0.0_f32; 2], 0);
        for _ in 0..480 {
            generator.step(&plan, &[]).expect("everything is finite");
            if let Some(found) = generator.differences_from_general(&model).expect("everything is finite") {
                worst = [worst[0].max(found[0]), worst[1].max(found[1])];
                frames += 1;
            }
        }
        println!(
            "{frames} frames: codes differ by up to {:e}, target velocities by up to {:e}",
            worst[0], worst[1]
        );
        assert!(frames > 400);
        // Networks one after the other, each with sums of thousands of products in another order. Codes near the origin
        // are the worst: theirs are relative to what is left of two seconds that cancel.
        assert!(worst.iter().all(|difference| *difference < 1e-4), "{worst:?}");
    }
}
