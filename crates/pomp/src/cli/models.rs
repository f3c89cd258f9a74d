//! Arguments of the commands about models: train, phase, kinematic.

use super::numbers;
use crate::device::DeviceName;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use pomp_controllers::ControllerKind;
use std::path::PathBuf;

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
    /// A controller in place of the kinematic module, named after this word.
    Controller,
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
  pomp train kinematic --data data --out model --config configs/paper.toml
  pomp train kinematic --data data --out model --config configs/compact_practised.toml --fine-tune
  pomp train controller pfnn --data data --out model")]
pub struct TrainArguments {
    /// What to train.
    #[arg(value_enum)]
    pub stage: TrainStage,
    /// Which controller, after the word "controller": phase, pfnn, mann, local-phases, matching, matching-phase or
    /// learned-matching.
    #[arg(required_if_eq("stage", "controller"))]
    pub kind: Option<ControllerKind>,
    /// Folder of recordings that `pomp preprocess` has made.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub data: PathBuf,
    /// Folder of the model.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Configuration; without it the compact one.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Go on from the last checkpoint. The settings must be the same, but for more steps or epochs.
    #[arg(long)]
    pub resume: bool,
    /// Start anew in a folder that holds a checkpoint or a model, and replace it.
    #[arg(long, conflicts_with_all = ["resume", "fine_tune", "dry_run"])]
    pub overwrite: bool,
    /// Print what would be trained (weights, memory, time, measured on a few steps), and train nothing.
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,
    /// Where to train: cpu, or an NVIDIA card, cuda or cuda:N, in a program built with the feature of that name.
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub device: DeviceName,
    /// Train the kinematic module of the model in --out further, with a fresh optimiser; with --resume too, go on with that
    /// when it was stopped.
    #[arg(long)]
    pub fine_tune: bool,
    /// Seed, in place of the configuration's.
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: Option<u64>,
    /// Print one JSON object per report instead of a progress bar.
    #[arg(long)]
    pub json: bool,
}

/// `pomp phase …`.
#[derive(Debug, Subcommand)]
pub enum PhaseCommand {
    /// Write the phases of every frame into recordings.
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

Adds phase [T,2C] and phase_model, the model's hash, to each npz; nothing else in it changes. Frames near the ends of a
clip continue the nearest frame that can be read. An interrupted run goes on when the same command is given again.")]
pub struct PhaseAnnotateArguments {
    /// Folder of recordings that `pomp preprocess` has made.
    #[arg(value_hint = ValueHint::DirPath)]
    pub data: PathBuf,
    /// Model folder; without it the embedded compact model.
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

Writes report.md, report.json and pictures: loops of the manifold per gait, phase over time, reconstruction beside a plain
autoencoder and the Fourier transform, the pose error of nearest neighbours, the rank
of the frame that truly follows by several features, and what alignment brings.")]
pub struct PhaseReportArguments {
    /// Folder of recordings that `pomp preprocess` has made.
    #[arg(value_hint = ValueHint::DirPath)]
    pub data: PathBuf,
    /// Model folder; without it the embedded compact model.
    #[arg(value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Folder of the results.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Training steps of the plain autoencoder that the model's is compared with.
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

Writes report.md and report.json: errors of rollouts beside holding the pose and keeping its velocity, how far samples spread
beside how far the clips do, for each number of denoising steps with and without the analytic covariance, and which gaits the
experts serve.")]
pub struct KinematicReportArguments {
    /// Folder of recordings that `pomp preprocess` has made.
    #[arg(value_hint = ValueHint::DirPath)]
    pub data: PathBuf,
    /// Model folder; without it the embedded compact model.
    #[arg(value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Folder of the results.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Numbers of denoising steps to sample with.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 25], value_parser = numbers::count)]
    pub steps: Vec<usize>,
    /// Seed of the noise.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}
