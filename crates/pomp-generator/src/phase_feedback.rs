//! The phase encoding module in the loop (docs/method.md §5): simulated motion in, phase codes out.

use crate::{GeneratorError, PhaseFeedback};
use glam::Vec3;
use pomp_lanes::Work;
use pomp_model::Model;
use pomp_motion::features::{CharacterState, FUTURE_KEYS, OutputFrame};
use pomp_motion::{FrameTable, PerJoint};
use pomp_phase::{FrameDecoder, FrameEncoder, PhaseState, StitchConfig, WindowConfig};
use std::collections::VecDeque;

/// Reads phases off the simulated motion, frame by frame. A clone begins where the original is, and shares its weights.
#[derive(Clone)]
pub struct PhaseReader {
    networks: PhaseNetworks,
    window: PhaseWindow,
}

/// The networks of the phase encoding module. A clone shares the weights.
#[derive(Clone)]
pub(crate) struct PhaseNetworks {
    /// None where phases are not read.
    encoder: Option<FrameEncoder>,
    decoder: FrameDecoder,
}

/// What one character's phases are read from: its past, and the window that is stitched to it.
#[derive(Clone)]
pub(crate) struct PhaseWindow {
    window: WindowConfig,
    stitch: StitchConfig,
    past: Past,
    /// The predicted states at the keys.
    keys: Vec<PhaseState>,
    read: PhaseState,
    near: FrameTable<Vec3>,
    past_mean: Vec<Vec3>,
    /// Number of the character among those whose keys are decoded, then of its window among those that are read; none where
    /// phases are not read.
    place: Option<usize>,
}

/// What was simulated: all that a reader remembers from frame to frame.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    /// Joint velocities of the last frames, each in its own root frame, oldest first.
    velocities: VecDeque<PerJoint<Vec3>>,
    /// Simulated frames among them; the rest is the start's, held.
    simulated_frames: usize,
}

impl Past {
    /// Becomes `other` of the same model, in the memory that is there.
    pub fn copy_from(&mut self, other: &Self) {
        for (row, other) in self.velocities.iter_mut().zip(&other.velocities) {
            row.copy_from_slice(other);
        }
        self.simulated_frames = other.simulated_frames;
    }
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
        Ok(Self { networks: PhaseNetworks::new(model, feedback)?, window: PhaseWindow::new(model, start) })
    }

    /// Forgets what it has read: the past is the start's velocities again, held.
    pub fn restart(&mut self, start: &CharacterState) {
        self.window.restart(start);
    }

    /// Appends a simulated frame.
    pub fn push(&mut self, state: &CharacterState) {
        self.window.push(state);
    }

    /// The present's phase code after `old`: half the way from `old` advanced at its frequency to what the encoder
    /// reads (eq. 9 of DeepPhase); with no encoder, or until a second of simulated motion is there to be read, to what the
    /// kinematic module predicted.
    ///
    /// # Errors
    /// Codes and predictions of other sizes than the model's, or numbers that are not finite.
    pub fn update(&mut self, old: &[f32], prediction: &OutputFrame) -> Result<Vec<f32>, GeneratorError> {
        let Self { networks, window } = self;
        networks.begin();
        window.add_keys(prediction, old.len() / 2, networks)?;
        networks.decode();
        window.add_window(networks)?;
        networks.encode();
        let mut code = old.to_vec();
        window.update(&mut code, networks)?;
        Ok(code)
    }
}

impl PhaseNetworks {
    /// Those of `model` that `feedback` asks for.
    ///
    /// # Errors
    /// As [`PhaseReader::new`].
    pub fn new(model: &Model, feedback: PhaseFeedback) -> Result<Self, GeneratorError> {
        let config = &model.description.phase;
        let encoder = match feedback {
            PhaseFeedback::Aligned => Some(FrameEncoder::new(model.aligned_phase()?, config)?),
            PhaseFeedback::Unaligned => Some(FrameEncoder::new(&model.phase.encoder, config)?),
            PhaseFeedback::Predicted | PhaseFeedback::Constant => None,
        };
        let span = model.description.stitch.target_span(&config.window);
        Ok(Self { encoder, decoder: FrameDecoder::new(&model.phase.decoder, config, span)? })
    }

    /// Forgets the characters of the last frame.
    pub fn begin(&mut self) {
        self.decoder.begin();
        if let Some(encoder) = &mut self.encoder {
            encoder.begin();
        }
    }

    /// Decodes the keys of all characters.
    pub fn decode(&mut self) {
        self.decoder.run();
    }

    /// What decoding and reading cost for one character.
    pub fn work(&self) -> [Work; 2] {
        [self.decoder.work(), self.encoder.as_ref().map_or(Work::default(), FrameEncoder::work)]
    }

    /// Reads the windows of all characters.
    pub fn encode(&mut self) {
        if let Some(encoder) = &mut self.encoder {
            encoder.run();
        }
    }
}

impl PhaseWindow {
    /// A past of the start's velocities, held.
    pub fn new(model: &Model, start: &CharacterState) -> Self {
        let (window, stitch) = (model.description.phase.window, model.description.stitch);
        let joints = start.velocities_root.len();
        let velocities = vec![start.velocities_root.clone(); window.radius_frames + 1];
        Self {
            window,
            stitch,
            past: Past { velocities: velocities.into(), simulated_frames: 0 },
            keys: vec![PhaseState::default(); FUTURE_KEYS],
            read: PhaseState::default(),
            near: FrameTable::filled(stitch.near_frames, joints, Vec3::ZERO),
            past_mean: vec![Vec3::ZERO; joints],
            place: None,
        }
    }

    /// What the next frame depends on.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// Continues from what a reader of the same model remembered.
    pub fn restore(&mut self, past: Past) {
        self.past = past;
    }

    /// Forgets what it has seen: the past is the start's velocities again, held.
    pub fn restart(&mut self, start: &CharacterState) {
        for row in &mut self.past.velocities {
            row.copy_from_slice(&start.velocities_root);
        }
        self.past.simulated_frames = 0;
    }

    /// Appends a simulated frame, of which no window is under way yet.
    pub fn push(&mut self, state: &CharacterState) {
        self.place = None;
        let past = &mut self.past;
        let mut row = past.velocities.pop_front().expect("the past is never empty");
        row.copy_from_slice(&state.velocities_root);
        past.velocities.push_back(row);
        past.simulated_frames += 1;
    }

    /// Adds the keys of a `prediction` of so many phase channels to what the networks decode, where there is a second of
    /// simulated motion and an encoder to read it.
    ///
    /// # Errors
    /// A prediction of another size than the model's.
    pub fn add_keys(
        &mut self,
        prediction: &OutputFrame,
        channels: usize,
        networks: &mut PhaseNetworks,
    ) -> Result<(), GeneratorError> {
        set_predicted_states(&mut self.keys, prediction, channels)?;
        self.add_set_keys(networks)
    }

    fn add_set_keys(&mut self, networks: &mut PhaseNetworks) -> Result<(), GeneratorError> {
        self.place = None;
        let past = &self.past.velocities;
        if self.past.simulated_frames < past.len() || networks.encoder.is_none() {
            return Ok(());
        }
        for (joint, mean) in self.past_mean.iter_mut().enumerate() {
            *mean = past.iter().map(|row| row[joint]).sum::<Vec3>() / past.len() as f32;
        }
        self.place = Some(networks.decoder.add(&self.keys, &self.past_mean)?);
        Ok(())
    }

    /// Adds the stitched window to what the networks read, when its keys were decoded.
    ///
    /// # Errors
    /// A velocity that is not finite.
    pub fn add_window(&mut self, networks: &mut PhaseNetworks) -> Result<(), GeneratorError> {
        let PhaseNetworks { encoder, decoder } = networks;
        let (Some(encoder), Some(character)) = (encoder, self.place.take()) else { return Ok(()) };
        let past = &self.past.velocities;
        let far = decoder.targets(character);
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
        self.place = Some(encoder.add(row)?);
        Ok(())
    }

    /// Makes the `code` of the last frame the present's, as [`PhaseReader::update`] does.
    ///
    /// # Errors
    /// A code of another size than the model's, and a phase that is not finite.
    pub fn update(&mut self, code: &mut [f32], networks: &PhaseNetworks) -> Result<(), GeneratorError> {
        let read = match (&networks.encoder, self.place.take()) {
            (Some(encoder), Some(window)) => {
                encoder.read(window, &mut self.read)?;
                &self.read
            }
            _ => &self.keys[0],
        };
        Ok(read.update_in_place(code, 1.0 / self.window.frame_rate_hz)?)
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
impl PhaseWindow {
    /// How far the phase code read in the present window, and the target velocities in it, are from those of the general
    /// networks: largest differences over the largest values. `None` before there is a window to read.
    pub(crate) fn differences_from_general(
        &mut self,
        model: &Model,
        networks: &mut PhaseNetworks,
    ) -> Result<Option<[f32; 2]>, GeneratorError> {
        networks.begin();
        self.add_set_keys(networks)?;
        let Some(character) = self.place else { return Ok(None) };
        networks.decode();
        self.add_window(networks)?;
        networks.encode();
        let encoder = networks.encoder.as_ref().expect("a window was added to it");
        encoder.read(self.place.take().expect("its keys were decoded"), &mut self.read)?;
        let far = networks.decoder.targets(character);
        let decoder = pomp_phase::WindowDecoder::new(&model.phase.decoder, self.window);
        let pomp_phase::TargetSpan { key_spacing, first_frame, last_frame } =
            self.stitch.target_span(&self.window);
        let expected =
            decoder.target_velocities(&self.keys, key_spacing, first_frame, last_frame, &self.past_mean)?;
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
