use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong in training.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A recording could not be read or a result not written.
    #[error(transparent)]
    Format(#[from] pomp_formats::FormatError),
    /// A model could not be written or read.
    #[error(transparent)]
    Model(#[from] pomp_model::ModelError),
    /// The folder holds no recordings.
    #[error("{}: no recordings (*.npz) here; make some with `pomp preprocess INPUT… --out {}`", folder.display(), folder.display())]
    NoData {
        /// The folder.
        folder: PathBuf,
    },
    /// A recording that does not fit the others.
    #[error("{}: {reason}", path.display())]
    BadRecording {
        /// The file.
        path: PathBuf,
        /// What does not fit and what to do.
        reason: String,
    },
    /// Not enough to learn from.
    #[error("the data gives {examples} examples for the {stage} stage; add longer or more clips")]
    TooLittleData {
        /// Stage.
        stage: &'static str,
        /// Examples found.
        examples: usize,
    },
    /// Rollouts in the simulator are asked for, and no clip has what they practise.
    #[error(
        "kinematic.simulated_rollouts asks for rollouts of clips that stand or walk on level ground, and there is none: \
         add such clips, or set its share to 0"
    )]
    NothingToPractise,
    /// A style names a clip that is not in the data.
    #[error(
        "the style \"{style}\" names the clip \"{clip}\", which is not among the recordings; preprocess it into the folder of --data, \
         or leave it out of the configuration"
    )]
    NoStyleClip {
        /// The style.
        style: String,
        /// The clip.
        clip: String,
    },
    /// A style whose clips stand.
    #[error(
        "the clips of the style \"{style}\" stand still, and a style is one of walking; name clips in which the character walks"
    )]
    StandingStyle {
        /// The style.
        style: String,
    },
    /// Recordings on another body than the model's.
    #[error(
        "the recordings have another number of joints or bodies than the model; preprocess them with the configuration that the \
         model's data was made with"
    )]
    OtherSkeleton,
    /// A setting outside its range.
    #[error("training config: {0}")]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// A setting that does not fit what is to be done.
    #[error("training config: {field} = {value} is outside {range}")]
    BadConfig {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        range: &'static str,
    },
    /// A stage needs what an earlier stage makes.
    #[error("{stage} training needs {needs}; run `pomp train {first}` with the same --data and --out first")]
    MissingStage {
        /// The stage that was asked for.
        stage: &'static str,
        /// What it lacks.
        needs: &'static str,
        /// The stage that makes it.
        first: &'static str,
    },
    /// A rollout in the simulator was refused.
    #[error(transparent)]
    Generator(#[from] pomp_generator::GeneratorError),
    /// The ground of a simulated rollout.
    #[error(transparent)]
    Terrain(#[from] pomp_terrain::TerrainError),
    /// A model that does not say from which frame on phases may be read.
    #[error("the model's description has no phase_edge_frames in its config; train it with this version")]
    ModelWithoutEdge,
    /// The phase networks refuse.
    #[error(transparent)]
    Phase(#[from] pomp_phase::PhaseError),
    /// Skeleton-aware networks, or the motions they are to learn from, refuse.
    #[error(transparent)]
    Skeletal(#[from] pomp_skeletal::SkeletalError),
    /// The kinematic networks refuse.
    #[error(transparent)]
    Kinematic(#[from] pomp_kinematic::KinematicError),
    /// The stage is in the folder already.
    #[error(
        "{}: the {stage} stage has been trained or begun here; go on with --resume, start anew with --overwrite, or give \
         another --out",
        folder.display()
    )]
    AlreadyTrained {
        /// Stage.
        stage: &'static str,
        /// The model folder.
        folder: PathBuf,
    },
    /// The fine-tuning is in the folder already.
    #[error(
        "{}: this fine-tuning has been begun here; go on with --fine-tune --resume, or begin again in a copy of the model \
         that was fine-tuned",
        folder.display()
    )]
    AlreadyFineTuned {
        /// The model folder.
        folder: PathBuf,
    },
    /// A checkpoint of another configuration or of other data.
    #[error(
        "{}: the checkpoint of the {stage} stage belongs to another configuration or other data (of the settings, only the \
         number of steps or epochs of the stage itself may grow); train into another folder, or replace it with --overwrite",
        folder.display()
    )]
    OtherRun {
        /// Stage.
        stage: &'static str,
        /// The checkpoint.
        folder: PathBuf,
    },
    /// A stage that is asked for fewer steps than it has done.
    #[error(
        "{}: the {stage} stage has done {done} steps, and the configuration asks for {asked}; ask for {done} or more, or \
         start anew with --overwrite",
        folder.display()
    )]
    FewerSteps {
        /// Stage.
        stage: &'static str,
        /// Steps done.
        done: usize,
        /// Steps asked for.
        asked: usize,
        /// The model folder.
        folder: PathBuf,
    },
    /// The training was asked to stop, and has left a checkpoint.
    #[error(
        "{}: training was stopped after step {step} of the {stage} stage, which has a checkpoint there; go on with --resume",
        folder.display()
    )]
    Stopped {
        /// Stage.
        stage: &'static str,
        /// Steps done.
        step: usize,
        /// The model folder.
        folder: PathBuf,
    },
    /// A loss or a gradient is no longer a number.
    #[error(
        "the {stage} {what} at step {step} ({batch}); {blame}; {checkpoint}; lower the stage's learning_rate and train \
         into another folder, or leave out the clips of that batch"
    )]
    Diverged {
        /// Stage.
        stage: &'static str,
        /// Step of the stage.
        step: usize,
        /// What makes the same batch again.
        batch: String,
        /// What is not finite, with its value.
        what: String,
        /// The first parameter that is not finite, or that all are.
        blame: String,
        /// Where the last good weights are, if anywhere.
        checkpoint: String,
    },
    /// Early stopping is asked for, and nothing is held out to measure with.
    #[error(
        "early_stopping needs clips that are held out, and there are none: set held_out_every, give more clips, or set \
         early_stopping to 0"
    )]
    NothingHeldOut,
    /// The file system refuses.
    #[error("{}: {action}: {source}; check that the folder can be written and has room", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}
