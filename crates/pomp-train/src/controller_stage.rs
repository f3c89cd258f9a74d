//! Controllers with blended experts: the examples and rollouts of the kinematic stage, another network, no diffusion.

use crate::checkpoint::Checkpoint;
use crate::controller_config::ControllerConfig;
use crate::controller_place::ControllerPlace;
use crate::controller_view::{LedView, View};
use crate::dataset::{Dataset, TrainingClip};
use crate::finite::Step;
use crate::gait_direction::GaitDirections;
use crate::gait_starts::gait_starts;
use crate::held_out::{HeldOutErrors, measure_held_out};
use crate::kinematic_stage::learning_rate;
use crate::learner::{Learner, Learning, Length, Reported, Reports};
use crate::own_window::ClipCommand;
use crate::phase_stage::PhaseReader;
use crate::progress::{OnEvent, Stage};
use crate::rollout_pool::Rollout;
use crate::rollout_starts::{RolloutStarts, advance_rollouts};
use crate::rows::{Batch, Rows, fit_normalisers, noise_per_feature};
use crate::sampler::{Sampler, held_out_sampler, practised_sampler, training_sampler};
use crate::step_rng::step_rng;
use crate::unroll::{LedPhases, OwnPhases, Unroll};
use crate::{KinematicTraining, Phases, Start, TrainConfig, TrainError};
use burn::module::Module;
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
use std::collections::BTreeMap;
use std::path::Path;

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
    learner: Learner<GatedNetwork>,
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
        let length = Length { steps: self.config.training.steps, measured_every: CHECKPOINT_EVERY };
        let done = progress.learner.done;
        let mut reports = Reports::open(Stage::Controller, done, length, self.folder, self.folder)?;
        let measure = |network: &GatedNetwork| {
            let mut predict = |batch: &Batch| view.predict(network, batch, self.layout, self.device);
            measure_held_out(&mut predict, &rows, &samplers[1], self.reading)
        };
        while reports.goes_on(&progress.learner) {
            progress = self.step(progress, &view, unroll.as_ref(), &rows, &starts)?;
            let measured = match reports.to_measure(&progress.learner) {
                Some(averaged) => {
                    let figures = measure(&averaged.valid())?.figures(dataset.measured_on());
                    Some((averaged, figures))
                }
                None => None,
            };
            let Reported { averaged, flow } = reports.tell(&mut progress.learner, measured, on_event)?;
            if let Some(averaged) = averaged {
                progress.learner.save(&averaged, None, &self.checkpoint)?;
                progress.rollouts.clear();
                progress.unrolled.clear();
            }
            if flow.is_break() {
                return Err(reports.stopped(progress.learner.done));
            }
        }
        let network = progress.learner.averaged().valid();
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
        let fresh = description.fresh(&autodiff).map_err(pomp_model::ModelError::from)?;
        let KinematicTraining { weight_decay, average, .. } = self.config.training;
        let (learner, _) =
            Learner::begin(fresh, Learning { weight_decay, average }, &self.checkpoint, start)?;
        Ok(Progress { learner, rollouts: Vec::new(), unrolled: Vec::new() })
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
        let (stage, layout, step) = (&self.reading.kinematic, self.layout, progress.learner.done + 1);
        let autodiff = self.device.clone().autodiff();
        let mut rng = step_rng(self.config.seed, Stage::Controller, step);
        starts.fill_up(&mut progress.rollouts, step, rows, &mut rng)?;
        let deviations = noise_per_feature(layout, stage.states.state_noise, stage.states.context_noise);
        let batch = starts.batch(&progress.rollouts, &deviations, rows, &mut rng);
        let [x, gate] = [view.experts(&batch, layout, &autodiff), view.gate(&batch, layout, &autodiff)];
        let y = view.wanted(&batch, layout, &autodiff);
        let predicted = progress.learner.module.forward(&x, &gate, Some(&mut rng));
        let error = (predicted - y) * view.weights(&autodiff);
        let mut loss = (error.clone() * error).mean();
        if let Some(unroll) = unroll {
            let leader = LedView::new(&progress.learner.module, view, layout, &autodiff);
            let far = unroll.loss(&leader, step, &mut progress.unrolled, &mut rng)?;
            loss = loss + far * self.config.unrolling.weight;
        }
        let named = format!("that of step {step}, seed {}", self.config.seed);
        let checked = Step { stage: Stage::Controller, step, batch: &named, checkpoint: &self.checkpoint };
        progress.learner.note(&loss, &checked)?;
        if !progress.rollouts.is_empty() {
            let led = batch.first(progress.rollouts.len(), layout);
            let mut predicted = view.predict(&progress.learner.module.valid(), &led, layout, self.device);
            rows.outputs_to_y(&led.raw_x, &mut predicted);
            advance_rollouts(&mut progress.rollouts, rows, &predicted, starts, &mut rng)?;
        }
        progress.learner = progress.learner.descend(&loss, learning_rate(stage, step), &checked)?;
        Ok(progress)
    }
}
