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

For a clip that no known rig map fits the joints are inferred, by names of other conventions or by structure, and shown with
confidence and reason (`pomp rig infer` writes the map). What is taken for no human body is shown as it is: joints, frames, rate,
likely units, the reason, and what the nearest rig maps miss (docs/rigs.md tells how to write one).")]
pub struct InspectArguments {
    /// Motion files (.bvh, .glb), recordings and rollouts (.npz), terrain (.npz, .png), or folders of recordings.
    #[arg(required = true)]
    pub clips: Vec<PathBuf>,
    /// How the motion files are read.
    #[command(flatten)]
    pub reading: ReadingArguments,
    /// Print JSON: `files`, one object per file or folder, each with its `kind`.
    #[arg(long)]
    pub json: bool,
    /// Write a page that plays the motion file beside what it becomes on the project skeleton, in any browser, offline.
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

An interrupted run goes on where it stopped when the same command is given again. Several processes share the work with
--rank and --ranks; when all are done, the command without them writes the manifest of the whole.")]
pub struct PreprocessArguments {
    /// BVH files, or folders that are searched for them.
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// Folder of the results: one npz per clip, and manifest.json.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// How the motion files are read.
    #[command(flatten)]
    pub reading: ReadingArguments,
    /// Do only the clips of this rank, from 0; by hash of the clip's name.
    #[arg(long, requires = "ranks", allow_negative_numbers = true)]
    pub rank: Option<usize>,
    /// Number of ranks.
    #[arg(long, requires = "rank", allow_negative_numbers = true, value_parser = numbers::count)]
    pub ranks: Option<usize>,
    /// Stop at the first clip that fails instead of skipping it.
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
    /// Parquet, a row per frame.
    Parquet,
    /// .motion files of ProtoMotions, with contact forces.
    Protomotions,
    /// .pkl files of MimicKit, and the character that they move.
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

The same data gives the same bytes. An interrupted run goes on when the same command is given again.")]
pub struct ExportArguments {
    /// Folder of recordings that `pomp preprocess` has made.
    #[arg(value_hint = ValueHint::DirPath)]
    pub data: PathBuf,
    /// What to write.
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// Folder of the results.
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

The folder holds manifest.csv (columns path, grf, mass_kg_use), a BVH file per trial and its force plates on the same
frames (columns t, L_fx_N … L_pz_cm, R_fx_N … R_pz_cm). A trial X is left out when there is an X_overground.")]
pub struct ValidateImpulsesArguments {
    /// Folder of the trials.
    #[arg(value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Folder of the plots, and of impulses.json.
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
    /// Folder of the BVH files.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Seconds per clip; 12 by default, 4 with --sample.
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::above(0.0, LONGEST_S, "s"))]
    pub seconds: Option<f32>,
    /// One short clip of each kind, a walk up a slope and one over stairs among them, each with its ground as
    /// NAME_terrain.toml.
    #[arg(long)]
    pub sample: bool,
    /// Seed.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
}
