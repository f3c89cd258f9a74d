//! Kinematic module: clean, simulated and self-made states in, the clip's next frame out.

use crate::adamw::adamw;
use crate::dataset::{Dataset, FRAME_RATE_HZ};
use crate::early_stopping::Course;
use crate::epochs::scalar;
use crate::example::{StateSource, write_example};
use crate::finite::Step;
use crate::held_out::{HeldOutErrors, held_out_errors};
use crate::loss_record::LossRecord;
use crate::phase_stage::PhaseReader;
use crate::progress::{MetricsFile, OnEvent, Stage, TrainEvent};
use crate::rollout_pool::{Rollout, RolloutKind};
use crate::run::StageRun;
use crate::sampler::{Sampler, held_out_sampler, practised_sampler, training_sampler};
use crate::stable_ids::{AveragedWeights, with_stable_ids};
use crate::step_rng::step_rng;
use crate::{KinematicStage, Phases, TrainConfig, TrainError, phaseless};
use burn::grad_clipping::GradientClippingConfig;
use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_generator::PhaseReader as LoopPhases;
use pomp_kinematic::{GammaTable, KinematicModel, estimate_gamma};
use pomp_model::{KinematicDescription, OutputSpace, subtract_base};
use pomp_motion::features::{BlockName, FeatureLayout, Normaliser};
use pomp_motion::{GRAVITY_M_S2, Gait};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// Largest norm of each parameter's gradient; a rollout that went astray must not throw the rest.
const LARGEST_GRADIENT: f32 = 1.0;
/// Steps between reports.
const REPORT_EVERY: usize = 100;
/// Steps between held-out measurements and checkpoints. Rollouts begin anew there, so that a resumed run equals
/// one that was not interrupted.
const CHECKPOINT_EVERY: usize = 1000;
/// Steps between models that can be used, a multiple of the above.
const KEEP_EVERY: usize = 4000;
/// Examples that the normalisation is fitted on, at most.
const NORMALISER_EXAMPLES: usize = 20_000;
/// Batches that Γ is estimated on.
const GAMMA_BATCHES: usize = 20;
/// Diffusion steps that each of their examples is noised to.
const GAMMA_DRAWS: usize = 4;

/// Everything that turns examples into normalised rows.
pub(crate) struct Rows<'a> {
    pub dataset: &'a Dataset,
    pub layout: &'a FeatureLayout,
    pub weight_impulse_ns: f32,
    pub description: &'a KinematicDescription,
    pub phases: Phases,
}

/// One example to be written: clip, frame, where the state comes from.
pub(crate) type Example<'a> = (usize, usize, StateSource<'a>);

/// Rows of a batch.
pub(crate) struct Batch {
    /// Inputs in their own units, row-major.
    pub raw_x: Vec<f32>,
    /// Normalised inputs, row-major.
    pub x: Vec<f32>,
    /// Normalised outputs, row-major.
    pub y: Vec<f32>,
}

impl<'a> Rows<'a> {
    pub fn new(
        dataset: &'a Dataset,
        layout: &'a FeatureLayout,
        description: &'a KinematicDescription,
        phases: Phases,
    ) -> Self {
        Self { dataset, layout, weight_impulse_ns: weight_impulse_ns(dataset), description, phases }
    }

    /// The rows of `examples`. Those from `noisy_from` on get noise of the deviations `noise` (in x's normalised unit),
    /// drawn from `seed` and the row's number.
    pub fn fill(&self, examples: &[Example<'_>], noise: Option<Noise<'_>>) -> Batch {
        let (x_len, y_len) = (self.layout.x_len(), self.layout.y_len());
        let rows = examples.len();
        let mut batch =
            Batch { raw_x: vec![0.0; rows * x_len], x: vec![0.0; rows * x_len], y: vec![0.0; rows * y_len] };
        let parts = batch
            .raw_x
            .par_chunks_exact_mut(x_len)
            .zip(batch.x.par_chunks_exact_mut(x_len))
            .zip(batch.y.par_chunks_exact_mut(y_len));
        examples.par_iter().zip(parts).enumerate().for_each(
            |(row, ((clip, frame, source), ((raw, x), y)))| {
                let clip = &self.dataset.clips[*clip];
                write_example(self.layout, clip, *frame, source, self.weight_impulse_ns, raw, y);
                if let Some(noise) = noise.filter(|noise| row >= noise.first_row) {
                    let mut rng = ChaCha8Rng::seed_from_u64(noise.seed.wrapping_add(row as u64));
                    let scales = noise.deviations.iter().zip(self.description.x.deviation());
                    for (value, (deviation, scale)) in raw.iter_mut().zip(scales) {
                        if *deviation > 0.0 {
                            *value += deviation * scale * normal(&mut rng);
                        }
                    }
                }
                self.description.y_to_output(self.layout, raw, y);
                x.copy_from_slice(raw);
                self.description.x.normalise(x);
                if self.phases == Phases::None {
                    phaseless::hide(self.layout, x, y);
                }
            },
        );
        batch
    }

    /// The network's normalised outputs as y in its own units, row by row.
    pub fn outputs_to_y(&self, raw_x: &[f32], y: &mut [f32]) {
        let rows =
            raw_x.par_chunks_exact(self.layout.x_len()).zip(y.par_chunks_exact_mut(self.layout.y_len()));
        rows.for_each(|(x, y)| self.description.output_to_y(self.layout, x, y));
    }
}

/// Noise on the inputs of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Noise<'a> {
    deviations: &'a [f32],
    first_row: usize,
    seed: u64,
}

/// A `[rows, columns]` tensor of row-major values.
pub(crate) fn matrix(values: Vec<f32>, columns: usize, device: &Device) -> Tensor<2> {
    let rows = values.len() / columns;
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}

/// Impulse of the weight during a frame, N·s.
pub(crate) fn weight_impulse_ns(dataset: &Dataset) -> f32 {
    dataset.mass_kg * GRAVITY_M_S2 as f32 / FRAME_RATE_HZ
}

/// Mean and deviation of x and of the network's output over training examples.
pub(crate) fn fit_normalisers(
    dataset: &Dataset,
    layout: &FeatureLayout,
    sampler: &Sampler,
    output: OutputSpace,
) -> (Normaliser, Normaliser) {
    // Odd, so that clean and simulated examples take turns.
    let stride = sampler.len().div_ceil(NORMALISER_EXAMPLES).max(1) | 1;
    let rows: Vec<(Vec<f32>, Vec<f32>)> = (0..sampler.len())
        .step_by(stride)
        .collect::<Vec<_>>()
        .par_iter()
        .map(|&index| {
            let (clip, frame) = sampler.at(index);
            let (mut x, mut y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
            let impulse = weight_impulse_ns(dataset);
            // Simulated states are in: a residual of clean states alone would hardly know corrections.
            let source = if index % 2 == 0 { StateSource::Clean } else { StateSource::Replayed };
            write_example(layout, &dataset.clips[clip], frame, &source, impulse, &mut x, &mut y);
            subtract_base(output, layout, &x, &mut y);
            (x, y)
        })
        .collect();
    (
        Normaliser::fit(layout.x_blocks(), rows.iter().map(|(x, _)| x.as_slice())),
        Normaliser::fit(layout.y_blocks(), rows.iter().map(|(_, y)| y.as_slice())),
    )
}

/// The kinematic module at some point of its training.
pub(crate) struct TrainedKinematic {
    pub network: KinematicModel,
    pub gamma: GammaTable,
    pub description: KinematicDescription,
    pub errors: HeldOutErrors,
}

/// What a training begins with beside its data.
#[derive(Default)]
pub(crate) struct Beginning<'a> {
    /// Weights and normalisation, unless they are fresh.
    pub initial: Option<(KinematicModel, KinematicDescription)>,
    /// What rollouts in the simulator read their phases with; without it codes are the model's own.
    pub loop_phases: Option<&'a LoopPhases>,
}

/// Receives the kinematic module at some point of its training.
type Keep<'a> = &'a mut dyn FnMut(TrainedKinematic) -> Result<(), TrainError>;

/// Trains the kinematic module and hands it to `keep` now and then and at the end.
pub(crate) fn train_kinematic(
    dataset: &mut Dataset,
    run: &StageRun<'_>,
    layout: &FeatureLayout,
    phases: &PhaseReader,
    beginning: Beginning<'_>,
    on_event: OnEvent<'_>,
    keep: Keep<'_>,
) -> Result<(), TrainError> {
    let mut stepper = Stepper::begin(dataset, run, layout, phases, beginning)?;
    let (begun, steps) = (stepper.done, run.config.kinematic.training.steps);
    run.check_steps(Stage::Kinematic, begun, steps)?;
    while stepper.done < steps && !stepper.course.is_over() {
        stepper.turn_to_next(dataset)?;
        stepper = stepper.step(dataset)?;
        if stepper.report(dataset, on_event, keep)?.is_break() {
            return Err(run.stopped(Stage::Kinematic, stepper.done));
        }
        if run.is_rehearsed(stepper.done - begun) {
            return Ok(());
        }
    }
    stepper.finish(dataset, keep)
}

/// What examples are drawn from.
struct Samplers {
    training: Sampler,
    practised: Sampler,
    held_out: Sampler,
}

impl Samplers {
    fn of(dataset: &Dataset, config: &TrainConfig) -> Result<Self, TrainError> {
        Ok(Self {
            training: training_sampler(dataset, config),
            practised: practised_sampler(dataset, config)?,
            held_out: held_out_sampler(dataset, config),
        })
    }
}

/// A training of the kinematic module between two of its steps.
struct Stepper<'a> {
    run: &'a StageRun<'a>,
    layout: &'a FeatureLayout,
    phases: &'a PhaseReader,
    loop_phases: Option<&'a LoopPhases>,
    description: KinematicDescription,
    /// Deviations of the noise on each input.
    noise: Vec<f32>,
    /// Weight of each output in the loss.
    feature_weights: Tensor<1>,
    /// What is kept of the weights that a fine-tuning begins with.
    first: Option<AveragedWeights>,
    metrics: MetricsFile,

    /// Steps done.
    done: usize,
    samplers: Samplers,
    /// Whether the recordings in memory are yet to be those of the next step.
    is_begun_anew: bool,
    model: KinematicModel,
    optimizer: ModuleOptimizer,
    average: AveragedWeights,
    course: Course,
    loss: LossRecord,
    rollouts: Vec<Rollout>,
}

impl<'a> Stepper<'a> {
    /// Fresh weights, those of a fine-tuning, or the last checkpoint.
    fn begin(
        dataset: &mut Dataset,
        run: &'a StageRun<'a>,
        layout: &'a FeatureLayout,
        phases: &'a PhaseReader,
        Beginning { initial, loop_phases }: Beginning<'a>,
    ) -> Result<Self, TrainError> {
        let StageRun { config, device, folder, checkpoint, start, .. } = run;
        let stage = &config.kinematic;
        phases.turn_to(0, dataset)?;
        let training = training_sampler(dataset, config);
        if training.len() < stage.training.batch_size {
            return Err(TrainError::TooLittleData {
                stage: Stage::Kinematic.name(),
                examples: training.len(),
            });
        }
        let samplers = Samplers::of(dataset, config)?;
        let network = stage.network(layout);
        let (initial, (x, y)) = match initial {
            Some((network, described)) => (Some(network), (described.x, described.y)),
            None => (None, fit_normalisers(dataset, layout, &samplers.training, stage.layout.output)),
        };
        let description = KinematicDescription {
            config: network.clone(),
            output: stage.layout.output,
            x,
            y,
            starts: starts(dataset, layout, &samplers.training),
        };
        let autodiff = (*device).clone().autodiff();
        let mut model = with_stable_ids(match initial {
            Some(trained) => trained,
            None => fresh_model(config, layout, &autodiff)?,
        });
        let clipping = GradientClippingConfig::Norm(LARGEST_GRADIENT);
        let mut optimizer = adamw(stage.training.weight_decay, Some(&clipping));
        let mut average = AveragedWeights::new(&model, stage.training.average);
        let first = first_weights(&model, stage.training.kept_of_first, run)?;
        // A rehearsal begins in the middle, where the share of rollouts has grown to what it stays.
        let (mut done, mut best) = (run.rehearsed_after.map_or(0, |_| stage.training.steps / 2), None);
        let mut loss = LossRecord::default();
        if start.resumes()
            && let Some(saved) = checkpoint.load(&model, optimizer.clone())?
        {
            average = AveragedWeights::new(&with_stable_ids(saved.average), stage.training.average);
            (done, best) = (saved.step, saved.best);
            loss = saved.losses.first().copied().unwrap_or_default();
            (model, optimizer) = (with_stable_ids(saved.module), saved.optimizer);
        }
        Ok(Self {
            run,
            layout,
            phases,
            loop_phases,
            description,
            noise: noise_per_feature(layout, stage.states.state_noise, stage.states.context_noise),
            feature_weights: Tensor::from_floats(stage.loss.per_feature(layout).as_slice(), &autodiff),
            first,
            metrics: MetricsFile::open(folder, Stage::Kinematic, done)?,
            done,
            samplers,
            is_begun_anew: true,
            model,
            optimizer,
            average,
            course: run.course(config.early_stopping.kinematic, dataset, best)?,
            loss,
            rollouts: Vec::new(),
        })
    }

    /// Brings the recordings of the next step into memory, where they take turns.
    fn turn_to_next(&mut self, dataset: &mut Dataset) -> Result<(), TrainError> {
        let is_due = self.is_begun_anew || self.done.is_multiple_of(CHECKPOINT_EVERY);
        self.is_begun_anew = false;
        if !dataset.is_streamed() || !is_due {
            return Ok(());
        }
        self.phases.turn_to(turn_of(self.done + 1), dataset)?;
        self.samplers = Samplers::of(dataset, self.run.config)?;
        if self.samplers.training.len() == 0 {
            return Err(TrainError::TooLittleData { stage: Stage::Kinematic.name(), examples: 0 });
        }
        Ok(())
    }

    /// One batch: rollouts on the model's own states, replayed and clean examples.
    fn step(mut self, dataset: &Dataset) -> Result<Self, TrainError> {
        let StageRun { config, device, checkpoint, .. } = self.run;
        let (stage, layout, step) = (&config.kinematic, self.layout, self.done + 1);
        let autodiff = (*device).clone().autodiff();
        let rows = Rows::new(dataset, layout, &self.description, stage.layout.phases);
        let starts = RolloutStarts {
            config,
            anywhere: &self.samplers.training,
            practised: &self.samplers.practised,
            loop_phases: self.loop_phases,
        };
        let mut rng = step_rng(config.seed, Stage::Kinematic, step);
        starts.fill_up(&mut self.rollouts, step, &rows, &mut rng)?;
        let replayed = share_of_batch(stage, stage.states.replayed_share);
        let drawn: Vec<(usize, usize)> = (self.rollouts.len()..stage.training.batch_size)
            .map(|_| self.samplers.training.draw(&mut rng))
            .collect();
        let examples: Vec<Example<'_>> = self
            .rollouts
            .iter()
            .map(|rollout| (rollout.clip, rollout.frame, rollout.source()))
            .chain(drawn.iter().enumerate().map(|(i, &(clip, frame))| {
                (clip, frame, if i < replayed { StateSource::Replayed } else { StateSource::Clean })
            }))
            .collect();
        let noise = Noise { deviations: &self.noise, first_row: self.rollouts.len(), seed: rng.random() };
        let batch = rows.fill(&examples, Some(noise));
        drop(examples);
        let own = self.rollouts.len() * layout.x_len();
        let own_x = batch.x[..own].to_vec();

        let loss = self.model.loss(
            &matrix(batch.x, layout.x_len(), &autodiff),
            &matrix(batch.y, layout.y_len(), &autodiff),
            &self.feature_weights,
            &mut rng,
        );
        let value = scalar(&loss);
        let named = format!("that of step {step}, seed {}", config.seed);
        let checked = Step { stage: Stage::Kinematic, step, batch: &named, checkpoint };
        checked.check_loss(value, &self.model)?;
        self.loss.add(value);
        if !self.rollouts.is_empty() {
            let mut predicted = predict(&self.model.valid(), own_x, layout, device, &mut rng);
            rows.outputs_to_y(&batch.raw_x[..own], &mut predicted);
            advance_rollouts(&mut self.rollouts, &rows, &predicted, &starts, &mut rng)?;
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &self.model);
        checked.check_gradients(&gradients, &self.model)?;
        self.model = self.optimizer.step(learning_rate(stage, step), self.model, gradients);
        self.average.update(&self.model);
        self.done = step;
        Ok(self)
    }

    /// Reports the last step, measures and writes a checkpoint where they are due, and writes one too where the training is
    /// asked to stop.
    fn report(
        &mut self,
        dataset: &Dataset,
        on_event: OnEvent<'_>,
        keep: Keep<'_>,
    ) -> Result<ControlFlow<()>, TrainError> {
        let (step, steps) = (self.done, self.run.config.kinematic.training.steps);
        let is_last = step == steps;
        let is_measured = step.is_multiple_of(CHECKPOINT_EVERY) || is_last;
        let averaged = is_measured.then(|| self.average.apply(self.model.clone()));
        let mut figures = Vec::new();
        if step.is_multiple_of(REPORT_EVERY) || is_last {
            let [mean, smoothed] = self.loss.report();
            figures.extend([("train_loss".to_owned(), mean), ("train_loss_smoothed".to_owned(), smoothed)]);
        }
        if let Some(averaged) = &averaged {
            let errors = self.measure(averaged, dataset, keep)?;
            figures.extend(errors.figures(dataset.measured_on()));
        }
        let figures: Vec<(&str, f32)> = figures.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let event = TrainEvent { stage: Stage::Kinematic, step, steps, figures: &figures };
        self.metrics.write(&event)?;
        let flow = on_event(&event);
        // After the metrics: what a checkpoint stands for has been noted.
        let saved = averaged.or_else(|| flow.is_break().then(|| self.average.apply(self.model.clone())));
        if let Some(averaged) = saved {
            let (best, losses) = (self.course.best(), [self.loss]);
            self.run.checkpoint.save(step, &self.model, &averaged, &self.optimizer, best, &losses)?;
            self.rollouts.clear();
        }
        Ok(flow)
    }

    /// Measures the weights that would be kept now on held-out clips, and keeps them where that is due.
    fn measure(
        &mut self,
        averaged: &KinematicModel,
        dataset: &Dataset,
        keep: Keep<'_>,
    ) -> Result<HeldOutErrors, TrainError> {
        let StageRun { config, device, checkpoint, .. } = self.run;
        let (step, stage) = (self.done, &config.kinematic);
        let rows = Rows::new(dataset, self.layout, &self.description, stage.layout.phases);
        let kept = mixed(self.first.as_ref(), averaged.clone());
        let errors = held_out_errors(&kept.valid(), &rows, &self.samplers.held_out, device, config)?;
        if self.course.measured(step, errors.half_second_cm) {
            checkpoint.save_best(&kept)?;
        }
        if step.is_multiple_of(KEEP_EVERY) && step != stage.training.steps {
            let network = kept.valid();
            let gamma = gamma(&network, &rows, &self.samplers.training, config, device)?;
            keep(TrainedKinematic { network, gamma, description: self.description.clone(), errors })?;
        }
        Ok(errors)
    }

    /// Measures and keeps the weights that the training ends with, also when nothing was left to do.
    fn finish(mut self, dataset: &mut Dataset, keep: Keep<'_>) -> Result<(), TrainError> {
        let StageRun { config, device, checkpoint, .. } = self.run;
        // What is measured last is measured where the last step was.
        if dataset.is_streamed() {
            self.phases.turn_to(turn_of(self.done.max(1)), dataset)?;
            self.samplers.training = training_sampler(dataset, config);
            self.samplers.held_out = held_out_sampler(dataset, config);
        }
        let rows = Rows::new(dataset, self.layout, &self.description, config.kinematic.layout.phases);
        let network = match self.course.best() {
            Some(_) => checkpoint.load_best(&self.model)?,
            None => mixed(self.first.as_ref(), self.average.apply(self.model)),
        };
        let network = network.valid();
        let errors = held_out_errors(&network, &rows, &self.samplers.held_out, device, config)?;
        let gamma = gamma(&network, &rows, &self.samplers.training, config, device)?;
        keep(TrainedKinematic { network, gamma, description: self.description.clone(), errors })
    }
}

/// Weights from the seed.
fn fresh_model(
    config: &TrainConfig,
    layout: &FeatureLayout,
    device: &Device,
) -> Result<KinematicModel, TrainError> {
    let stage = &config.kinematic;
    let fresh = KinematicModel::new(&stage.network(layout), config.seed, device)?;
    Ok(match stage.layout.phases {
        Phases::Codes => fresh,
        Phases::None => phaseless::deafen(fresh, layout),
    })
}

/// Rows of a batch that a share of it makes.
fn share_of_batch(stage: &KinematicStage, share: f32) -> usize {
    (share * stage.training.batch_size as f32) as usize
}

/// What a fine-tuning keeps of the weights that it begins with, if anything: `model`, or in a resumed one what was it then.
fn first_weights(
    model: &KinematicModel,
    share: f32,
    run: &StageRun<'_>,
) -> Result<Option<AveragedWeights>, TrainError> {
    if share == 0.0 {
        return Ok(None);
    }
    let resumed = if run.start.resumes() { run.checkpoint.load_first(model)? } else { None };
    let first = match resumed {
        Some(first) => with_stable_ids(first),
        None => {
            run.checkpoint.save_first(model)?;
            model.clone()
        }
    };
    Ok(Some(AveragedWeights::new(&first, share)))
}

/// The weights that are kept: `averaged`, and their share of the first ones.
fn mixed(first: Option<&AveragedWeights>, averaged: KinematicModel) -> KinematicModel {
    let Some(mut kept) = first.cloned() else { return averaged };
    kept.update(&averaged);
    kept.apply(averaged)
}

/// Which recordings are in memory at a step, when they take turns.
fn turn_of(step: usize) -> usize {
    (step - 1) / CHECKPOINT_EVERY
}

/// Where rollouts begin, and what else they need.
struct RolloutStarts<'a> {
    config: &'a TrainConfig,
    anywhere: &'a Sampler,
    practised: &'a Sampler,
    /// What those with a body read their phases with.
    loop_phases: Option<&'a LoopPhases>,
}

impl RolloutStarts<'_> {
    /// Starts as many rollouts as a batch of this step has room for. Their share grows over the first third of the training.
    fn fill_up(
        &self,
        rollouts: &mut Vec<Rollout>,
        step: usize,
        rows: &Rows<'_>,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), TrainError> {
        let stage = &self.config.kinematic;
        let grown = (3.0 * step as f32 / stage.training.steps as f32).min(1.0);
        for (kind, share) in [
            (RolloutKind::Unhindered, stage.states.rollout_share),
            (RolloutKind::Simulated, stage.simulated_rollouts.share),
        ] {
            let there = rollouts.iter().filter(|rollout| rollout.kind() == kind).count();
            for _ in there..share_of_batch(stage, share * grown) {
                rollouts.push(self.rollout(rows, kind, rng)?);
            }
        }
        Ok(())
    }

    fn rollout(
        &self,
        rows: &Rows<'_>,
        kind: RolloutKind,
        rng: &mut ChaCha8Rng,
    ) -> Result<Rollout, TrainError> {
        let stage = &self.config.kinematic;
        let (sampler, frames) = match kind {
            RolloutKind::Unhindered => (self.anywhere, stage.states.rollout_frames),
            RolloutKind::Simulated => (self.practised, stage.simulated_rollouts.frames),
        };
        let start = sampler.draw(rng);
        let (mut x, mut y) = (vec![0.0; rows.layout.x_len()], vec![0.0; rows.layout.y_len()]);
        let clip = &rows.dataset.clips[start.0];
        let impulse = rows.weight_impulse_ns;
        write_example(rows.layout, clip, start.1, &StateSource::Clean, impulse, &mut x, &mut y);
        let rollout = Rollout::start(rows.dataset, rows.layout, start, frames, &x, rng);
        match kind {
            RolloutKind::Unhindered => Ok(rollout),
            RolloutKind::Simulated => {
                rollout.with_body(rows.dataset, &stage.simulated_rollouts, self.loop_phases, rng.random())
            }
        }
    }
}

/// The network's normalised output from pure noise in a single step, row-major.
pub(crate) fn predict(
    model: &KinematicModel,
    x: Vec<f32>,
    layout: &FeatureLayout,
    device: &Device,
    rng: &mut ChaCha8Rng,
) -> Vec<f32> {
    let rows = x.len() / layout.x_len();
    let noise: Vec<f32> = (0..rows * layout.y_len()).map(|_| normal(rng)).collect();
    let context = model.encode(&matrix(x, layout.x_len(), device), None);
    let steps = vec![model.schedule().steps(); rows];
    let clean = model.predict_clean(&context, matrix(noise, layout.y_len(), device), &steps);
    clean.try_into_vec_as::<f32>().expect("predictions are floating-point numbers")
}

fn advance_rollouts(
    rollouts: &mut [Rollout],
    rows: &Rows<'_>,
    predicted: &[f32],
    starts: &RolloutStarts<'_>,
    rng: &mut ChaCha8Rng,
) -> Result<(), TrainError> {
    let margin = starts.config.margin_frames;
    let alive: Vec<bool> = rollouts
        .par_iter_mut()
        .zip(predicted.par_chunks_exact(rows.layout.y_len()))
        .map(|(rollout, y)| rollout.advance(rows.dataset, rows.layout, y, margin))
        .collect();
    for (rollout, alive) in rollouts.iter_mut().zip(alive) {
        if !alive {
            *rollout = starts.rollout(rows, rollout.kind(), rng)?;
        }
    }
    Ok(())
}

fn learning_rate(stage: &KinematicStage, step: usize) -> f64 {
    let rise = (step as f64 / stage.training.warm_up_steps.max(1) as f64).min(1.0);
    let fall = 0.5 * (1.0 + (std::f64::consts::PI * step as f64 / stage.training.steps as f64).cos());
    stage.training.learning_rate * rise * fall.max(0.01)
}

fn noise_per_feature(layout: &FeatureLayout, state: f32, context: f32) -> Vec<f32> {
    let mut noise = vec![0.0; layout.x_len()];
    for block in layout.x_blocks() {
        noise[block.range.clone()].fill(match block.name {
            BlockName::JointPositions
            | BlockName::JointVelocities
            | BlockName::JointRotations
            | BlockName::RootMotion => state,
            BlockName::PhaseCodes | BlockName::Trajectory | BlockName::ContactImpulses => context,
            BlockName::Gait | BlockName::TerrainHeights | BlockName::PhaseParameters => 0.0,
        });
    }
    noise
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f32 {
    let (u, v): (f32, f32) = (1.0 - rng.random::<f32>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f32::consts::TAU * v).cos()
}

fn gamma(
    model: &KinematicModel,
    rows: &Rows<'_>,
    sampler: &Sampler,
    config: &TrainConfig,
    device: &Device,
) -> Result<GammaTable, TrainError> {
    let mut rng = step_rng(config.seed, Stage::Kinematic, 0);
    let batches: Vec<(Tensor<2>, Tensor<2>)> = (0..GAMMA_BATCHES)
        .map(|_| {
            let examples: Vec<_> = (0..config.kinematic.training.batch_size)
                .map(|_| {
                    let (clip, frame) = sampler.draw(&mut rng);
                    (clip, frame, StateSource::Clean)
                })
                .collect();
            let batch = rows.fill(&examples, None);
            (matrix(batch.x, rows.layout.x_len(), device), matrix(batch.y, rows.layout.y_len(), device))
        })
        .collect();
    Ok(estimate_gamma(model, batches, GAMMA_DRAWS, &mut rng)?)
}

/// Inputs at which a rollout may start: for each gait the frame whose surroundings are most purely of it and whose
/// speed is nearest to the gait's own.
fn starts(dataset: &Dataset, layout: &FeatureLayout, sampler: &Sampler) -> BTreeMap<String, Vec<f32>> {
    let wanted = [(Gait::Stand, 0.0), (Gait::Walk, 1.2), (Gait::Jog, 2.4)];
    let mut starts = BTreeMap::new();
    for (gait, speed) in wanted {
        let cost = |index: usize| {
            let (clip, frame) = sampler.at(index);
            let clip = &dataset.clips[clip];
            let window: Range<usize> = frame.saturating_sub(60)..(frame + 60).min(clip.frames());
            let foreign: f32 =
                window.clone().map(|f| 1.0 - clip.recording.gait[f][gait.index()]).sum::<f32>()
                    / window.len() as f32;
            let beyond = (120 - window.len()) as f32 / 120.0;
            let state = &clip.clean[frame];
            let level = clip.terrain.min_max();
            foreign * 10.0
                + beyond * 2.0
                + (state.root_velocity.length() - speed).abs()
                + 0.3 * state.yaw_rate.abs()
                + 3.0 * (level.1 - level.0).min(1.0)
        };
        let best = (0..sampler.len()).map(|i| (cost(i), i)).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((cost, index)) = best else { continue };
        if cost > 6.0 {
            continue;
        }
        let (clip, frame) = sampler.at(index);
        let (mut x, mut y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
        let clip = &dataset.clips[clip];
        write_example(layout, clip, frame, &StateSource::Clean, weight_impulse_ns(dataset), &mut x, &mut y);
        starts.insert(gait.name().to_owned(), x);
    }
    starts
}
