//! Arguments of `pomp retarget`.

use super::{ReadingArguments, numbers};
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `pomp retarget …`.
#[derive(Debug, Subcommand)]
pub enum RetargetCommand {
    /// Tell clips exactly on bodies of two skeletons: motions to train networks with, and held-out pairs to measure with.
    Pairs(RetargetPairsArguments),
    /// Measure networks, rules and copied rotations on held-out pairs.
    Report(RetargetReportArguments),
}

/// Arguments of `pomp retarget`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  pomp retarget out/generate/rollout.npz --to character.bvh --out walk_on_character.bvh
  pomp retarget walk.bvh --to character.bvh --out walk_on_character.glb --plant-feet
  pomp retarget rollout.npz --to character.bvh --rig my_rig.toml     only say what would be done
  pomp retarget out/generate/rollout.npz --to character.glb --out walking_character.glb
  pomp retarget walk.bvh --to character.bvh --model networks --out walk_on_character.bvh

A GLB or glTF file is written with its meshes, skins and materials, and the motion as its first animation. Only the rest pose and the
floor of the target file are used, not its motion, so one frame of a BVH file is enough and a GLB file needs no animation. Joints that
correspond to no joint of the body keep their rest pose. Extra joints within a limb or the spine share its bends and twists. The result
has the frame rate of the clip. docs/retargeting.md explains the method.")]
pub struct RetargetArguments {
    /// What to do instead of retargeting a motion.
    #[command(subcommand)]
    pub command: Option<RetargetCommand>,
    /// The motion: a recording or rollout (.npz), or a motion file (.bvh, .glb, .gltf).
    #[arg(value_hint = ValueHint::FilePath, required = true)]
    pub clip: Option<PathBuf>,
    /// File with the target skeleton: .bvh, .glb or .gltf.
    #[arg(long, value_name = "SKELETON", value_hint = ValueHint::FilePath, required = true)]
    pub to: Option<PathBuf>,
    /// Use skeleton-aware networks (`pomp train retarget`) instead of the rules. The motion (.bvh or .npz) has one of their two
    /// skeletons, and the target has the other one or is another body with the same one.
    #[arg(long, value_name = "NETWORKS", value_hint = ValueHint::AnyPath, conflicts_with_all = ["plant_feet", "simulated", "rig", "config", "set"])]
    pub model: Option<PathBuf>,
    /// The file to write. Of a BVH skeleton: .bvh with its joints, channels, unit and axes, or .glb in metres with Y up. Of a GLB or
    /// glTF skeleton: .glb with everything in its file and the new animation, or .bvh in centimetres with Y up. If left out, the command
    /// only prints its findings.
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

/// Arguments of `pomp retarget pairs`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp retarget pairs mocap/*.bvh --out pairs
  pomp train retarget --a pairs/a --b pairs/b --out networks
  pomp retarget report networks --pairs pairs/held_out

Skeleton a is the project's, 22 joints. Skeleton b has thighs and forearms split and one spine joint less. Bodies differ in the
lengths of legs, trunk, shoulders and arms. Every fifth clip is held out; of the others a has every second, b the rest, so that no
motion is in both. A held-out clip is told on two bodies of each skeleton that no other clip has: all four show the same rotations
in the world. A file is CLIP__BODY.bvh.")]
pub struct RetargetPairsArguments {
    /// Motion files (.bvh, .glb, .gltf) or recordings (.npz) of persons.
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub clips: Vec<PathBuf>,
    /// Folder of the results: a, b, held_out/a, held_out/b.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Turn every joint frame of skeleton b by a rotation of its own.
    #[arg(long)]
    pub turned: bool,
    /// Bodies of each skeleton to learn from.
    #[arg(long, default_value_t = 6, allow_negative_numbers = true, value_parser = numbers::count)]
    pub bodies: usize,
    /// Seed of the bodies.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
}

/// Arguments of `pomp retarget report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp retarget report networks --pairs pairs/held_out
  pomp retarget report networks without_adversarial --pairs pairs/held_out --out out/retargeting

Every motion of the pairs goes onto every other body of the same clip. Printed is the squared distance of joints over the squared
height of the target, times 1000, and the speed of planted feet.")]
pub struct RetargetReportArguments {
    /// Networks (model folders or files) to measure; without any, rules and copied rotations alone.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub models: Vec<PathBuf>,
    /// Folder with the folders a and b of pairs, CLIP__BODY.bvh.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub pairs: PathBuf,
    /// Folder of the results, report.md and report.json; without it they are only printed.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}
