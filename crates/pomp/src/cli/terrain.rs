//! Arguments of `pomp terrain`.

use super::{ReadingArguments, numbers};
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `pomp terrain …`.
#[derive(Debug, Subcommand)]
pub enum TerrainCommand {
    /// Make a height map from a preset or a TOML description.
    Make(TerrainMakeArguments),
    /// Check the reconstruction of terrain on procedural clips with known ground, and on recorded clips.
    Validate(TerrainValidateArguments),
}

/// Arguments of `pomp terrain validate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp terrain validate
  pomp terrain validate mocap/ --json")]
pub struct TerrainValidateArguments {
    /// BVH files, or folders of them: recorded clips whose feet are compared with the ground reconstructed
    /// from them.
    pub clips: Vec<PathBuf>,
    /// Number of procedural clips: a quarter each on level ground, slopes, hills and stairs.
    #[arg(long, default_value_t = 200, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub count: u64,
    /// Seed of the first procedural clip. The seeds of the other clips count up from it.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
    /// How the motion files are read.
    #[command(flatten)]
    pub reading: ReadingArguments,
    /// Print JSON with the figures of every clip.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp terrain make`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp terrain make hills --seed 7 --out hills.npz
  pomp terrain make configs/terrain/stairs.toml --out stairs.png")]
pub struct TerrainMakeArguments {
    /// A preset (flat, slope, stairs, hills, rough, gaps, mixed) or a TOML file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub terrain: String,
    /// Seed for random terrain.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
    /// The height map to write: .png (16 bit, with a .toml file beside it) or .npz.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
}
