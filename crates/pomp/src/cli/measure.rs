//! Arguments of the commands that measure motion: evaluate and bench.

use super::numbers;
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// Arguments of `pomp evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp evaluate out/generate/rollout.npz
  pomp evaluate rollout.npz walk.bvh         generated beside mocap
  pomp evaluate out/walks out/other_walks    two batches: means with 95 % intervals, side by side
  pomp evaluate data --json

Each argument becomes a column of the table. For a folder, the column shows the means over its recordings (.npz, including
subfolders; if there are none, its .bvh, .glb and .gltf clips), with the half width of the 95 % interval. ↓ less is better, ↑ more is
better, ~ best as in the data. docs/metrics.md (https://github.com/pomp-rs/pomp/blob/main/docs/metrics.md) defines every metric
with its formula and unit.")]
pub struct EvaluateArguments {
    /// Rollouts, recordings, motion files (.bvh, .glb, .gltf), and folders of them.
    #[arg(required = true)]
    pub motions: Vec<PathBuf>,
    /// Ground for motions whose files contain none: a preset or a file (.toml, .png, .npz); flat at y = 0 if left out.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub terrain: Option<String>,
    /// A rig map file of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
    /// Measure the simulated motion of every recording: for a preprocessed clip, its physics replay instead of the clip.
    #[arg(long)]
    pub simulated: bool,
    /// Print JSON: `columns`, each with its motions, their metrics and the means.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp bench`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  pomp bench --out out/bench                                      five minutes, without a dataset
  pomp bench --data data --out out/bench                          with mocap, motion matching and tracked clips
  pomp bench --config configs/bench/full.toml --data data --out out/bench
  pomp bench --only ours,kinematic_only --out out/bench
  pomp bench performance --out docs                               what a frame costs on this machine

To continue an interrupted bench, give the same command again."
)]
pub struct BenchArguments {
    /// What else to measure.
    #[command(subcommand)]
    pub command: Option<BenchCommand>,
    /// Arguments of the bench itself.
    #[command(flatten)]
    pub methods: Option<MethodsArguments>,
}

/// `pomp bench …`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure what a frame costs on this machine, and write a page about it.
    Performance(PerformanceArguments),
}

/// Arguments of `pomp bench performance`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp bench performance --out docs                       the complete measurement, less than ten minutes on two cores
  pomp bench performance --quick --out out/performance    some seconds; the page says that it is not complete
  pomp bench performance --peers peers.json --out docs    with what crates/pomp-bench/benches/peers.py measured of other programs
  pomp bench performance --controllers model --out docs   with the controllers of a model folder, those with clips among them

Writes performance.md, performance.json and images/performance_*.svg. Let nothing else run on the machine, or say with --remark what did.")]
pub struct PerformanceArguments {
    /// Configuration of the measurement; that of configs/bench/performance.toml if left out.
    #[arg(long, value_hint = ValueHint::FilePath, conflicts_with = "quick")]
    pub config: Option<PathBuf>,
    /// Measure for some seconds only, as configs/bench/performance_quick.toml says.
    #[arg(long)]
    pub quick: bool,
    /// Override a setting of the configuration: KEY.PATH=VALUE. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Model folder that is measured beside the embedded compact model. May be given several times. If left out,
    /// data/models/paper_size, where the current folder has it.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Vec<PathBuf>,
    /// Model folder whose controllers are measured; the embedded compact model if left out, which holds those without clips.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub controllers: Option<PathBuf>,
    /// Results of other programs for the page, written by crates/pomp-bench/benches/peers.py.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub peers: Option<PathBuf>,
    /// What else the machine did during the measurement, for the page.
    #[arg(long, value_name = "TEXT")]
    pub remark: Option<String>,
    /// Output folder: performance.md, performance.json, and charts below images.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Print the figures as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp bench` without a command.
#[derive(Debug, Args)]
pub struct MethodsArguments {
    /// Configuration of methods and scenarios; that of configs/bench/quick.toml if left out.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Override a setting of the configuration: KEY.PATH=VALUE. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Model folder; the embedded compact model if left out.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Folder of recordings made by `pomp preprocess`. If left out, methods that need mocap are skipped, and nothing is
    /// compared with mocap.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
    /// Output folder: report.html, report.md, report.json, and one file per run.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Run only these methods.
    #[arg(long, value_delimiter = ',', value_name = "METHOD")]
    pub only: Vec<String>,
    /// Run only these scenarios.
    #[arg(long, value_delimiter = ',', value_name = "SCENARIO")]
    pub scenario: Vec<String>,
    /// Number of runs at a time; one per core if left out.
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::count)]
    pub threads: Option<usize>,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}
