//! Aligned encoder: from stitched windows of simulated motion to the phases of the clean prior.

use crate::dataset::{Dataset, TrainingClip};
use crate::epochs::{Lesson, scalar, train_by_epochs};
use crate::phase_stage::{PhaseReader, root_velocities, window_frames};
use crate::progress::{OnEvent, Stage};
use crate::run::StageRun;
use crate::{TrainConfig, TrainError};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use glam::Vec3;
use pomp_motion::FrameTable;
use pomp_motion::features::FUTURE_KEYS;
use pomp_phase::{
    AlignedLoss, CleanPrior, FrameDecoder, PeriodicAutoencoder, PeriodicEncoder, PhaseState,
    PhaseTrainingConfig, VelocityWindow, window_batch,
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
    phases.turn_to(0, dataset)?;
    let autodiff = run.device.clone().autodiff();
    let (network, stitch) = (&run.config.phase.network, &run.config.aligned_phase.stitch);
    let decoder = FrameDecoder::new(&trained.decoder, network, stitch.target_span(&network.window))?;
    let mut lesson = AlignmentLesson {
        config: run.config,
        phases,
        decoder,
        prior: CleanPrior::new(&trained.clone().to_device(&autodiff)),
        autodiff,
        held_out: Vec::new(),
        before: 0.0,
    };
    lesson.held_out = lesson.windows(dataset.held_out())?;
    let fresh = lesson.prior.aligned_encoder();
    lesson.before = lesson.measure(&fresh)?;
    let before = lesson.before;
    let (encoder, after) = train_by_epochs(&lesson, fresh, dataset, run, on_event)?;
    Ok((encoder, Alignment { before, after }))
}

/// The aligned encoder learns to read from stitched windows what the clean encoder reads from clean ones.
struct AlignmentLesson<'a> {
    config: &'a TrainConfig,
    phases: &'a PhaseReader,
    decoder: FrameDecoder,
    prior: CleanPrior,
    autodiff: Device,
    /// Windows that are measured on.
    held_out: Vec<Pair>,
    /// Their error before any training.
    before: f32,
}

impl AlignmentLesson<'_> {
    fn aligned_loss(&self, encoder: &PeriodicEncoder, batch: &[&Pair]) -> Result<AlignedLoss, TrainError> {
        let stitched: Vec<&VelocityWindow> = batch.iter().map(|pair| &pair.stitched).collect();
        let clean: Vec<&VelocityWindow> = batch.iter().map(|pair| &pair.clean).collect();
        Ok(self.prior.aligned_loss(
            encoder,
            window_batch(&stitched, &self.autodiff)?,
            window_batch(&clean, &self.autodiff)?,
            &self.config.aligned_phase.loss,
        ))
    }
}

impl Lesson for AlignmentLesson<'_> {
    const STAGE: Stage = Stage::AlignedPhase;
    const LOSSES: &'static [&'static str] = &["loss", "code_distance"];
    type Network = PeriodicEncoder;
    type Window = Pair;

    fn training(&self) -> &PhaseTrainingConfig {
        &self.config.aligned_phase.training
    }

    fn patience(&self) -> usize {
        self.config.early_stopping.aligned_phase
    }

    fn turn_to(&self, turn: usize, dataset: &mut Dataset) -> Result<(), TrainError> {
        self.phases.turn_to(turn, dataset)
    }

    fn windows(&self, clips: Vec<(usize, &TrainingClip)>) -> Result<Vec<Pair>, TrainError> {
        let pairs: Vec<Vec<Pair>> = clips
            .par_iter()
            .map_init(|| self.decoder.clone(), |decoder, (_, clip)| pairs_of_clip(clip, self.config, decoder))
            .collect::<Result<_, TrainError>>()?;
        Ok(pairs.into_iter().flatten().collect())
    }

    fn losses(&self, encoder: &PeriodicEncoder, batch: &[&Pair]) -> Result<Vec<Tensor<1>>, TrainError> {
        let AlignedLoss { total, code, .. } = self.aligned_loss(encoder, batch)?;
        Ok(vec![total, code])
    }

    /// Mean over held-out windows of the squared distance of phase codes.
    fn measure(&self, encoder: &PeriodicEncoder) -> Result<f32, TrainError> {
        let encoder = encoder.valid().train().freeze();
        let pairs: Vec<&Pair> = self.held_out.iter().collect();
        let mut sum = 0.0;
        for chunk in pairs.chunks(64) {
            sum += scalar(&self.aligned_loss(&encoder, chunk)?.code) * chunk.len() as f32;
        }
        Ok(sum / pairs.len().max(1) as f32)
    }

    fn figures(&self, measured_on: &str, measured: f32) -> Vec<(String, f32)> {
        let name = format!("{measured_on}_code_distance");
        vec![(name.clone(), measured), (format!("{name}_unaligned"), self.before)]
    }
}

fn pairs_of_clip(
    clip: &TrainingClip,
    config: &TrainConfig,
    decoder: &mut FrameDecoder,
) -> Result<Vec<Pair>, TrainError> {
    let window = config.phase.network.window;
    let stitch = config.aligned_phase.stitch;
    let simulated = root_velocities(&clip.simulated);
    let clean = root_velocities(&clip.clean);
    let (radius, spacing) = (window.radius_frames, stitch.target_span(&window).key_spacing);
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
        let far = decoder.target_velocities(&keys, &mean)?;
        pairs.push(Pair { stitched: stitch.stitch(&window, &past, far)?, clean: window.cut(&clean, frame)? });
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
