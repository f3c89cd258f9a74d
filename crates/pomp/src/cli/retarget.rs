//! Arguments of `pomp retarget`.

use super::ReadingArguments;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Arguments of `pomp retarget`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp retarget out/generate/rollout.npz --to character.bvh --out walk_on_character.bvh
  pomp retarget walk.bvh --to character.bvh --out walk_on_character.glb --plant-feet
  pomp retarget rollout.npz --to character.bvh --rig my_rig.toml     only say what would be done

The target's motion is not used, but for its rest pose and its floor: one frame is enough. Joints that play no joint of a person
keep their rest pose; joints in between share bends and twists. The frame rate is the clip's. docs/retargeting.md explains it.")]
pub struct RetargetArguments {
    /// The motion: recording or rollout (.npz), BVH or GLB file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub clip: PathBuf,
    /// BVH file with the skeleton to put the motion on.
    #[arg(long, value_name = "SKELETON", value_hint = ValueHint::FilePath)]
    pub to: PathBuf,
    /// The file to write: .bvh with the joints, channels, unit and axes of the skeleton's file, or .glb in metres with Y up. Without
    /// it only the findings are printed.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Hold planted feet in place by inverse kinematics, also where they slide in the clip.
    #[arg(long)]
    pub plant_feet: bool,
    /// Take the simulated motion of a recording of `pomp preprocess` in place of the mocap.
    #[arg(long)]
    pub simulated: bool,
    /// How the motion file is read; rig maps count for the skeleton's file too.
    #[command(flatten)]
    pub reading: ReadingArguments,
    /// Print JSON: what was found, missing and measured.
    #[arg(long)]
    pub json: bool,
}
