//! Arguments of `pomp style`.

use super::numbers;
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `pomp style …`.
#[derive(Debug, Subcommand)]
pub enum StyleCommand {
    /// Fit the styles of walking clips, and write the style file.
    Fit(StyleFitArguments),
    /// Generate a walk in a mix of styles.
    Blend(StyleBlendArguments),
    /// Change a walk so that joints reach given positions.
    Edit(StyleEditArguments),
    /// Show the contents of a style file, and measure it on clips.
    Report(StyleReportArguments),
}

/// Where the style label of a clip comes from.
#[derive(Debug, Args)]
pub struct LabelArguments {
    /// Where the style label of a clip comes from: `folder` (the name of its folder), `name:PATTERN` (the first group of a regular
    /// expression in its file name), or a CSV file with the columns path (relative to the CSV) and style.
    #[arg(long, default_value = "folder", value_name = "WHERE")]
    pub labels: String,
    /// A rig map file of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
}

/// Arguments of `pomp style fit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp style fit walks/ --reference walks/neutral/01.bvh --out styles.safetensors
  pomp style fit walks/*.bvh --labels 'name:walk_([a-z]+)_' --reference walks/walk_normal_001.bvh --out styles.safetensors
  pomp style fit walks/ --reference neutral.npz --out styles.safetensors --set posture_components=8 --set timing_components=4

Clips are cut into walking cycles at the strikes of the left foot. Strides that turn, stand, run or climb are left out, and listed
with -v. Every fifth clip of each style is held out from the fit and measured (held_out_every). docs/style.md explains the method and
the figures.")]
pub struct StyleFitArguments {
    /// Motion files (.bvh, .glb, .gltf), recordings (.npz), or folders of them.
    #[arg(required = true)]
    pub clips: Vec<PathBuf>,
    /// Clip of a neutral walk. All cycles are aligned to its cycle of median duration.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub reference: PathBuf,
    /// The style file to write.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// Where the style labels come from, and how files are read.
    #[command(flatten)]
    pub labels: LabelArguments,
    /// Configuration; the defaults, listed in configs/style.toml, if left out.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Override a setting of the configuration: KEY.PATH=VALUE. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Print the figures as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The walk to generate, and where to write it.
#[derive(Debug, Args)]
pub struct StyleWalkArguments {
    /// The style file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub styles: PathBuf,
    /// Style, or name of a cycle, that provides the content of the walk: everything except its style.
    #[arg(long)]
    pub content: String,
    /// Styles with their weights. The sum is at most 1; the remaining weight stays with the style of the content.
    #[arg(long, value_name = "STYLE=WEIGHT,…", value_delimiter = ',')]
    pub weights: Vec<String>,
    /// Blend or edit all subspaces, not only the style subspace.
    #[arg(long)]
    pub all: bool,
    /// Length of the walk, seconds; the cycle is repeated.
    #[arg(long, default_value_t = 6.0, allow_negative_numbers = true, value_parser = numbers::above(0.0, 3600.0, "s"))]
    pub seconds: f32,
    /// Leave planted feet as in the cycle, instead of holding them in place.
    #[arg(long)]
    pub free_feet: bool,
    /// The clip to write: .bvh, .glb or .npz.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp style blend`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp style blend styles.safetensors --content neutral --weights tired=0.7 --out tired.bvh
  pomp style blend styles.safetensors --content neutral --weights tired=0.5,proud=0.5 --seconds 10 --out mix.npz
  pomp style blend styles.safetensors --content tired --out tired.glb")]
pub struct StyleBlendArguments {
    /// The walk to generate.
    #[command(flatten)]
    pub walk: StyleWalkArguments,
}

/// Arguments of `pomp style edit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp style edit styles.safetensors --content neutral --constraint LeftHand@0.5=_,1.2,_ --out raised.bvh
  pomp style edit styles.safetensors --content neutral --weights tired=0.3 --constraint Head@0.25=_,1.4,0.2 --all --out bent.npz

A constraint is JOINT@TIME=LEFT,UP,AHEAD. The time runs from 0 (strike of the left foot) to 1 (its next strike). The position is in
metres, relative to the point on the ground below the pelvis; _ leaves a coordinate free. The Levenberg-Marquardt method searches the
style subspace, or with --all every subspace, for the nearest walk that meets all constraints.")]
pub struct StyleEditArguments {
    /// The walk to generate.
    #[command(flatten)]
    pub walk: StyleWalkArguments,
    /// Required position of a joint. May be given several times.
    #[arg(long, required = true, value_name = "JOINT@TIME=LEFT,UP,AHEAD")]
    pub constraint: Vec<String>,
    /// Largest number of Levenberg-Marquardt steps.
    #[arg(long, default_value_t = 30, allow_negative_numbers = true, value_parser = numbers::count)]
    pub iterations: usize,
    /// Cost of changing the walk by one standard deviation, as the equivalent position error in metres. A larger value keeps the
    /// walk closer to the original.
    #[arg(long, default_value_t = 0.002, allow_negative_numbers = true, value_parser = numbers::above(0.0, 1.0, "m"))]
    pub stiffness: f32,
}

/// Arguments of `pomp style report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp style report styles.safetensors
  pomp style report styles.safetensors other_walks/ --json

If clips are given, the command computes on them the figures that the fit computed on its held-out clips: the reconstruction error of
cycles, and how often the nearest style is the right one. Use clips that were not part of the fit.")]
pub struct StyleReportArguments {
    /// The style file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub styles: PathBuf,
    /// Motion files, recordings or folders to measure on.
    pub clips: Vec<PathBuf>,
    /// Where the style labels come from, and how files are read.
    #[command(flatten)]
    pub labels: LabelArguments,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
