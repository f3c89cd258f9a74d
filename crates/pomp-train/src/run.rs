//! The stages in their order (docs/method.md §7), each leaving a whole model folder behind.

use crate::aligned_stage::train_aligned;
use crate::checkpoint::Checkpoint;
use crate::dataset::Dataset;
use crate::early_stopping::{Best, Course};
use crate::kinematic_stage::{Beginning, train_kinematic};
use crate::phase_stage::{PhaseReader, train_phase};
use crate::progress::{OnEvent, Stage};
use crate::{TrainConfig, TrainError};
use burn::tensor::Device;
use pomp_files::Digest;
use pomp_generator::{PhaseFeedback, PhaseReader as LoopPhases};
use pomp_model::{FORMAT_VERSION, FineTunedFrom, Model, ModelDescription};
use pomp_motion::features::FeatureLayout;
use pomp_phase::WindowEncoder;
use pomp_tensors::keep_freed_memory;
use pomp_weights::WeightPrecision;
use std::collections::BTreeMap;
use std::path::Path;

/// Whether a stage starts anew or goes on from its checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// From fresh weights. A folder that holds a checkpoint or the weights of a stage that is asked for is refused.
    Anew,
    /// From fresh weights, in place of what the folder holds of the stages.
    Overwrite,
    /// From the stage's checkpoint, if there is one.
    Resume,
    /// The kinematic stage from the weights and the normalisation of the model in the folder, with a fresh optimiser; other
    /// stages anew. A folder that holds a checkpoint of the same fine-tuning is refused.
    FineTune,
    /// From the checkpoint of a fine-tuning, if there is one.
    ResumeFineTune,
}

impl Start {
    /// Whether a checkpoint is looked for.
    pub(crate) fn resumes(self) -> bool {
        matches!(self, Self::Resume | Self::ResumeFineTune)
    }

    fn fine_tunes(self) -> bool {
        matches!(self, Self::FineTune | Self::ResumeFineTune)
    }
}

/// What every stage is told.
pub(crate) struct StageRun<'a> {
    pub config: &'a TrainConfig,
    pub device: &'a Device,
    /// The model folder.
    pub folder: &'a Path,
    pub checkpoint: Checkpoint,
    pub start: Start,
    /// Steps after which a rehearsal has seen enough; `None` when it is no rehearsal.
    pub rehearsed_after: Option<usize>,
}

impl StageRun<'_> {
    /// Whether a rehearsal ends after so many steps of it.
    pub fn is_rehearsed(&self, steps: usize) -> bool {
        self.rehearsed_after.is_some_and(|enough| steps >= enough)
    }

    /// The measurements of a stage with this patience, as they stand in its checkpoint.
    pub fn course(
        &self,
        patience: usize,
        dataset: &Dataset,
        best: Option<Best>,
    ) -> Result<Course, TrainError> {
        if patience > 0 && dataset.measured_on() != "held_out" {
            return Err(TrainError::NothingHeldOut);
        }
        Ok(Course::new(patience, best))
    }
}

/// Runs `stages` on `dataset` into the model folder `out` and returns the model.
///
/// Stages that are not asked for are taken from the folder. The weights are stored in half precision.
///
/// # Errors
/// A folder in which a stage has been trained or begun, unless it is resumed or overwritten; a setting outside its range, a
/// stage whose predecessor has not run, a loss that is no longer a number, or a
/// folder that cannot be written.
pub fn train(
    dataset: &mut Dataset,
    config: &TrainConfig,
    stages: &[Stage],
    start: Start,
    out: &Path,
    device: &Device,
    on_event: OnEvent<'_>,
) -> Result<Model, TrainError> {
    config.validate()?;
    if config.kinematic.training.kept_of_first > 0.0 && !start.fine_tunes() {
        return Err(TrainError::BadConfig {
            field: "kinematic.training.kept_of_first",
            value: config.kinematic.training.kept_of_first.to_string(),
            range: "0 where nothing is fine-tuned (--fine-tune)",
        });
    }
    keep_freed_memory();
    std::fs::create_dir_all(out).map_err(|source| TrainError::Io {
        action: "creating the model folder",
        path: out.to_path_buf(),
        source,
    })?;
    let run = run_hash(config, dataset, start);
    let layout = layout_of(config, dataset);
    let stage_run = |stage| StageRun {
        config,
        device,
        folder: out,
        checkpoint: Checkpoint::new(out, stage, &run),
        start,
        rehearsed_after: None,
    };

    make_way(out, stages, start, |stage| Checkpoint::new(out, stage, &run))?;

    let mut model = if stages.contains(&Stage::Phase) {
        let (phase, held_out) = train_phase(dataset, &stage_run(Stage::Phase), on_event)?;
        let description = ModelDescription {
            format_version: FORMAT_VERSION,
            made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
            config_name: config.name.clone(),
            config: config_json(config),
            seed: config.seed,
            data_hash: dataset.hash.clone(),
            data: dataset.provenance(),
            skeleton: (*dataset.skeleton).clone(),
            body_names: dataset.body_names.clone(),
            mass_kg: dataset.mass_kg,
            layout: layout.clone(),
            phase: config.phase.network.clone(),
            stitch: config.aligned_phase.stitch,
            kinematic: None,
            fine_tuned_from: None,
            metrics: BTreeMap::from([(format!("{}_phase_mse", dataset.measured_on()), held_out)]),
        };
        let model = Model { description, phase, aligned_phase: None, kinematic: None, files_sha256: None };
        model.save(out, WeightPrecision::F16)?;
        model
    } else {
        if !out.join("model.json").is_file() {
            return Err(TrainError::MissingStage {
                stage: stages.first().map_or("this", |stage| stage.name()),
                needs: "a trained periodic autoencoder",
                first: Stage::Phase.name(),
            });
        }
        let mut model = Model::load(out, device)?;
        let description = &mut model.description;
        description.config_name.clone_from(&config.name);
        description.config = config_json(config);
        description.seed = config.seed;
        description.data_hash.clone_from(&dataset.hash);
        description.data = dataset.provenance();
        description.layout = layout.clone();
        model
    };
    if stages.iter().all(|stage| *stage == Stage::Phase) {
        return Ok(model);
    }
    let phases = PhaseReader {
        encoder: WindowEncoder::new(&model.phase.encoder),
        window: config.phase.network.window,
        edge: config.phase_edge_frames,
    };
    phases.read(dataset)?;
    if stages.contains(&Stage::AlignedPhase) {
        let (encoder, alignment) =
            train_aligned(dataset, &stage_run(Stage::AlignedPhase), &model.phase, &phases, on_event)?;
        model.aligned_phase = Some(encoder);
        let metrics = &mut model.description.metrics;
        let on = dataset.measured_on();
        metrics.insert(format!("{on}_aligned_code_distance"), alignment.after);
        metrics.insert(format!("{on}_unaligned_code_distance"), alignment.before);
        model.save(out, WeightPrecision::F16)?;
    }
    if stages.contains(&Stage::Kinematic) {
        model.description.fine_tuned_from = None;
        let initial = if start.fine_tunes() {
            // Anew from the folder: gradients flow through weights that were read onto a device that follows them.
            let before = Model::load(out, &device.clone().autodiff())?;
            model.description.fine_tuned_from = Some(match &before.description.fine_tuned_from {
                // Weights that this very fine-tuning has left before it was stopped.
                Some(first) if start.resumes() && before.description.config == config_json(config) => {
                    first.clone()
                }
                _ => FineTunedFrom::of(&before),
            });
            let (Some((network, _)), Some(described)) = (before.kinematic, before.description.kinematic)
            else {
                return Err(TrainError::MissingStage {
                    stage: "fine-tuning",
                    needs: "a trained kinematic module in the folder",
                    first: Stage::Kinematic.name(),
                });
            };
            if described.config != config.kinematic.network(&layout) {
                return Err(TrainError::BadConfig {
                    field: "kinematic",
                    value: "another network".to_owned(),
                    range: "the sizes of the model that is fine-tuned (see its model.json)",
                });
            }
            Some((network, described))
        } else {
            None
        };
        let stage = stage_run(Stage::Kinematic);
        let measured_on = dataset.measured_on();
        let loop_phases = (config.kinematic.simulated_rollouts.share > 0.0)
            .then(|| LoopPhases::new(&model, PhaseFeedback::Aligned, &dataset.clips[0].clean[0]))
            .transpose()?;
        train_kinematic(
            dataset,
            &stage,
            &layout,
            &phases,
            Beginning { initial, loop_phases: loop_phases.as_ref() },
            on_event,
            &mut |trained| {
                model.kinematic = Some((trained.network, trained.gamma));
                model.description.kinematic = Some(trained.description);
                for (name, value) in trained.errors.figures(measured_on) {
                    model.description.metrics.insert(name, value);
                }
                Ok(model.save(out, WeightPrecision::F16)?)
            },
        )?;
    }
    Ok(model)
}

/// Refuses to replace what the folder holds of `stages`, or removes their checkpoints where that is asked for. A phase stage
/// that is overwritten takes the checkpoints of all stages with it: the later ones were trained on its phases.
fn make_way(
    out: &Path,
    stages: &[Stage],
    start: Start,
    checkpoint: impl Fn(Stage) -> Checkpoint,
) -> Result<(), TrainError> {
    match start {
        Start::FineTune if checkpoint(Stage::Kinematic).is_of_this_run() => {
            Err(TrainError::AlreadyFineTuned { folder: out.to_path_buf() })
        }
        Start::Resume | Start::ResumeFineTune | Start::FineTune => Ok(()),
        Start::Anew => match stages
            .iter()
            .find(|stage| out.join(stage.weights_file()).exists() || checkpoint(**stage).exists())
        {
            Some(stage) => Err(TrainError::AlreadyTrained { stage: stage.name(), folder: out.to_path_buf() }),
            None => Ok(()),
        },
        Start::Overwrite => {
            let all = [Stage::Phase, Stage::AlignedPhase, Stage::Kinematic];
            let replaced: &[Stage] = if stages.contains(&Stage::Phase) { &all } else { stages };
            replaced.iter().try_for_each(|stage| checkpoint(*stage).remove())
        }
    }
}

/// The layout of x and y.
pub(crate) fn layout_of(config: &TrainConfig, dataset: &Dataset) -> FeatureLayout {
    FeatureLayout::new(
        dataset.skeleton.len(),
        dataset.body_names.len(),
        config.phase.network.channels,
        config.kinematic.layout.rotations,
    )
}

fn config_json(config: &TrainConfig) -> serde_json::Value {
    serde_json::to_value(config).expect("a config is plain data")
}

fn run_hash(config: &TrainConfig, dataset: &Dataset, start: Start) -> String {
    let kind = if start.fine_tunes() { "fine-tuned" } else { "" };
    let json = serde_json::to_string(config).expect("a config is plain data");
    Digest::of(format!("{json}\n{}{kind}", dataset.hash)).short()
}
