//! Arguments of the commands about models: train, phase, kinematic.

use super::numbers;
use crate::device::DeviceName;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use pomp_controllers::ControllerKind;
use std::path::{Path, PathBuf};

/// The stages of `pomp train`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TrainStage {
    /// The periodic autoencoder.
    Phase,
    /// The aligned phase encoder.
    AlignedPhase,
    /// The kinematic module.
    Kinematic,
    /// All of them in order.
    All,
    /// A controller in place of the kinematic module; its name follows this word.
    Controller,
    /// Skeleton-aware networks between the skeletons of two folders of motions, --a and --b.
    Retarget,
    /// The balance policy, which learns in the closed loop from the motion of a trained model; it takes no --data.
    Balance,
    /// The style adapter of a trained model; the configuration says which clips of --data show which style.
    Style,
}

/// Arguments of `pomp train`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp train all --data data --out model
  pomp train all --data data --out model --resume
  pomp train kinematic --data data --out model --resume --set kinematic.training.steps=200000
  pomp train all --data data --out model --overwrite
  pomp train all --data data --out model --dry-run
  pomp train all --data data --out model --then configs/compact_practised.toml
  pomp train kinematic --data data --out model --config configs/paper.toml
  pomp train kinematic --data data --out model --config configs/compact_practised.toml --fine-tune
  pomp train controller pfnn --data data --out model
  pomp train style --data data --out model --config configs/style_adapter.toml
  pomp train retarget --a walks/ --b other_skeleton/ --out networks")]
pub struct TrainArguments {
    /// What to train.
    #[arg(value_enum)]
    pub stage: TrainStage,
    /// Which controller to train, after the word "controller": phase, pfnn, mann, local-phases, nsm, matching, matching-phase or
    /// learned-matching.
    #[arg(required_if_eq("stage", "controller"))]
    pub kind: Option<ControllerKind>,
    /// Folder of recordings made by `pomp preprocess`.
    #[arg(long, value_hint = ValueHint::DirPath, required_if_eq_any([
        ("stage", "phase"),
        ("stage", "aligned-phase"),
        ("stage", "kinematic"),
        ("stage", "all"),
        ("stage", "controller"),
        ("stage", "style"),
    ]))]
    pub data: Option<PathBuf>,
    /// For retarget: folder of motions (.bvh, .glb, .gltf, .npz) on the first skeleton, with bodies of any
    /// proportions.
    #[arg(long, value_hint = ValueHint::DirPath, requires = "b", conflicts_with = "data")]
    pub a: Option<PathBuf>,
    /// For retarget: folder of motions on the second skeleton. The two folders need no motion in common.
    #[arg(long, value_hint = ValueHint::DirPath, requires = "a")]
    pub b: Option<PathBuf>,
    /// Model folder to write.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Training configuration; that of the compact model if left out.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Override a setting of the configuration, and of those of --then: KEY.PATH=VALUE. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// For all and kinematic: after the training, fine-tune the kinematic module with this configuration, as --fine-tune does. May be
    /// given several times; the fine-tunings follow each other. With --resume, the training that was interrupted goes on.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub then: Vec<PathBuf>,
    /// For balance: configuration of the closed loop; that of configs/own_feet.toml if left out.
    #[arg(long = "loop", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub closed_loop: Option<PathBuf>,
    /// Continue from the last checkpoint. The settings must be unchanged, except that the numbers of steps and epochs may be
    /// larger.
    #[arg(long)]
    pub resume: bool,
    /// Start from scratch in a folder that already contains a checkpoint or a model, and replace it.
    #[arg(long, conflicts_with_all = ["resume", "fine_tune", "dry_run"])]
    pub overwrite: bool,
    /// Print what would be trained (weights, memory, and the time estimated from a few steps), without training.
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,
    /// Device to train on: cpu, or cuda or cuda:N for an NVIDIA card if the program is built with the feature cuda.
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub device: DeviceName,
    /// Continue training the kinematic module of the model in --out, with a fresh optimiser. Together with --resume,
    /// continue an interrupted fine-tuning.
    #[arg(long)]
    pub fine_tune: bool,
    /// Seed, overriding that of the configuration.
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: Option<u64>,
    /// Print one JSON object per report instead of a progress bar.
    #[arg(long)]
    pub json: bool,
}

impl TrainArguments {
    /// The folder of recordings.
    ///
    /// # Errors
    /// Where folders of motions are given in its place.
    pub fn data(&self) -> anyhow::Result<&Path> {
        self.data.as_deref().ok_or_else(|| {
            anyhow::anyhow!("--a and --b are the folders of `pomp train retarget`; the other trainings take recordings: --data DIR")
        })
    }
}

/// `pomp phase …`.
#[derive(Debug, Subcommand)]
pub enum PhaseCommand {
    /// Write the phases of every frame into the recordings of a dataset.
    Annotate(PhaseAnnotateArguments),
    /// Show and measure the phase manifold of a model.
    Report(PhaseReportArguments),
}

/// Arguments of `pomp phase annotate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp phase annotate data                   phases of the embedded compact model
  pomp phase annotate data --model model

Adds the arrays phase [T,2C] and phase_model (the model's hash) to each npz, and changes nothing else in it. Near the ends of
a clip, where the encoder's window does not fit, the phases are extrapolated from the nearest frame where it does. To
continue an interrupted run, give the same command again.")]
pub struct PhaseAnnotateArguments {
    /// Folder of recordings made by `pomp preprocess`.
    #[arg(value_hint = ValueHint::DirPath)]
    pub data: PathBuf,
    /// Model folder; the embedded compact model if left out.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp phase report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp phase report data --out out/phases          the embedded compact model
  pomp phase report data model --out out/phases

Writes report.md, report.json and pictures. They show the loops of the phase manifold for each gait, phase over time,
reconstruction compared with a plain autoencoder and the Fourier transform, the pose error of nearest neighbours, the rank of
the true next frame by several features, and the effect of alignment.")]
pub struct PhaseReportArguments {
    /// Folder of recordings made by `pomp preprocess`.
    #[arg(value_hint = ValueHint::DirPath)]
    pub data: PathBuf,
    /// Model folder; the embedded compact model if left out.
    #[arg(value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Output folder.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Training steps of the plain autoencoder that the model's autoencoder is compared with.
    #[arg(long, default_value_t = 1500)]
    pub plain_steps: usize,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `pomp kinematic …`.
#[derive(Debug, Subcommand)]
pub enum KinematicCommand {
    /// Measure the kinematic module of a model on held-out clips.
    Report(KinematicReportArguments),
}

/// Arguments of `pomp kinematic report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp kinematic report data --out out/kinematic            the embedded compact model
  pomp kinematic report data model --out out/kinematic --steps 1,4

Writes report.md and report.json. They contain the errors of rollouts compared with holding the pose and with keeping its
velocity, the spread of samples compared with that of the clips (for each number of denoising steps, with and without the
analytic covariance), and the gaits that each expert is used for.")]
pub struct KinematicReportArguments {
    /// Folder of recordings made by `pomp preprocess`.
    #[arg(value_hint = ValueHint::DirPath)]
    pub data: PathBuf,
    /// Model folder; the embedded compact model if left out.
    #[arg(value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Output folder.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Numbers of denoising steps to compare.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 25], value_parser = numbers::count)]
    pub steps: Vec<usize>,
    /// Seed of the noise.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}
