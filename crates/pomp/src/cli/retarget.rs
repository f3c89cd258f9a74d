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

Only the rest pose and the floor of the target file are used, not its motion, so one frame is enough. Joints that correspond to no
joint of the body keep their rest pose. Extra joints within a limb or the spine share its bends and twists. The result has the frame
rate of the clip. docs/retargeting.md explains the method.")]
pub struct RetargetArguments {
    /// The motion: a recording or rollout (.npz), a BVH file or a GLB file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub clip: PathBuf,
    /// BVH file with the target skeleton.
    #[arg(long, value_name = "SKELETON", value_hint = ValueHint::FilePath)]
    pub to: PathBuf,
    /// The file to write: .bvh with the joints, channels, unit and axes of the skeleton's file, or .glb in metres with Y up. If left
    /// out, the command only prints its findings.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Hold planted feet in place by inverse kinematics, even where they slide in the clip.
    #[arg(long)]
    pub plant_feet: bool,
    /// Use the simulated motion of a recording made by `pomp preprocess` instead of the mocap.
    #[arg(long)]
    pub simulated: bool,
    /// How the motion file is read; rig maps count for the skeleton's file too.
    #[command(flatten)]
    pub reading: ReadingArguments,
    /// Print JSON: what was found, missing and measured.
    #[arg(long)]
    pub json: bool,
}
