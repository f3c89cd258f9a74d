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
use pomp_kinematic::KinematicModel;
use pomp_model::{FORMAT_VERSION, FineTunedFrom, KinematicDescription, Model, ModelDescription};
use pomp_motion::features::FeatureLayout;
use pomp_phase::PeriodicAutoencoder;
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

/// The stages in their order, each at its own number.
const ALL_STAGES: [Stage; 3] = [Stage::Phase, Stage::AlignedPhase, Stage::Kinematic];

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

    /// Refuses to end a stage of which more steps are done than are asked for.
    pub fn check_steps(&self, stage: Stage, done: usize, asked: usize) -> Result<(), TrainError> {
        if done > asked {
            let folder = self.folder.to_path_buf();
            return Err(TrainError::FewerSteps { stage: stage.name(), done, asked, folder });
        }
        Ok(())
    }

    /// What a stage ends with that was asked to stop.
    pub fn stopped(&self, stage: Stage, step: usize) -> TrainError {
        TrainError::Stopped { stage: stage.name(), step, folder: self.folder.to_path_buf() }
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
/// Stages that are not asked for are taken from the folder. The weights are stored in half precision. A stage that is resumed
/// may have more steps or epochs than before; the learning rate of the kinematic stage then follows the longer course from the
/// step that the checkpoint has reached.
///
/// # Errors
/// A folder in which a stage has been trained or begun, unless it is resumed or overwritten; a checkpoint of other settings or
/// data; a setting outside its range, a stage whose predecessor has not run, a loss that is no longer a number, or a folder that
/// cannot be written. [`TrainError::Stopped`] when `on_event` asks for it.
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
    let layout = layout_of(config, dataset);
    let hashes = ALL_STAGES.map(|stage| run_hash(config, dataset, start, stage));
    let checkpoint = |stage: Stage| Checkpoint::new(out, stage, &hashes[stage as usize]);
    let stage_run = |stage| StageRun {
        config,
        device,
        folder: out,
        checkpoint: checkpoint(stage),
        start,
        rehearsed_after: None,
    };

    make_way(out, stages, start, checkpoint)?;

    let mut model = if stages.contains(&Stage::Phase) {
        let (phase, held_out) = train_phase(dataset, &stage_run(Stage::Phase), on_event)?;
        let model = first_model(config, dataset, &layout, phase, held_out);
        model.save(out, WeightPrecision::F16)?;
        model
    } else {
        model_of_folder(config, dataset, stages, &layout, out, device)?
    };
    if stages.iter().all(|stage| *stage == Stage::Phase) {
        return Ok(model);
    }
    let phases = PhaseReader::new(&model.phase.encoder, &config.phase.network, config.phase_edge_frames)?;
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
        add_kinematic(&mut model, dataset, &stage_run(Stage::Kinematic), &layout, &phases, on_event)?;
    }
    Ok(model)
}

/// Whether the model folder `out` holds a checkpoint of the fine-tuning that `config` and `dataset` make.
pub fn is_fine_tuning_begun(dataset: &Dataset, config: &TrainConfig, out: &Path) -> bool {
    let run = run_hash(config, dataset, Start::FineTune, Stage::Kinematic);
    Checkpoint::new(out, Stage::Kinematic, &run).is_of_this_run()
}

/// A model that has its phases alone.
fn first_model(
    config: &TrainConfig,
    dataset: &Dataset,
    layout: &FeatureLayout,
    phase: PeriodicAutoencoder,
    held_out: f32,
) -> Model {
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
    Model {
        description,
        phase,
        aligned_phase: None,
        kinematic: None,
        controllers: BTreeMap::new(),
        balance_policy: None,
        styles: None,
        files_sha256: None,
    }
}

/// The model that `stages` go on with, described as what it becomes.
fn model_of_folder(
    config: &TrainConfig,
    dataset: &Dataset,
    stages: &[Stage],
    layout: &FeatureLayout,
    folder: &Path,
    device: &Device,
) -> Result<Model, TrainError> {
    if !folder.join("model.json").is_file() {
        return Err(TrainError::MissingStage {
            stage: stages.first().map_or("this", |stage| stage.name()),
            needs: "a trained periodic autoencoder",
            first: Stage::Phase.name(),
        });
    }
    let mut model = Model::load(folder, device)?;
    let description = &mut model.description;
    description.config_name.clone_from(&config.name);
    description.config = config_json(config);
    description.seed = config.seed;
    description.data_hash.clone_from(&dataset.hash);
    description.data = dataset.provenance();
    description.layout = layout.clone();
    Ok(model)
}

/// Trains the kinematic module of `model`, which is saved whenever the module is worth it.
fn add_kinematic(
    model: &mut Model,
    dataset: &mut Dataset,
    run: &StageRun<'_>,
    layout: &FeatureLayout,
    phases: &PhaseReader,
    on_event: OnEvent<'_>,
) -> Result<(), TrainError> {
    let config = run.config;
    model.description.fine_tuned_from = None;
    let initial = if run.start.fine_tunes() {
        let (network, described, from) = fine_tuned(run, layout)?;
        model.description.fine_tuned_from = Some(from);
        Some((network, described))
    } else {
        None
    };
    let measured_on = dataset.measured_on();
    let stage = &config.kinematic;
    let loop_phases = (stage.simulated_rollouts.share > 0.0 || stage.unrolling.windows > 0)
        .then(|| LoopPhases::new(model, PhaseFeedback::Aligned, &dataset.clips[0].clean[0]))
        .transpose()?;
    train_kinematic(
        dataset,
        run,
        layout,
        phases,
        Beginning { initial, loop_phases: loop_phases.as_ref() },
        on_event,
        &mut |trained| {
            model.kinematic = Some((trained.network, trained.gamma));
            model.description.kinematic = Some(trained.description);
            for (name, value) in trained.errors.figures(measured_on) {
                model.description.metrics.insert(name, value);
            }
            Ok(model.save(run.folder, WeightPrecision::F16)?)
        },
    )
}

/// What a fine-tuning begins with, and the model that it is of.
fn fine_tuned(
    run: &StageRun<'_>,
    layout: &FeatureLayout,
) -> Result<(KinematicModel, KinematicDescription, FineTunedFrom), TrainError> {
    let StageRun { config, device, folder, start, .. } = run;
    // Anew from the folder: gradients flow through weights that were read onto a device that follows them.
    let before = Model::load(folder, &(*device).clone().autodiff())?;
    // Read as a configuration: the text of a single-precision number does not always give the same double again.
    let settings_before = serde_json::from_value::<TrainConfig>(before.description.config.clone())
        .map(|config| without_length(config_json(&config), Stage::Kinematic));
    let settings = without_length(config_json(config), Stage::Kinematic);
    let from = match &before.description.fine_tuned_from {
        // Weights that this very fine-tuning has left before it was stopped.
        Some(first) if start.resumes() && settings_before.is_ok_and(|before| before == settings) => {
            first.clone()
        }
        _ => FineTunedFrom::of(&before),
    };
    let (Some((network, _)), Some(described)) = (before.kinematic, before.description.kinematic) else {
        return Err(TrainError::MissingStage {
            stage: "fine-tuning",
            needs: "a trained kinematic module in the folder",
            first: Stage::Kinematic.name(),
        });
    };
    if described.config != config.kinematic.network(layout) {
        return Err(TrainError::BadConfig {
            field: "kinematic",
            value: "another network".to_owned(),
            range: "the sizes of the model that is fine-tuned (see its model.json)",
        });
    }
    Ok((network, described, from))
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
        Start::FineTune => Ok(()),
        // Before the first of them is trained further: the later ones may rest on what it was.
        Start::Resume | Start::ResumeFineTune => {
            stages.iter().try_for_each(|stage| checkpoint(*stage).check_run())
        }
        Start::Anew => match stages
            .iter()
            .find(|stage| out.join(stage.weights_file()).exists() || checkpoint(**stage).exists())
        {
            Some(stage) => Err(TrainError::AlreadyTrained { stage: stage.name(), folder: out.to_path_buf() }),
            None => Ok(()),
        },
        Start::Overwrite => {
            let replaced = if stages.contains(&Stage::Phase) { &ALL_STAGES } else { stages };
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

/// A configuration without the number of steps or epochs of `stage` and the stages after it: a stage may grow, and rests on all
/// that those before it are.
fn without_length(mut config: serde_json::Value, stage: Stage) -> serde_json::Value {
    for later in &ALL_STAGES[stage as usize..] {
        let (section, length) = match later {
            Stage::Phase => ("phase", "epochs"),
            Stage::AlignedPhase => ("aligned_phase", "epochs"),
            Stage::Kinematic | Stage::Controller | Stage::Retarget | Stage::Balance | Stage::Style => {
                ("kinematic", "steps")
            }
        };
        config[section]["training"][length] = serde_json::Value::Null;
    }
    config
}

/// Identifies what the checkpoint of `stage` rests on.
fn run_hash(config: &TrainConfig, dataset: &Dataset, start: Start, stage: Stage) -> String {
    let kind = if start.fine_tunes() { "fine-tuned" } else { "" };
    let settings = without_length(config_json(config), stage);
    Digest::of(format!("{settings}\n{}{kind}", dataset.hash)).short()
}
