//! Periodic autoencoder on clean windows, then the phases of all frames.

use crate::TrainError;
use crate::dataset::{Dataset, TrainingClip};
use crate::finite::Step;
use crate::loss_record::LossRecord;
use crate::progress::{MetricsFile, OnEvent, Stage, TrainEvent};
use crate::run::StageRun;
use crate::stable_ids::with_stable_ids;
use crate::step_rng::step_rng;
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use glam::Vec3;
use pomp_motion::FrameTable;
use pomp_motion::features::CharacterState;
use pomp_phase::{
    PeriodicAutoencoder, PhaseState, VelocityWindow, WindowConfig, WindowEncoder, extrapolate_code, pae_loss,
    window_batch,
};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Windows that a held-out loss is measured on, at most.
const HELD_OUT_WINDOWS: usize = 256;

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
    let StageRun { config, device, folder, checkpoint, start, .. } = run;
    let stage = &config.phase;
    let window = stage.network.window;
    let windows_of = |clips: Vec<(usize, &TrainingClip)>| -> Result<Vec<VelocityWindow>, TrainError> {
        let mut windows = Vec::new();
        for (_, clip) in clips {
            let velocities = root_velocities(&clip.clean);
            for frame in window_frames(clip, config.phase_edge_frames, stage.stride) {
                windows.push(window.cut(&velocities, frame)?);
            }
        }
        Ok(windows)
    };
    dataset.turn_to(0)?;
    let mut windows = windows_of(dataset.training().collect())?;
    if windows.len() < 2 {
        return Err(TrainError::TooLittleData { stage: Stage::Phase.name(), examples: windows.len() });
    }
    let mut held_out = windows_of(dataset.held_out())?;
    let every = held_out.len().div_ceil(HELD_OUT_WINDOWS).max(1);
    let mut number = 0;
    held_out.retain(|_| {
        number += 1;
        (number - 1) % every == 0
    });
    let held_out: Vec<&VelocityWindow> = held_out.iter().collect();

    let autodiff = (*device).clone().autodiff();
    let mut model = with_stable_ids(PeriodicAutoencoder::new(&stage.network, config.seed, &autodiff)?);
    let mut optimizer = stage.training.optimizer();
    let (mut done, mut best, mut loss_record) = (0, None, LossRecord::default());
    if start.resumes()
        && let Some(saved) = checkpoint.load(&model, optimizer.clone())?
    {
        (done, best) = (saved.step, saved.best);
        loss_record = saved.losses.first().copied().unwrap_or_default();
        (model, optimizer) = (with_stable_ids(saved.module), saved.optimizer);
    }
    let mut course = run.course(config.early_stopping.phase, dataset, best)?;
    let batch_size = stage.training.batch_size.min(windows.len());
    let per_epoch = windows.len() / batch_size;
    let steps = per_epoch * stage.training.epochs;
    run.check_steps(Stage::Phase, done, steps)?;
    let mut metrics = MetricsFile::open(folder, Stage::Phase, done)?;
    let mut held_out_loss = held_out_mse(&model, &held_out)?;
    'training: for epoch in done / per_epoch..stage.training.epochs {
        if course.is_over() {
            break;
        }
        if dataset.is_streamed() {
            drop(std::mem::take(&mut windows));
            dataset.turn_to(epoch)?;
            windows = windows_of(dataset.training().collect())?;
            if windows.is_empty() {
                return Err(TrainError::TooLittleData { stage: Stage::Phase.name(), examples: 0 });
            }
        }
        let wanted = per_epoch * batch_size;
        let order = epoch_order(windows.len(), wanted, &mut step_rng(config.seed, Stage::Phase, epoch));
        let mut stopping = false;
        // Where an epoch was begun before, its first batches have been learned from.
        let first = done.saturating_sub(epoch * per_epoch);
        for (i, batch) in order.chunks_exact(batch_size).enumerate().skip(first) {
            let step = epoch * per_epoch + i + 1;
            let batch: Vec<&VelocityWindow> = batch.iter().map(|&w| &windows[w]).collect();
            let loss = pae_loss(&model, window_batch(&batch, &autodiff)?);
            let value = scalar(&loss);
            let named = format!("batch {} of epoch {}, seed {}", i + 1, epoch + 1, config.seed);
            let checked = Step { stage: Stage::Phase, step, batch: &named, checkpoint };
            checked.check_loss(value, &model)?;
            loss_record.add(value);
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            checked.check_gradients(&gradients, &model)?;
            model = optimizer.step(stage.training.learning_rate, model, gradients);
            stopping |= on_event(&TrainEvent { stage: Stage::Phase, step, steps, figures: &[] }).is_break();
            if stopping && i + 1 < per_epoch {
                checkpoint.save(step, &model, &model, &optimizer, course.best(), &[loss_record])?;
                return Err(run.stopped(Stage::Phase, step));
            }
            if run.is_rehearsed(step) {
                break 'training;
            }
        }
        held_out_loss = held_out_mse(&model, &held_out)?;
        let step = (epoch + 1) * per_epoch;
        let name = format!("{}_mse", dataset.measured_on());
        let [mean, smoothed] = loss_record.report();
        let figures = [("train_mse", mean), ("train_mse_smoothed", smoothed), (&name, held_out_loss)];
        let event = TrainEvent { stage: Stage::Phase, step, steps, figures: &figures };
        metrics.write(&event)?;
        stopping |= on_event(&event).is_break();
        if course.measured(step, held_out_loss) {
            checkpoint.save_best(&model)?;
        }
        checkpoint.save(step, &model, &model, &optimizer, course.best(), &[loss_record])?;
        if stopping {
            return Err(run.stopped(Stage::Phase, step));
        }
    }
    if let Some(best) = course.best() {
        return Ok((checkpoint.load_best(&model)?.valid(), best.value));
    }
    Ok((model.valid(), held_out_loss))
}

fn held_out_mse(model: &PeriodicAutoencoder, windows: &[&VelocityWindow]) -> Result<f32, TrainError> {
    let model = model.valid();
    let device = model.devices().into_iter().next().expect("an autoencoder has tensors").without_autodiff();
    let mut sum = 0.0;
    for chunk in windows.chunks(64) {
        sum += scalar(&pae_loss(&model, window_batch(chunk, &device)?)) * chunk.len() as f32;
    }
    Ok(sum / windows.len().max(1) as f32)
}

pub(crate) fn scalar(loss: &Tensor<1>) -> f32 {
    loss.clone().into_scalar::<f32>()
}

/// The phases of every frame of a clip.
pub(crate) struct FramePhases {
    /// Phase codes `[T, 2C]`.
    pub codes: FrameTable<f32>,
    /// Frequency (Hz), amplitude and offset, `[T, 3C]`.
    pub parameters: FrameTable<f32>,
}

/// Reads the phases of all frames of a clip, given the states of its frames, with the clean encoder. Windows that
/// reach beyond the clip hold its first or last velocities; frames within `edge` of the ends, whose windows reach far
/// beyond it, continue the nearest inner frame at its frequencies. A clip shorter than two edges is read at its middle.
pub(crate) fn frame_phases(
    states: &[CharacterState],
    encoder: &WindowEncoder,
    window: &WindowConfig,
    edge: usize,
) -> Result<FramePhases, TrainError> {
    let velocities = root_velocities(states);
    let frames = states.len();
    let edge = edge.min((frames - 1) / 2);
    let inner = edge..frames - edge;
    let windows: Vec<VelocityWindow> =
        inner.clone().map(|frame| window.cut(&velocities, frame)).collect::<Result<_, _>>()?;
    let mut states: Vec<PhaseState> = Vec::with_capacity(windows.len());
    for chunk in windows.chunks(128) {
        states.extend(encoder.encode_all(&chunk.iter().collect::<Vec<_>>())?);
    }
    let channels = states[0].channels.len();
    let mut codes = FrameTable::with_columns(2 * channels);
    let mut parameters = FrameTable::with_columns(3 * channels);
    for frame in 0..frames {
        let nearest = frame.clamp(inner.start, inner.end - 1);
        let state = &states[nearest - inner.start];
        let frequencies = state.frequencies_hz();
        let seconds = (frame as f32 - nearest as f32) / window.frame_rate_hz;
        codes.push(&extrapolate_code(&state.code(), &frequencies, seconds)?);
        parameters.push(&[frequencies, state.amplitudes(), state.offsets()].concat());
    }
    Ok(FramePhases { codes, parameters })
}

/// How phases are read, in every stage after the first.
pub(crate) struct PhaseReader {
    pub encoder: WindowEncoder,
    pub window: WindowConfig,
    /// As `edge` of [`frame_phases`].
    pub edge: usize,
}

impl PhaseReader {
    /// Reads the phases of all frames of all clips that have none yet; see [`frame_phases`].
    pub fn read(&self, dataset: &mut Dataset) -> Result<(), TrainError> {
        for clip in dataset.clips.iter_mut().filter(|clip| clip.phase_codes.frames() == 0) {
            let found = frame_phases(&clip.clean, &self.encoder, &self.window, self.edge)?;
            (clip.phase_codes, clip.phase_parameters) = (found.codes, found.parameters);
        }
        Ok(())
    }

    /// Brings the recordings of `turn` into memory, with their phases.
    pub fn turn_to(&self, turn: usize, dataset: &mut Dataset) -> Result<(), TrainError> {
        dataset.turn_to(turn)?;
        self.read(dataset)
    }
}

/// The windows of one epoch, by number, in batches of which only the last may be short: a shuffle of all, and where an epoch has
/// more than there are, because other recordings are in memory than were at first, further shuffles.
pub(crate) fn epoch_order(windows: usize, wanted: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order = Vec::with_capacity(wanted.max(windows));
    while order.len() < wanted.max(1) {
        let begun = order.len();
        order.extend(0..windows);
        order[begun..].shuffle(rng);
    }
    order.truncate(wanted.max(1));
    order
}
