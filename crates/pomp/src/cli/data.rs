//! Arguments of the commands about datasets: inspect, preprocess, export, validate-impulses, synthesize.

use super::{ReadingArguments, numbers};
use clap::{Args, ValueEnum, ValueHint};
use pomp_batch::LONGEST_S;
use std::path::PathBuf;

/// Arguments of `pomp inspect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp inspect walk.bvh
  pomp inspect mocap/*.bvh --json
  pomp inspect data                          minutes, forces and licences of a dataset
  pomp inspect strange.bvh --rig my_rig.toml

If no known rig map fits a clip, the joints are inferred from names of other conventions or from the structure of the skeleton,
and shown with confidence and reason (`pomp rig infer` writes the map). If the skeleton does not appear to be a human body, the
command shows what it found: joints, frames, frame rate, likely units, the reason, and what the nearest rig maps miss.
docs/rigs.md explains how to write a rig map.")]
pub struct InspectArguments {
    /// Motion files (.bvh, .glb, .gltf), recordings and rollouts (.npz), terrain (.npz, .png), or folders of recordings.
    #[arg(required = true)]
    pub clips: Vec<PathBuf>,
    /// How the motion files are read.
    #[command(flatten)]
    pub reading: ReadingArguments,
    /// Print JSON: `files`, a list with one object per file or folder, each with its `kind`.
    #[arg(long)]
    pub json: bool,
    /// Write a web page that plays the motion file beside its retargeted version on the project skeleton. It works offline in
    /// any browser.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
}

/// Arguments of `pomp preprocess`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp preprocess mocap/ --out data
  pomp preprocess a.bvh b.bvh --out data --config configs/preprocess.toml --strict
  pomp preprocess mocap/ --out data --rank 0 --ranks 4

To continue an interrupted run, give the same command again. Several processes can share the work with --rank and --ranks. When
all of them are done, run the command without these options to write the manifest of the whole dataset.")]
pub struct PreprocessArguments {
    /// Motion files (.bvh, .glb, .gltf), or folders to search for them.
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// Output folder: one npz per clip, and manifest.json.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// How the motion files are read.
    #[command(flatten)]
    pub reading: ReadingArguments,
    /// Process only the clips of this rank, counted from 0. Clips are assigned to ranks by a hash of their names.
    #[arg(long, requires = "ranks", allow_negative_numbers = true)]
    pub rank: Option<usize>,
    /// Number of ranks.
    #[arg(long, requires = "rank", allow_negative_numbers = true, value_parser = numbers::count)]
    pub ranks: Option<usize>,
    /// Stop at the first clip that fails, instead of skipping it.
    #[arg(long)]
    pub strict: bool,
    /// Print the manifest as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The formats of `pomp export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Tar files of npz and JSON pairs, for webdataset.
    Shards,
    /// Parquet, one row per frame.
    Parquet,
    /// .motion files of ProtoMotions, with contact forces.
    Protomotions,
    /// .pkl files of MimicKit, and the character that they animate.
    Mimickit,
    /// Animated glTF.
    Glb,
    /// BVH.
    Bvh,
}

/// Arguments of `pomp export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp export data --format shards --out shards
  pomp export data --format protomotions --out motions

The same data always gives the same bytes. To continue an interrupted run, give the same command again.")]
pub struct ExportArguments {
    /// Folder of recordings made by `pomp preprocess`.
    #[arg(value_hint = ValueHint::DirPath)]
    pub data: PathBuf,
    /// What to write.
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// Output folder.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Print the files as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp validate-impulses`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp validate-impulses plates/
  pomp validate-impulses plates/ --out out/impulses --json

The folder contains manifest.csv (columns path, grf, mass_kg_use) and, for each trial, a BVH file and its force-plate data at
the same frames (columns t, L_fx_N … L_pz_cm, R_fx_N … R_pz_cm). A trial X is left out if there is also a trial
X_overground.")]
pub struct ValidateImpulsesArguments {
    /// Folder of the trials.
    #[arg(value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Output folder for the plots and impulses.json.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// How the motion files are read.
    #[command(flatten)]
    pub reading: ReadingArguments,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp synthesize`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp synthesize --out clips
  pomp synthesize --sample --out sample      six short clips of 4 s
  pomp preprocess clips --out data && pomp train all --data data --out model")]
pub struct SynthesizeArguments {
    /// Output folder for the BVH files.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Seconds per clip; 12 by default, 4 with --sample.
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::above(0.0, LONGEST_S, "s"))]
    pub seconds: Option<f32>,
    /// Write one short clip of each kind, including a walk up a slope and one over stairs, each with its ground as
    /// NAME_terrain.toml.
    #[arg(long)]
    pub sample: bool,
    /// Seed.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
}
