//! Aligned encoder: from stitched windows of simulated motion to the phases of the clean prior.

use crate::dataset::{Dataset, TrainingClip};
use crate::finite::Step;
use crate::loss_record::LossRecord;
use crate::phase_stage::{PhaseReader, epoch_order, root_velocities, scalar, window_frames};
use crate::progress::{MetricsFile, OnEvent, Stage, TrainEvent};
use crate::run::StageRun;
use crate::stable_ids::with_stable_ids;
use crate::step_rng::step_rng;
use crate::{TrainConfig, TrainError};
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use glam::Vec3;
use pomp_motion::FrameTable;
use pomp_motion::features::{FUTURE_KEYS, KEY_OFFSETS};
use pomp_phase::{
    CleanPrior, PeriodicAutoencoder, PeriodicEncoder, PhaseState, VelocityWindow, WindowDecoder, window_batch,
};
use rayon::prelude::*;

/// A stitched window and the clean window of the same frame.
struct Pair {
    stitched: VelocityWindow,
    clean: VelocityWindow,
}

/// Held-out figures of the aligned encoder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment {
    /// Mean squared distance of phase codes, simulated to clean, through the clean encoder.
    pub before: f32,
    /// The same through the aligned encoder.
    pub after: f32,
}

/// Trains the aligned encoder of the autoencoder that `phases` are read with.
pub(crate) fn train_aligned(
    dataset: &mut Dataset,
    run: &StageRun<'_>,
    trained: &PeriodicAutoencoder,
    phases: &PhaseReader,
    on_event: OnEvent<'_>,
) -> Result<(PeriodicEncoder, Alignment), TrainError> {
    let StageRun { config, device, folder, checkpoint, start, .. } = run;
    let stage = &config.aligned_phase;
    let decoder = WindowDecoder::new(&trained.decoder, config.phase.network.window);
    let pairs_of = |clips: Vec<(usize, &TrainingClip)>| -> Result<Vec<Pair>, TrainError> {
        let pairs: Vec<Vec<Pair>> = clips
            .par_iter()
            .map(|(_, clip)| pairs_of_clip(clip, config, &decoder))
            .collect::<Result<_, TrainError>>()?;
        Ok(pairs.into_iter().flatten().collect())
    };
    phases.turn_to(0, dataset)?;
    let mut pairs = pairs_of(dataset.training().collect())?;
    if pairs.len() < 2 {
        return Err(TrainError::TooLittleData { stage: Stage::AlignedPhase.name(), examples: pairs.len() });
    }
    let held_out = pairs_of(dataset.held_out())?;

    let autodiff = (*device).clone().autodiff();
    let prior = CleanPrior::new(&trained.clone().to_device(&autodiff));
    let mut encoder = with_stable_ids(prior.aligned_encoder());
    let mut optimizer = stage.training.optimizer();
    let (mut done, mut best, mut losses) = (0, None, [LossRecord::default(); 2]);
    if start.resumes()
        && let Some(saved) = checkpoint.load(&encoder, optimizer.clone())?
    {
        (done, best) = (saved.step, saved.best);
        losses = saved.losses.try_into().unwrap_or_default();
        (encoder, optimizer) = (with_stable_ids(saved.module), saved.optimizer);
    }
    let mut course = run.course(config.early_stopping.aligned_phase, dataset, best)?;
    let before = code_distance(&prior, &prior.aligned_encoder(), &held_out, config, &autodiff)?;
    let mut after =
        if done == 0 { before } else { code_distance(&prior, &encoder, &held_out, config, &autodiff)? };
    let batch_size = stage.training.batch_size.min(pairs.len());
    let per_epoch = pairs.len() / batch_size;
    let steps = per_epoch * stage.training.epochs;
    run.check_steps(Stage::AlignedPhase, done, steps)?;
    let mut metrics = MetricsFile::open(folder, Stage::AlignedPhase, done)?;
    'training: for epoch in done / per_epoch..stage.training.epochs {
        if course.is_over() {
            break;
        }
        if dataset.is_streamed() {
            drop(std::mem::take(&mut pairs));
            phases.turn_to(epoch, dataset)?;
            pairs = pairs_of(dataset.training().collect())?;
            if pairs.is_empty() {
                return Err(TrainError::TooLittleData { stage: Stage::AlignedPhase.name(), examples: 0 });
            }
        }
        let mut rng = step_rng(config.seed, Stage::AlignedPhase, epoch);
        let order = epoch_order(pairs.len(), per_epoch * batch_size, &mut rng);
        let mut stopping = false;
        // Where an epoch was begun before, its first batches have been learned from.
        let first = done.saturating_sub(epoch * per_epoch);
        for (i, batch) in order.chunks_exact(batch_size).enumerate().skip(first) {
            let step = epoch * per_epoch + i + 1;
            let stitched: Vec<&VelocityWindow> = batch.iter().map(|&p| &pairs[p].stitched).collect();
            let clean: Vec<&VelocityWindow> = batch.iter().map(|&p| &pairs[p].clean).collect();
            let loss = prior.aligned_loss(
                &encoder,
                window_batch(&stitched, &autodiff)?,
                window_batch(&clean, &autodiff)?,
                &stage.loss,
            );
            let value = scalar(&loss.total);
            let named = format!("batch {} of epoch {}, seed {}", i + 1, epoch + 1, config.seed);
            let checked = Step { stage: Stage::AlignedPhase, step, batch: &named, checkpoint };
            checked.check_loss(value, &encoder)?;
            losses[0].add(value);
            losses[1].add(scalar(&loss.code));
            let gradients = GradientsParams::from_grads(loss.total.backward(), &encoder);
            checked.check_gradients(&gradients, &encoder)?;
            encoder = optimizer.step(stage.training.learning_rate, encoder, gradients);
            let event = TrainEvent { stage: Stage::AlignedPhase, step, steps, figures: &[] };
            stopping |= on_event(&event).is_break();
            if stopping && i + 1 < per_epoch {
                checkpoint.save(step, &encoder, &encoder, &optimizer, course.best(), &losses)?;
                return Err(run.stopped(Stage::AlignedPhase, step));
            }
            if run.is_rehearsed(step) {
                break 'training;
            }
        }
        after = code_distance(&prior, &encoder, &held_out, config, &autodiff)?;
        let step = (epoch + 1) * per_epoch;
        let aligned = format!("{}_code_distance", dataset.measured_on());
        let unaligned = format!("{aligned}_unaligned");
        let [[loss, loss_smoothed], [code, code_smoothed]] = losses.each_mut().map(LossRecord::report);
        let figures = [
            ("train_loss", loss),
            ("train_loss_smoothed", loss_smoothed),
            ("train_code_distance", code),
            ("train_code_distance_smoothed", code_smoothed),
            (aligned.as_str(), after),
            (unaligned.as_str(), before),
        ];
        let event = TrainEvent { stage: Stage::AlignedPhase, step, steps, figures: &figures };
        metrics.write(&event)?;
        stopping |= on_event(&event).is_break();
        if course.measured(step, after) {
            checkpoint.save_best(&encoder)?;
        }
        checkpoint.save(step, &encoder, &encoder, &optimizer, course.best(), &losses)?;
        if stopping {
            return Err(run.stopped(Stage::AlignedPhase, step));
        }
    }
    if let Some(best) = course.best() {
        return Ok((checkpoint.load_best(&encoder)?.valid(), Alignment { before, after: best.value }));
    }
    Ok((encoder.valid(), Alignment { before, after }))
}

/// Mean over held-out windows of the squared distance of phase codes.
fn code_distance(
    prior: &CleanPrior,
    encoder: &PeriodicEncoder,
    pairs: &[Pair],
    config: &TrainConfig,
    device: &Device,
) -> Result<f32, TrainError> {
    let encoder = encoder.valid().train().freeze();
    let mut sum = 0.0;
    for chunk in pairs.chunks(64) {
        let stitched: Vec<&VelocityWindow> = chunk.iter().map(|pair| &pair.stitched).collect();
        let clean: Vec<&VelocityWindow> = chunk.iter().map(|pair| &pair.clean).collect();
        let loss = prior.aligned_loss(
            &encoder,
            window_batch(&stitched, device)?,
            window_batch(&clean, device)?,
            &config.aligned_phase.loss,
        );
        sum += scalar(&loss.code) * chunk.len() as f32;
    }
    Ok(sum / pairs.len().max(1) as f32)
}

fn pairs_of_clip(
    clip: &TrainingClip,
    config: &TrainConfig,
    decoder: &WindowDecoder,
) -> Result<Vec<Pair>, TrainError> {
    let window = config.phase.network.window;
    let stitch = config.aligned_phase.stitch;
    let simulated = root_velocities(&clip.simulated);
    let clean = root_velocities(&clip.clean);
    let radius = window.radius_frames;
    let spacing = (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as usize;
    let mut pairs = Vec::new();
    for frame in window_frames(clip, config.phase_edge_frames, config.aligned_phase.stride) {
        let mut past = FrameTable::with_columns(simulated.columns());
        for back in (0..=radius).rev() {
            past.push(&simulated[frame.saturating_sub(back)]);
        }
        let mean: Vec<Vec3> = (0..past.columns())
            .map(|joint| past.rows().map(|row| row[joint]).sum::<Vec3>() / past.frames() as f32)
            .collect();
        let keys: Vec<PhaseState> = (0..FUTURE_KEYS)
            .map(|key| phase_at(clip, frame + key * spacing, window.frame_rate_hz))
            .collect::<Result<_, _>>()?;
        let far = decoder.target_velocities(&keys, spacing, stitch.near_frames + 1, radius, &mean)?;
        pairs
            .push(Pair { stitched: stitch.stitch(&window, &past, &far)?, clean: window.cut(&clean, frame)? });
    }
    Ok(pairs)
}

/// The clean phases at a frame; beyond the clip they run on.
fn phase_at(clip: &TrainingClip, frame: usize, rate_hz: f32) -> Result<PhaseState, TrainError> {
    let inside = frame.min(clip.frames() - 1);
    let parameters = &clip.phase_parameters[inside];
    let channels = parameters.len() / 3;
    let (frequency, offset) = (&parameters[..channels], &parameters[2 * channels..]);
    let state = PhaseState::from_code(&clip.phase_codes[inside], frequency, offset)?;
    Ok(state.advanced((frame - inside) as f32 / rate_hz))
}
