//! Controllers with blended experts: the examples and rollouts of the kinematic stage, another network, no diffusion.

use crate::adamw::adamw;
use crate::checkpoint::Checkpoint;
use crate::controller_config::ControllerConfig;
use crate::controller_place::ControllerPlace;
use crate::controller_view::{LedView, View};
use crate::dataset::{Dataset, TrainingClip};
use crate::epochs::scalar;
use crate::example::StateSource;
use crate::finite::Step;
use crate::gait_direction::GaitDirections;
use crate::gait_starts::gait_starts;
use crate::held_out::{HeldOutErrors, measure_held_out};
use crate::kinematic_stage::{LARGEST_GRADIENT, learning_rate};
use crate::loss_record::LossRecord;
use crate::own_window::ClipCommand;
use crate::phase_stage::PhaseReader;
use crate::progress::{MetricsFile, OnEvent, Stage, TrainEvent};
use crate::rollout_pool::Rollout;
use crate::rollout_starts::{RolloutStarts, advance_rollouts, share_of_batch};
use crate::rows::{Batch, Example, Noise, Rows, fit_normalisers, noise_per_feature};
use crate::sampler::{Sampler, held_out_sampler, practised_sampler, training_sampler};
use crate::stable_ids::{AveragedWeights, with_stable_ids};
use crate::step_rng::step_rng;
use crate::unroll::{LedPhases, OwnPhases, Unroll};
use crate::{Phases, Start, TrainConfig, TrainError};
use burn::grad_clipping::GradientClippingConfig;
use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Device;
use pomp_controllers::ControllerKind;
use pomp_controllers::gated::{
    GatedDescription, GatedModel, GatedNetwork, PhaseTable, cycle_phase, limb_phases,
};
use pomp_files::Digest;
use pomp_model::{KinematicDescription, OutputSpace};
use pomp_motion::features::{FeatureLayout, Rotations};
use pomp_motion::humanoid;
use pomp_tensors::keep_freed_memory;
use rand::RngExt;
use std::collections::BTreeMap;
use std::path::Path;

/// Steps between reports.
const REPORT_EVERY: usize = 100;
/// Steps between held-out measurements and checkpoints; rollouts begin anew there.
const CHECKPOINT_EVERY: usize = 1000;

/// Trains a controller on `dataset` into the model folder `out`, and gives it. Its file is `controllers/KIND.safetensors`; metrics and
/// checkpoints are in `controllers/KIND`. The controller of the model's phases needs a trained periodic autoencoder in `out`.
///
/// # Errors
/// A setting outside its range; a controller of this kind that is there already, unless it is resumed or overwritten; a checkpoint
/// of other settings or data; no data to learn from; a loss that is no longer a number; or a folder that cannot be written.
/// [`TrainError::Stopped`] when `on_event` asks for it.
pub fn train_controller(
    dataset: &mut Dataset,
    config: &ControllerConfig,
    start: Start,
    out: &Path,
    device: &Device,
    on_event: OnEvent<'_>,
) -> Result<GatedModel, TrainError> {
    config.validate()?;
    keep_freed_memory();
    let place = ControllerPlace::new(config.kind, out)?;
    let checkpoint = Checkpoint::new(&place.folder, Stage::Controller, &run_hash(config, dataset));
    place.begin(&checkpoint, start)?;
    let reading = config.reading();
    let layout = read_phases(dataset, config.kind, out, device)?;
    let training =
        Training { config, reading: &reading, layout: &layout, device, folder: &place.folder, checkpoint };
    let model = training.run(dataset, start, on_event)?;
    model.save(&place.file).map_err(pomp_model::ModelError::from)?;
    Ok(model)
}

/// Identifies what a checkpoint rests on; a training may grow.
fn run_hash(config: &ControllerConfig, dataset: &Dataset) -> String {
    let mut settings = serde_json::to_value(config).expect("a config is plain data");
    settings["training"]["steps"] = serde_json::Value::Null;
    Digest::of(format!("{settings}\n{}", dataset.hash)).short()
}

/// Gives all clips the phases of a kind of controller; the layout with as many channels.
fn read_phases(
    dataset: &mut Dataset,
    kind: ControllerKind,
    out: &Path,
    device: &Device,
) -> Result<FeatureLayout, TrainError> {
    let layout = |dataset: &Dataset, channels| {
        FeatureLayout::new(dataset.skeleton.len(), dataset.body_names.len(), channels, Rotations::SixD)
    };
    let mut give = |phases: fn(&TrainingClip) -> PhaseTable, channels| {
        for clip in &mut dataset.clips {
            let table = phases(clip);
            (clip.phase_codes, clip.phase_parameters) = (table.codes, table.parameters);
        }
        Ok(layout(dataset, channels))
    };
    match kind {
        // What decides MANN's blend is no phase; it is shown none.
        ControllerKind::Pfnn | ControllerKind::Mann | ControllerKind::Nsm => {
            give(|clip| cycle_phase(&clip.recording.foot_contact), 1)
        }
        ControllerKind::LocalPhases => {
            give(|clip| limb_phases(&clip.recording.foot_contact, &foot_speeds(clip)), 2)
        }
        ControllerKind::Phase => {
            let (reader, channels) = PhaseReader::of_model(out, kind, device)?;
            reader.read(dataset)?;
            Ok(layout(dataset, channels))
        }
        _ => Err(TrainError::BadConfig {
            field: "kind",
            value: kind.name().to_owned(),
            range: "a controller with blended experts: phase, pfnn, mann, local-phases or nsm",
        }),
    }
}

/// Speeds of the faster of ankle and toe of each foot, m/s.
fn foot_speeds(clip: &TrainingClip) -> Vec<[f32; 2]> {
    let feet = [[humanoid::LEFT_FOOT, humanoid::LEFT_TOE], [humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE]];
    clip.clean
        .iter()
        .map(|state| {
            feet.map(|foot| {
                foot.map(|joint| state.velocities_root[joint.0].length()).into_iter().fold(0.0, f32::max)
            })
        })
        .collect()
}

/// What a training of a controller is told.
struct Training<'a> {
    config: &'a ControllerConfig,
    /// How examples are read, in the words of the kinematic stage.
    reading: &'a TrainConfig,
    layout: &'a FeatureLayout,
    device: &'a Device,
    folder: &'a Path,
    checkpoint: Checkpoint,
}

/// What its steps change.
struct Progress {
    done: usize,
    model: GatedNetwork,
    optimizer: ModuleOptimizer,
    average: AveragedWeights,
    loss: LossRecord,
    /// Rollouts whose single frames are learned from.
    rollouts: Vec<Rollout>,
    /// Those with gradients through time.
    unrolled: Vec<Rollout>,
}

impl Training<'_> {
    fn run(&self, dataset: &Dataset, start: Start, on_event: OnEvent<'_>) -> Result<GatedModel, TrainError> {
        let samplers = [training_sampler(dataset, self.reading), held_out_sampler(dataset, self.reading)];
        let batch_size = self.config.training.batch_size;
        if samplers[0].len() < batch_size {
            return Err(TrainError::TooLittleData {
                stage: self.config.kind.name(),
                examples: samplers[0].len(),
            });
        }
        let mut description = self.describe(dataset, &samplers[0]);
        let normalised = self.normalised(&description);
        let rows = Rows::new(dataset, self.layout, &normalised, Phases::Codes);
        let view = View::new(self.config.kind, &description, self.reading);
        let practised = practised_sampler(dataset, self.reading)?;
        let starts = RolloutStarts::of_clips(self.reading, (&samplers[0], &practised), None);
        let astray_rad = self.config.unrolling.astray_rad;
        let unrolling = &self.config.unrolling;
        let directions = GaitDirections::of(dataset, self.reading.margin_frames, unrolling);
        let kept = directions.as_ref().map(|directions| (unrolling.kept_share, directions));
        let astray = RolloutStarts { astray_rad, own_windows: true, kept, ..starts };
        let unrolls = self.config.unrolling.windows > 0;
        let commands = if unrolls { ClipCommand::of_all(dataset) } else { Vec::new() };
        let unroll = unrolls.then(|| {
            let device = self.device.clone().autodiff();
            let (steps, unrolling) = (self.config.training.steps, self.config.unrolling);
            let phases = match self.config.kind {
                ControllerKind::Phase | ControllerKind::LocalPhases => {
                    LedPhases::Updated(Box::new(OwnPhases::new(&view, &rows, &device)))
                }
                ControllerKind::Nsm => LedPhases::Turned,
                _ => LedPhases::OfRollout,
            };
            let loss = (view.weights(&device), phases);
            Unroll::new(unrolling, steps, (&rows, &astray), loss, &commands, &device)
        });
        let mut progress = self.begin(&description, start)?;
        let mut metrics = MetricsFile::open(self.folder, Stage::Controller, progress.done)?;
        let steps = self.config.training.steps;
        if progress.done > steps {
            let (stage, folder) = (Stage::Controller.name(), self.folder.to_path_buf());
            return Err(TrainError::FewerSteps { stage, done: progress.done, asked: steps, folder });
        }
        let measure = |network: &GatedNetwork| {
            let mut predict = |batch: &Batch| view.predict(network, batch, self.layout, self.device);
            measure_held_out(&mut predict, &rows, &samplers[1], self.reading)
        };
        while progress.done < steps {
            progress = self.step(progress, &view, unroll.as_ref(), &rows, &starts)?;
            let (step, is_last) = (progress.done, progress.done == steps);
            let is_measured = step.is_multiple_of(CHECKPOINT_EVERY) || is_last;
            let mut figures = Vec::new();
            if step.is_multiple_of(REPORT_EVERY) || is_last {
                let [mean, smoothed] = progress.loss.report();
                figures
                    .extend([("train_loss".to_owned(), mean), ("train_loss_smoothed".to_owned(), smoothed)]);
            }
            let averaged = is_measured.then(|| progress.average.apply(progress.model.clone()));
            if let Some(averaged) = &averaged {
                figures.extend(measure(&averaged.valid())?.figures(dataset.measured_on()));
            }
            let figures: Vec<(&str, f32)> = figures.iter().map(|(name, v)| (name.as_str(), *v)).collect();
            let event = TrainEvent { stage: Stage::Controller, step, steps, figures: &figures };
            metrics.write(&event)?;
            let stops = on_event(&event).is_break();
            if averaged.is_some() || stops {
                let averaged = averaged.unwrap_or_else(|| progress.average.apply(progress.model.clone()));
                let Progress { model, optimizer, loss, .. } = &progress;
                self.checkpoint.save(step, model, &averaged, optimizer, None, &[*loss])?;
                progress.rollouts.clear();
                progress.unrolled.clear();
            }
            if stops {
                let (stage, folder) = (Stage::Controller.name(), self.folder.to_path_buf());
                return Err(TrainError::Stopped { stage, step, folder });
            }
        }
        let network = progress.average.apply(progress.model).valid();
        let errors: HeldOutErrors = measure(&network)?;
        description.metrics = errors.figures(dataset.measured_on()).into_iter().collect();
        Ok(GatedModel { description, network })
    }

    fn describe(&self, dataset: &Dataset, sampler: &Sampler) -> GatedDescription {
        let (x, y) = fit_normalisers(dataset, self.layout, sampler, OutputSpace::Residual);
        GatedDescription {
            kind: self.config.kind,
            made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
            config: serde_json::to_value(self.config).expect("a config is plain data"),
            seed: self.config.seed,
            data_hash: dataset.hash.clone(),
            data: dataset.provenance(),
            sizes: self.config.sizes.clone(),
            layout: self.layout.clone(),
            x,
            y,
            starts: gait_starts(dataset, self.layout, sampler),
            metrics: BTreeMap::new(),
        }
    }

    /// The normalisation, as the rows of examples know it.
    fn normalised(&self, description: &GatedDescription) -> KinematicDescription {
        KinematicDescription {
            config: self.reading.kinematic.network(self.layout),
            output: OutputSpace::Residual,
            x: description.x.clone(),
            y: description.y.clone(),
            starts: BTreeMap::new(),
        }
    }

    /// Fresh weights, or those of the checkpoint.
    fn begin(&self, description: &GatedDescription, start: Start) -> Result<Progress, TrainError> {
        let autodiff = self.device.clone().autodiff();
        let mut model = with_stable_ids(description.fresh(&autodiff).map_err(pomp_model::ModelError::from)?);
        let clipping = GradientClippingConfig::Norm(LARGEST_GRADIENT);
        let mut optimizer = adamw(self.config.training.weight_decay, Some(&clipping));
        let mut average = AveragedWeights::new(&model, self.config.training.average);
        let (mut done, mut loss) = (0, LossRecord::default());
        if start.resumes()
            && let Some(saved) = self.checkpoint.load(&model, optimizer.clone())?
        {
            average = AveragedWeights::new(&with_stable_ids(saved.average), self.config.training.average);
            (done, loss) = (saved.step, saved.losses.first().copied().unwrap_or_default());
            (model, optimizer) = (with_stable_ids(saved.module), saved.optimizer);
        }
        Ok(Progress { done, model, optimizer, average, loss, rollouts: Vec::new(), unrolled: Vec::new() })
    }

    /// One batch: rollouts on the network's own states, replayed and clean examples.
    fn step(
        &self,
        mut progress: Progress,
        view: &View,
        unroll: Option<&Unroll<'_>>,
        rows: &Rows<'_>,
        starts: &RolloutStarts<'_>,
    ) -> Result<Progress, TrainError> {
        let (stage, layout, step) = (&self.reading.kinematic, self.layout, progress.done + 1);
        let autodiff = self.device.clone().autodiff();
        let mut rng = step_rng(self.config.seed, Stage::Controller, step);
        starts.fill_up(&mut progress.rollouts, step, rows, &mut rng)?;
        let replayed = share_of_batch(stage, stage.states.replayed_share);
        let drawn: Vec<(usize, usize)> = (progress.rollouts.len()..stage.training.batch_size)
            .map(|_| starts.anywhere.draw(&mut rng))
            .collect();
        let led = progress.rollouts.iter().map(|rollout| (rollout.clip, rollout.frame, rollout.source()));
        let examples: Vec<Example<'_>> = led
            .chain(drawn.iter().enumerate().map(|(i, &(clip, frame))| {
                (clip, frame, if i < replayed { StateSource::Replayed } else { StateSource::Clean })
            }))
            .collect();
        let deviations = noise_per_feature(layout, stage.states.state_noise, stage.states.context_noise);
        let noise = Noise { deviations: &deviations, first_row: progress.rollouts.len(), seed: rng.random() };
        let batch = rows.fill(&examples, Some(noise));
        drop(examples);
        let [x, gate] = [view.experts(&batch, layout, &autodiff), view.gate(&batch, layout, &autodiff)];
        let y = view.wanted(&batch, layout, &autodiff);
        let predicted = progress.model.forward(&x, &gate, Some(&mut rng));
        let error = (predicted - y) * view.weights(&autodiff);
        let mut loss = (error.clone() * error).mean();
        if let Some(unroll) = unroll {
            let leader = LedView::new(&progress.model, view, layout, &autodiff);
            let far = unroll.loss(&leader, step, &mut progress.unrolled, &mut rng)?;
            loss = loss + far * self.config.unrolling.weight;
        }
        let value = scalar(&loss);
        let named = format!("that of step {step}, seed {}", self.config.seed);
        let checked = Step { stage: Stage::Controller, step, batch: &named, checkpoint: &self.checkpoint };
        checked.check_loss(value, &progress.model)?;
        progress.loss.add(value);
        if !progress.rollouts.is_empty() {
            let led = batch.first(progress.rollouts.len(), layout);
            let mut predicted = view.predict(&progress.model.valid(), &led, layout, self.device);
            rows.outputs_to_y(&led.raw_x, &mut predicted);
            advance_rollouts(&mut progress.rollouts, rows, &predicted, starts, &mut rng)?;
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &progress.model);
        checked.check_gradients(&gradients, &progress.model)?;
        progress.model = progress.optimizer.step(learning_rate(stage, step), progress.model, gradients);
        progress.average.update(&progress.model);
        progress.done = step;
        Ok(progress)
    }
}
