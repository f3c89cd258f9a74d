//! Arguments of the commands that measure motion: evaluate and bench.

use super::numbers;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Arguments of `pomp evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp evaluate out/generate/rollout.npz
  pomp evaluate rollout.npz walk.bvh         generated beside mocap
  pomp evaluate out/walks out/other_walks    two batches: means with 95 % intervals, side by side
  pomp evaluate data --json

Each argument is a column. A folder is the mean over its recordings (.npz, in subfolders too; where there are none its .bvh and
.glb clips), with the half width of the 95 % interval. ↓ less is better, ↑ more is better, ~ as in the data. docs/metrics.md
(https://github.com/pomp-rs/pomp/blob/main/docs/metrics.md) defines every metric with its formula and unit.")]
pub struct EvaluateArguments {
    /// Rollouts, recordings, BVH or GLB files, and folders of them.
    #[arg(required = true)]
    pub motions: Vec<PathBuf>,
    /// Ground of motions that carry none, a preset or a file (.toml, .png, .npz); without it flat at y = 0.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub terrain: Option<String>,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
    /// Measure the simulated side of every recording: of a preprocessed clip its physics replay, not the clip.
    #[arg(long)]
    pub simulated: bool,
    /// Print JSON: `columns`, each with its motions, their metrics, and the means.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp bench --out out/bench                                      five minutes, without a dataset
  pomp bench --data data --out out/bench                          with mocap, motion matching and tracked clips
  pomp bench --config configs/bench/full.toml --data data --out out/bench
  pomp bench --only ours,kinematic_only --out out/bench

An interrupted bench goes on where it stopped when the same command is given again.")]
pub struct BenchArguments {
    /// Methods and scenarios; without it those of configs/bench/quick.toml.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Model folder; without it the embedded compact model.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Folder of recordings that `pomp preprocess` has made; without it methods that need mocap are left out, and
    /// nothing is compared with mocap.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
    /// Folder of the results: report.html, report.md, report.json, and a file per run.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Only these methods.
    #[arg(long, value_delimiter = ',', value_name = "METHOD")]
    pub only: Vec<String>,
    /// Only these scenarios.
    #[arg(long, value_delimiter = ',', value_name = "SCENARIO")]
    pub scenario: Vec<String>,
    /// Runs at a time; without it one per core.
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::count)]
    pub threads: Option<usize>,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}
