//! Arguments of `pomp rig`.

use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `pomp rig …`.
#[derive(Debug, Subcommand)]
pub enum RigCommand {
    /// Infer which joint of a motion file is which, and write the rig map.
    Infer(RigInferArguments),
}

/// Arguments of `pomp rig infer`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp rig infer strange.bvh
  pomp rig infer character.glb --out my_rig.toml
  pomp rig infer strange.bvh --joint LeftHand=bone_17 --joint LeftToe= --out my_rig.toml
  pomp inspect strange.bvh --rig my_rig.toml

The command recognises joint names of all known conventions. Where the names do not help, it finds joints by structure: stiff bones,
mirrored limbs, proportions and motion. It does not use the known rig maps. Each joint is printed with a confidence and the reason;
check those below 0.6. The file that --out writes can be passed to --rig of every command. docs/rigs.md explains its fields.")]
pub struct RigInferArguments {
    /// The file: a motion (.bvh, .glb, .gltf), or a character without one (.glb, .gltf).
    #[arg(value_hint = ValueHint::FilePath)]
    pub clip: PathBuf,
    /// State a known joint: ROLE is a joint of the project skeleton and JOINT the corresponding joint of the file, or empty if the
    /// file has none. The other joints are inferred around it. May be given several times.
    #[arg(long = "joint", value_name = "ROLE=JOINT", value_parser = stated_joint)]
    pub joints: Vec<(String, Option<String>)>,
    /// The rig map to write. If left out, the command only prints its findings.
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
