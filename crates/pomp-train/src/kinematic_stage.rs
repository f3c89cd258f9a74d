//! Kinematic module: clean, simulated and self-made states in, the clip's next frame out.

use crate::dataset::Dataset;
use crate::early_stopping::Course;
use crate::example::StateSource;
use crate::finite::Step;
use crate::gait_direction::GaitDirections;
use crate::gait_starts::gait_starts;
use crate::held_out::{HeldOutErrors, held_out_errors};
use crate::learner::{Learner, Learning, Length, Reported, Reports};
use crate::own_window::ClipCommand;
use crate::phase_stage::PhaseReader;
use crate::progress::{OnEvent, Stage};
use crate::rollout_pool::Rollout;
use crate::rollout_starts::{RolloutStarts, advance_rollouts};
use crate::rows::{Batch, Rows, fit_normalisers, matrix, noise_per_feature, normal};
use crate::run::StageRun;
use crate::sampler::{Sampler, held_out_sampler, practised_sampler, training_sampler};
use crate::stable_ids::{AveragedWeights, with_stable_ids};
use crate::step_rng::step_rng;
use crate::unroll::{Leader, LedPhases, Unroll};
use crate::{KinematicStage, KinematicTraining, Phases, TrainConfig, TrainError, phaseless};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use pomp_generator::PhaseReader as LoopPhases;
use pomp_kinematic::{DecoderContext, GammaTable, KinematicModel, estimate_gamma};
use pomp_model::KinematicDescription;
use pomp_motion::features::FeatureLayout;
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;

/// Steps between held-out measurements and checkpoints. Rollouts begin anew there, so that a resumed run equals
/// one that was not interrupted.
const CHECKPOINT_EVERY: usize = 1000;
/// Steps between models that can be used, a multiple of the above.
const KEEP_EVERY: usize = 4000;
/// Batches that Γ is estimated on.
const GAMMA_BATCHES: usize = 20;
/// Diffusion steps that each of their examples is noised to.
const GAMMA_DRAWS: usize = 4;

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
    /// What rollouts in the simulator, and those with gradients through time, read their phases with; without it codes are the model's
    /// own.
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
    let begun = stepper.learner.done;
    while stepper.reports.goes_on(&stepper.learner) && !stepper.course.is_over() {
        stepper.turn_to_next(dataset)?;
        stepper = stepper.step(dataset)?;
        if stepper.report(dataset, on_event, keep)?.is_break() {
            return Err(stepper.reports.stopped(stepper.learner.done));
        }
        if run.is_rehearsed(stepper.learner.done - begun) {
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
    /// Gait and direction in the clips, where rollouts are kept at them.
    directions: Option<GaitDirections>,
}

impl Samplers {
    fn of(dataset: &Dataset, config: &TrainConfig) -> Result<Self, TrainError> {
        Ok(Self {
            training: training_sampler(dataset, config),
            practised: practised_sampler(dataset, config)?,
            held_out: held_out_sampler(dataset, config),
            directions: GaitDirections::of(dataset, config.margin_frames, &config.kinematic.unrolling),
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
    reports: Reports,

    learner: Learner<KinematicModel>,
    samplers: Samplers,
    /// Whether the recordings in memory are yet to be those of the next step.
    is_begun_anew: bool,
    course: Course,
    /// Rollouts whose single frames are learned from.
    rollouts: Vec<Rollout>,
    /// Those with gradients through time.
    unrolled: Vec<Rollout>,
    /// What the paths of the clips in memory would be as commands; empty where nothing is unrolled.
    commands: Vec<ClipCommand>,
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
            starts: gait_starts(dataset, layout, &samplers.training),
        };
        let autodiff = (*device).clone().autodiff();
        let model = with_stable_ids(match initial {
            Some(trained) => trained,
            None => fresh_model(config, layout, &autodiff)?,
        });
        let first = first_weights(&model, stage.training.kept_of_first, run)?;
        let KinematicTraining { steps, weight_decay, average, .. } = stage.training;
        let (mut learner, best) =
            Learner::begin(model, Learning { weight_decay, average }, checkpoint, *start)?;
        if run.rehearsed_after.is_some() {
            // In the middle, where the share of rollouts has grown to what it stays.
            learner.done = steps / 2;
        }
        let length = Length { steps, measured_every: CHECKPOINT_EVERY };
        Ok(Self {
            run,
            layout,
            phases,
            loop_phases,
            description,
            noise: noise_per_feature(layout, stage.states.state_noise, stage.states.context_noise),
            feature_weights: Tensor::from_floats(stage.loss.per_feature(layout).as_slice(), &autodiff),
            first,
            reports: Reports::open(Stage::Kinematic, learner.done, length, folder, folder)?,
            learner,
            samplers,
            is_begun_anew: true,
            course: run.course(config.early_stopping.kinematic, dataset, best)?,
            rollouts: Vec::new(),
            unrolled: Vec::new(),
            commands: commands(dataset, config),
        })
    }

    /// Brings the recordings of the next step into memory, where they take turns.
    fn turn_to_next(&mut self, dataset: &mut Dataset) -> Result<(), TrainError> {
        let is_due = self.is_begun_anew || self.learner.done.is_multiple_of(CHECKPOINT_EVERY);
        self.is_begun_anew = false;
        if !dataset.is_streamed() || !is_due {
            return Ok(());
        }
        self.phases.turn_to(turn_of(self.learner.done + 1), dataset)?;
        self.samplers = Samplers::of(dataset, self.run.config)?;
        self.commands = commands(dataset, self.run.config);
        if self.samplers.training.len() == 0 {
            return Err(TrainError::TooLittleData { stage: Stage::Kinematic.name(), examples: 0 });
        }
        Ok(())
    }

    /// One batch: rollouts on the model's own states, replayed and clean examples.
    fn step(mut self, dataset: &Dataset) -> Result<Self, TrainError> {
        let StageRun { config, device, checkpoint, .. } = self.run;
        let (stage, layout, step) = (&config.kinematic, self.layout, self.learner.done + 1);
        let autodiff = (*device).clone().autodiff();
        let rows = Rows::new(dataset, layout, &self.description, stage.layout.phases);
        let samplers = (&self.samplers.training, &self.samplers.practised);
        let starts = RolloutStarts::of_clips(config, samplers, self.loop_phases);
        let mut rng = step_rng(config.seed, Stage::Kinematic, step);
        starts.fill_up(&mut self.rollouts, step, &rows, &mut rng)?;
        let batch = starts.batch(&self.rollouts, &self.noise, &rows, &mut rng);
        let own = self.rollouts.len() * layout.x_len();
        let own_x = batch.x[..own].to_vec();

        let mut loss = self.learner.module.loss(
            &matrix(batch.x, layout.x_len(), &autodiff),
            &matrix(batch.y, layout.y_len(), &autodiff),
            &self.feature_weights,
            &mut rng,
        );
        if stage.unrolling.windows > 0 {
            let kept =
                self.samplers.directions.as_ref().map(|directions| (stage.unrolling.kept_share, directions));
            let astray =
                RolloutStarts { astray_rad: stage.unrolling.astray_rad, own_windows: true, kept, ..starts };
            let weighed = (self.feature_weights.clone().unsqueeze(), LedPhases::OfRollout);
            let (steps, through) = (stage.training.steps, (&rows, &astray));
            let unroll = Unroll::new(stage.unrolling, steps, through, weighed, &self.commands, &autodiff);
            let leader = LedModule { model: &self.learner.module, layout, device: &autodiff };
            loss = loss + unroll.loss(&leader, step, &mut self.unrolled, &mut rng)? * stage.unrolling.weight;
        }
        let named = format!("that of step {step}, seed {}", config.seed);
        let checked = Step { stage: Stage::Kinematic, step, batch: &named, checkpoint };
        self.learner.note(&loss, &checked)?;
        if !self.rollouts.is_empty() {
            let mut predicted = predict(&self.learner.module.valid(), own_x, layout, device, &mut rng);
            rows.outputs_to_y(&batch.raw_x[..own], &mut predicted);
            advance_rollouts(&mut self.rollouts, &rows, &predicted, &starts, &mut rng)?;
        }
        self.learner = self.learner.descend(&loss, learning_rate(stage, step), &checked)?;
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
        let measured = match self.reports.to_measure(&self.learner) {
            Some(averaged) => {
                let errors = self.measure(&averaged, dataset, keep)?;
                Some((averaged, errors.figures(dataset.measured_on())))
            }
            None => None,
        };
        let Reported { averaged, flow } = self.reports.tell(&mut self.learner, measured, on_event)?;
        if let Some(averaged) = averaged {
            self.learner.save(&averaged, self.course.best(), &self.run.checkpoint)?;
            self.rollouts.clear();
            self.unrolled.clear();
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
        let (step, stage) = (self.learner.done, &config.kinematic);
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
            self.phases.turn_to(turn_of(self.learner.done.max(1)), dataset)?;
            self.samplers.training = training_sampler(dataset, config);
            self.samplers.held_out = held_out_sampler(dataset, config);
        }
        let rows = Rows::new(dataset, self.layout, &self.description, config.kinematic.layout.phases);
        let network = match self.course.best() {
            Some(_) => checkpoint.load_best(&self.learner.module)?,
            None => mixed(self.first.as_ref(), self.learner.averaged()),
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

/// The commands of the clips in memory, where characters are led by them.
fn commands(dataset: &Dataset, config: &TrainConfig) -> Vec<ClipCommand> {
    if config.kinematic.unrolling.windows > 0 { ClipCommand::of_all(dataset) } else { Vec::new() }
}

/// The kinematic module as it leads characters: one denoising step from pure noise, which is the mean of what may come.
struct LedModule<'a> {
    model: &'a KinematicModel,
    layout: &'a FeatureLayout,
    device: &'a Device,
}

impl Leader for LedModule<'_> {
    fn outputs(&self, x: &Tensor<2>, _: &Batch, rng: &mut ChaCha8Rng) -> Tensor<2> {
        from_noise(self.model, &self.model.encode(x, None), self.device, rng)
    }

    fn wanted(&self, batch: &Batch) -> Tensor<2> {
        matrix(batch.y.clone(), self.layout.y_len(), self.device)
    }

    fn y(&self, outputs: Vec<f32>, _: &Batch) -> Vec<f32> {
        outputs
    }
}

/// The normalised output from pure noise in a single step.
pub(crate) fn from_noise(
    model: &KinematicModel,
    context: &DecoderContext,
    device: &Device,
    rng: &mut ChaCha8Rng,
) -> Tensor<2> {
    let (rows, width) = (context.rows(), model.config().output_size);
    let noise: Vec<f32> = (0..rows * width).map(|_| normal(rng)).collect();
    model.predict_clean(context, matrix(noise, width, device), &vec![model.schedule().steps(); rows])
}

/// Which recordings are in memory at a step, when they take turns.
fn turn_of(step: usize) -> usize {
    (step - 1) / CHECKPOINT_EVERY
}

/// The network's normalised output from pure noise in a single step, row-major.
pub(crate) fn predict(
    model: &KinematicModel,
    x: Vec<f32>,
    layout: &FeatureLayout,
    device: &Device,
    rng: &mut ChaCha8Rng,
) -> Vec<f32> {
    let context = model.encode(&matrix(x, layout.x_len(), device), None);
    let clean = from_noise(model, &context, device, rng);
    clean.try_into_vec_as::<f32>().expect("predictions are floating-point numbers")
}

pub(crate) fn learning_rate(stage: &KinematicStage, step: usize) -> f64 {
    let rise = (step as f64 / stage.training.warm_up_steps.max(1) as f64).min(1.0);
    let fall = 0.5 * (1.0 + (std::f64::consts::PI * step as f64 / stage.training.steps as f64).cos());
    stage.training.learning_rate * rise * fall.max(0.01)
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
