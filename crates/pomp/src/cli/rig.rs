//! Arguments of `pomp rig`.

use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `pomp rig …`.
#[derive(Debug, Subcommand)]
pub enum RigCommand {
    /// Find out which joint of a motion file is which, and write the rig map.
    Infer(RigInferArguments),
}

/// Arguments of `pomp rig infer`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp rig infer strange.bvh
  pomp rig infer strange.bvh --out my_rig.toml
  pomp inspect strange.bvh --rig my_rig.toml

Joint names of all known conventions are read; where names say nothing, the joints are found by structure: stiff bones, mirrored
limbs, proportions and motion. Each joint comes with a confidence and the reason; check those below 0.6. The file that --out
writes is read by --rig of every command. docs/rigs.md explains its fields. Known rig maps are not asked.")]
pub struct RigInferArguments {
    /// The motion file (.bvh, .glb).
    #[arg(value_hint = ValueHint::FilePath)]
    pub clip: PathBuf,
    /// The rig map to write; without it only the findings are printed.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Print JSON: the findings with confidence and reason.
    #[arg(long)]
    pub json: bool,
}
