//! Arguments of `pomp style`.

use super::numbers;
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `pomp style …`.
#[derive(Debug, Subcommand)]
pub enum StyleCommand {
    /// Find the styles of walks, and write the style file.
    Fit(StyleFitArguments),
    /// Walk in a mix of styles.
    Blend(StyleBlendArguments),
    /// Change a walk until joints are where they are wanted.
    Edit(StyleEditArguments),
    /// Show what a style file holds, and measure it on clips.
    Report(StyleReportArguments),
}

/// Where the label of a clip's style stands.
#[derive(Debug, Args)]
pub struct LabelArguments {
    /// Where the style of a clip stands: `folder` (the name of its folder), `name:PATTERN` (the first group of a regular expression in
    /// its file name), or a CSV file with the columns path (relative to the CSV) and style.
    #[arg(long, default_value = "folder", value_name = "WHERE")]
    pub labels: String,
    /// A rig map of your own, tried before the built-in ones.
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

Walking cycles are cut at the strikes of the left foot; strides that turn, stand, run or climb are left out, and listed with -v. Every
fifth clip of each style is held out and measured (held_out_every). docs/style.md explains the method and the figures.")]
pub struct StyleFitArguments {
    /// Motion files (.bvh, .glb), recordings (.npz), or folders of them.
    #[arg(required = true)]
    pub clips: Vec<PathBuf>,
    /// Clip of a neutral walk; others are aligned to its cycle of middle duration.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub reference: PathBuf,
    /// The style file to write.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// Where the styles stand, and how files are read.
    #[command(flatten)]
    pub labels: LabelArguments,
    /// Configuration; without it the defaults, which configs/style.toml lists.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Print the figures as JSON.
    #[arg(long)]
    pub json: bool,
}

/// What is walked, and where it goes.
#[derive(Debug, Args)]
pub struct StyleWalkArguments {
    /// The style file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub styles: PathBuf,
    /// Style, or cycle by name, that all but the style comes from.
    #[arg(long)]
    pub content: String,
    /// Styles with their weights, which add up to 1 at most; the content keeps the rest.
    #[arg(long, value_name = "STYLE=WEIGHT,…", value_delimiter = ',')]
    pub weights: Vec<String>,
    /// Blend or edit all subspaces, not that of the style alone.
    #[arg(long)]
    pub all: bool,
    /// Seconds of the walk, by repeating the cycle.
    #[arg(long, default_value_t = 6.0, allow_negative_numbers = true, value_parser = numbers::above(0.0, 3600.0, "s"))]
    pub seconds: f32,
    /// Leave planted feet as the cycle has them, instead of holding them where they stand.
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
    /// What is walked.
    #[command(flatten)]
    pub walk: StyleWalkArguments,
}

/// Arguments of `pomp style edit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp style edit styles.safetensors --content neutral --constraint LeftHand@0.5=_,1.2,_ --out raised.bvh
  pomp style edit styles.safetensors --content neutral --weights tired=0.3 --constraint Head@0.25=_,1.4,0.2 --all --out bent.npz

A constraint is JOINT@TIME=LEFT,UP,AHEAD: time from 0 (strike of the left foot) to 1 (its next), metres from the ground below the
pelvis, _ for what is free. Levenberg-Marquardt searches the style subspace for the nearest walk that meets all of them; with --all
every subspace.")]
pub struct StyleEditArguments {
    /// What is walked.
    #[command(flatten)]
    pub walk: StyleWalkArguments,
    /// Where a joint has to be; as often as needed.
    #[arg(long, required = true, value_name = "JOINT@TIME=LEFT,UP,AHEAD")]
    pub constraint: Vec<String>,
    /// Most steps of Levenberg-Marquardt.
    #[arg(long, default_value_t = 30, allow_negative_numbers = true, value_parser = numbers::count)]
    pub iterations: usize,
    /// Metres that a change of the walk by one standard deviation counts for: more keeps it nearer to what it was.
    #[arg(long, default_value_t = 0.002, allow_negative_numbers = true, value_parser = numbers::above(0.0, 1.0, "m"))]
    pub stiffness: f32,
}

/// Arguments of `pomp style report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp style report styles.safetensors
  pomp style report styles.safetensors other_walks/ --json

With clips, which had better not be those of the fit, it measures on them what the fit measured on clips held out: the error of
restored cycles, and how often the nearest style is the right one.")]
pub struct StyleReportArguments {
    /// The style file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub styles: PathBuf,
    /// Motion files, recordings or folders to measure on.
    pub clips: Vec<PathBuf>,
    /// Where the styles stand, and how files are read.
    #[command(flatten)]
    pub labels: LabelArguments,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
