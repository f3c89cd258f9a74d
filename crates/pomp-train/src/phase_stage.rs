//! Periodic autoencoder on clean windows, then the phases of all frames.

use crate::annotate::edge_of;
use crate::dataset::{Dataset, TrainingClip};
use crate::epochs::{Lesson, scalar, train_by_epochs};
use crate::progress::{OnEvent, Stage};
use crate::run::StageRun;
use crate::{TrainConfig, TrainError};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use glam::Vec3;
use pomp_controllers::ControllerKind;
use pomp_model::Model;
use pomp_motion::features::CharacterState;
use pomp_motion::{FrameTable, Skeleton};
use pomp_phase::{
    FrameEncoder, PeriodicAutoencoder, PeriodicAutoencoderConfig, PeriodicEncoder, PhaseState,
    PhaseTrainingConfig, VelocityWindow, WindowConfig, extrapolate_code, pae_loss, window_batch,
};
use rayon::prelude::*;
use std::path::Path;

/// Windows that a held-out loss is measured on, at most.
const HELD_OUT_WINDOWS: usize = 256;
/// Windows that phases are read off at once.
const WINDOWS_AT_ONCE: usize = 64;

/// Joint velocities `[T, J]`, each frame in its own root frame, m/s.
pub(crate) fn root_velocities(states: &[CharacterState]) -> FrameTable<Vec3> {
    let mut table = FrameTable::with_columns(states[0].velocities_root.len());
    for state in states {
        table.push(&state.velocities_root);
    }
    table
}

/// Frames whose windows may be learned from: `edge` frames inside the clip, every `stride`-th.
pub(crate) fn window_frames(
    clip: &TrainingClip,
    edge: usize,
    stride: usize,
) -> impl Iterator<Item = usize> + '_ {
    let last = clip.frames().saturating_sub(edge);
    (edge..last).step_by(stride).filter(|&frame| clip.supported[frame])
}

/// Windows that `clips` give, and so the length of an epoch.
pub(crate) fn window_count<'a>(
    clips: impl Iterator<Item = (usize, &'a TrainingClip)>,
    edge: usize,
    stride: usize,
) -> usize {
    clips.map(|(_, clip)| window_frames(clip, edge, stride).count()).sum()
}

/// Trains the periodic autoencoder. Gives what it has measured on the weights that it returns.
pub(crate) fn train_phase(
    dataset: &mut Dataset,
    run: &StageRun<'_>,
    on_event: OnEvent<'_>,
) -> Result<(PeriodicAutoencoder, f32), TrainError> {
    dataset.turn_to(0)?;
    let mut lesson =
        Reconstruction { config: run.config, autodiff: run.device.clone().autodiff(), held_out: Vec::new() };
    let held_out = lesson.windows(dataset.held_out())?;
    let every = held_out.len().div_ceil(HELD_OUT_WINDOWS).max(1);
    lesson.held_out = held_out.into_iter().step_by(every).collect();
    let fresh = PeriodicAutoencoder::new(&run.config.phase.network, run.config.seed, &lesson.autodiff)?;
    train_by_epochs(&lesson, fresh, dataset, run, on_event)
}

/// The periodic autoencoder learns to give windows of clean motion back.
struct Reconstruction<'a> {
    config: &'a TrainConfig,
    autodiff: Device,
    /// Windows that are measured on.
    held_out: Vec<VelocityWindow>,
}

impl Lesson for Reconstruction<'_> {
    const STAGE: Stage = Stage::Phase;
    const LOSSES: &'static [&'static str] = &["mse"];
    type Network = PeriodicAutoencoder;
    type Window = VelocityWindow;

    fn training(&self) -> &PhaseTrainingConfig {
        &self.config.phase.training
    }

    fn patience(&self) -> usize {
        self.config.early_stopping.phase
    }

    fn turn_to(&self, turn: usize, dataset: &mut Dataset) -> Result<(), TrainError> {
        dataset.turn_to(turn)
    }

    fn windows(&self, clips: Vec<(usize, &TrainingClip)>) -> Result<Vec<VelocityWindow>, TrainError> {
        let window = self.config.phase.network.window;
        let mut windows = Vec::new();
        for (_, clip) in clips {
            let velocities = root_velocities(&clip.clean);
            for frame in window_frames(clip, self.config.phase_edge_frames, self.config.phase.stride) {
                windows.push(window.cut(&velocities, frame)?);
            }
        }
        Ok(windows)
    }

    fn losses(
        &self,
        network: &PeriodicAutoencoder,
        batch: &[&VelocityWindow],
    ) -> Result<Vec<Tensor<1>>, TrainError> {
        Ok(vec![pae_loss(network, window_batch(batch, &self.autodiff)?)])
    }

    fn measure(&self, network: &PeriodicAutoencoder) -> Result<f32, TrainError> {
        let network = network.valid();
        let device =
            network.devices().into_iter().next().expect("an autoencoder has tensors").without_autodiff();
        let windows: Vec<&VelocityWindow> = self.held_out.iter().collect();
        let mut sum = 0.0;
        for chunk in windows.chunks(64) {
            sum += scalar(&pae_loss(&network, window_batch(chunk, &device)?)) * chunk.len() as f32;
        }
        Ok(sum / windows.len().max(1) as f32)
    }

    fn figures(&self, measured_on: &str, measured: f32) -> Vec<(String, f32)> {
        vec![(format!("{measured_on}_mse"), measured)]
    }
}

/// The phases of every frame of a clip.
pub(crate) struct FramePhases {
    /// Phase codes `[T, 2C]`.
    pub codes: FrameTable<f32>,
    /// Frequency (Hz), amplitude and offset, `[T, 3C]`.
    pub parameters: FrameTable<f32>,
}

/// How phases are read, in every stage after the first: on the CPU, whatever the device of the training. A clone shares the weights.
#[derive(Clone)]
pub(crate) struct PhaseReader {
    encoder: FrameEncoder,
    window: WindowConfig,
    /// Frames at the ends of a clip that are not read: they continue the nearest one that is.
    edge: usize,
}

impl PhaseReader {
    /// Reads with a trained `encoder`, made with `config`, all but `edge` frames at both ends of a clip.
    ///
    /// # Errors
    /// An encoder of other sizes, or with weights that are not finite.
    pub fn new(
        encoder: &PeriodicEncoder,
        config: &PeriodicAutoencoderConfig,
        edge: usize,
    ) -> Result<Self, TrainError> {
        Ok(Self { encoder: FrameEncoder::new(encoder, config)?, window: config.window, edge })
    }

    /// The reader of a trained model, with the edge that it was trained with.
    ///
    /// # Errors
    /// Its description does not say its edge; as [`Self::new`].
    pub fn of(model: &Model) -> Result<Self, TrainError> {
        Self::new(&model.phase.encoder, &model.description.phase, edge_of(model)?)
    }

    /// The reader of the trained model in the folder `out`, for a controller of `kind` that is made of its phases.
    ///
    /// # Errors
    /// There is no model; its description does not say its edge.
    pub fn of_model(out: &Path, kind: ControllerKind, device: &Device) -> Result<(Self, usize), TrainError> {
        if !out.join("model.json").is_file() {
            return Err(TrainError::MissingStage {
                stage: kind.name(),
                needs: "a trained periodic autoencoder",
                first: Stage::Phase.name(),
            });
        }
        let model = Model::load(out, device)?;
        Ok((Self::of(&model)?, model.description.phase.channels))
    }

    /// Reads the phases of all frames of a clip with the clean encoder, given joint velocities `[T, J]`, m/s, each frame in its own root
    /// frame. Windows that reach beyond the clip hold its first or last velocities; frames within the edge, whose windows reach far beyond
    /// it, continue the nearest inner frame at its frequencies. A clip shorter than two edges is read at its middle.
    pub fn phases_of(&mut self, velocities: &FrameTable<Vec3>) -> Result<FramePhases, TrainError> {
        let frames = velocities.frames();
        let edge = self.edge.min((frames - 1) / 2);
        let inner = edge..frames - edge;
        let radius = self.window.radius_frames;
        let mut states: Vec<PhaseState> = Vec::with_capacity(inner.len());
        for first in inner.clone().step_by(WINDOWS_AT_ONCE) {
            let count = WINDOWS_AT_ONCE.min(inner.end - first);
            self.encoder.begin();
            for centre in first..first + count {
                let row = |index: usize| &velocities[(centre + index).saturating_sub(radius).min(frames - 1)];
                self.encoder.add(row)?;
            }
            self.encoder.run();
            for window in 0..count {
                let mut state = PhaseState::default();
                self.encoder.read(window, &mut state)?;
                states.push(state);
            }
        }
        let channels = states[0].channels.len();
        let mut codes = FrameTable::with_columns(2 * channels);
        let mut parameters = FrameTable::with_columns(3 * channels);
        for frame in 0..frames {
            let nearest = frame.clamp(inner.start, inner.end - 1);
            let state = &states[nearest - inner.start];
            let frequencies = state.frequencies_hz();
            let seconds = (frame as f32 - nearest as f32) / self.window.frame_rate_hz;
            codes.push(&extrapolate_code(&state.code(), &frequencies, seconds)?);
            parameters.push(&[frequencies, state.amplitudes(), state.offsets()].concat());
        }
        Ok(FramePhases { codes, parameters })
    }

    /// Phase codes of a clip `[T, 2C]`, and of its mirror image, given the states of its frames on a symmetric `skeleton`.
    pub fn codes_of_both(
        &mut self,
        states: &[CharacterState],
        skeleton: &Skeleton,
    ) -> Result<[Vec<Vec<f32>>; 2], TrainError> {
        let own = root_velocities(states);
        let map = skeleton.mirror_map();
        let mut image = FrameTable::with_columns(map.len());
        for row in own.rows() {
            let reflected = map.iter().map(|source| row[source.0] * Vec3::new(-1.0, 1.0, 1.0));
            image.push(&reflected.collect::<Vec<_>>());
        }
        let mut codes = |velocities: &FrameTable<Vec3>| -> Result<Vec<Vec<f32>>, TrainError> {
            let found = self.phases_of(velocities)?;
            Ok(found.codes.rows().map(<[f32]>::to_vec).collect())
        };
        Ok([codes(&own)?, codes(&image)?])
    }

    /// Reads the phases of all frames of all clips that have none yet.
    pub fn read(&self, dataset: &mut Dataset) -> Result<(), TrainError> {
        let unread = dataset.clips.par_iter_mut().filter(|clip| clip.phase_codes.frames() == 0);
        unread.try_for_each_init(
            || self.clone(),
            |reader, clip| {
                let found = reader.phases_of(&root_velocities(&clip.clean))?;
                (clip.phase_codes, clip.phase_parameters) = (found.codes, found.parameters);
                Ok(())
            },
        )
    }

    /// Brings the recordings of `turn` into memory, with their phases.
    pub fn turn_to(&self, turn: usize, dataset: &mut Dataset) -> Result<(), TrainError> {
        dataset.turn_to(turn)?;
        self.read(dataset)
    }
}
