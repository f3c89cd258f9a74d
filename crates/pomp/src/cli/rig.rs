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
  pomp rig infer strange.bvh --joint LeftHand=bone_17 --joint LeftToe= --out my_rig.toml
  pomp inspect strange.bvh --rig my_rig.toml

Joint names of all known conventions are read; where names say nothing, the joints are found by structure: stiff bones, mirrored
limbs, proportions and motion. Each joint comes with a confidence and the reason; check those below 0.6. The file that --out
writes is read by --rig of every command. docs/rigs.md explains its fields. Known rig maps are not asked.")]
pub struct RigInferArguments {
    /// The motion file (.bvh, .glb).
    #[arg(value_hint = ValueHint::FilePath)]
    pub clip: PathBuf,
    /// A joint that is known, as often as needed: a joint of the project and the joint of the file that plays it, or nothing behind
    /// the sign where the file has none. The others are found around it.
    #[arg(long = "joint", value_name = "ROLE=JOINT", value_parser = stated_joint)]
    pub joints: Vec<(String, Option<String>)>,
    /// The rig map to write; without it only the findings are printed.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Print JSON: the findings with confidence and reason.
    #[arg(long)]
    pub json: bool,
}

/// `ROLE=JOINT`, or `ROLE=` for a role that no joint plays.
fn stated_joint(text: &str) -> Result<(String, Option<String>), String> {
    let (role, joint) = text.split_once('=').ok_or("it is not ROLE=JOINT, such as LeftHand=bone_17")?;
    Ok((role.to_owned(), Some(joint.to_owned()).filter(|joint| !joint.is_empty())))
}
