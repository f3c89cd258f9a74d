//! Arguments of the commands that run the closed loop: generate and replay.

use super::numbers;
use super::style_weights::{StyleWeights, style_weights};
use clap::{Args, ValueHint};
use pomp_batch::LONGEST_S;
use pomp_controllers::ControllerKind;
use pomp_front::support::Support;
use std::path::PathBuf;

/// Arguments of `pomp generate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp generate --control walk --terrain flat --seconds 60 --out out/walk
  pomp generate --terrain stairs --seed 3 --out out/stairs
  pomp generate --push 4,Spine2,60,0,0 --push 8,Hips,0,0,-80 --out out/pushed
  pomp generate --control circle --terrain flat --push 4,Spine2,60,left --out out/from_the_right
  pomp generate --count 20 --terrain flat --push 3..6,Spine2,50..100,random --out out/random_pushes
  pomp generate --control reach:1.5,4,90 --terrain flat --out out/reach
  pomp generate --control path.toml --model model --out out/path
  pomp generate --control walk --terrain flat --stature 1.6 --mass 55 --out out/small
  pomp generate --control walk --terrain flat --style zombie:0.7 --out out/zombie
  pomp generate --scene meet --terrain flat --out out/meet    two characters who bump into each other
  pomp generate --count 1000 --random --out out/rollouts      random grounds, commands and pushes
  pomp generate --count 20 --terrain flat --push none --seconds 60 --seed 1 --out out/walks

A path file has two or more waypoints. The character starts at the first one. x (left) and z (ahead) are in metres:
  [[waypoint]]
  x = 0.0
  z = 0.0
  speed_mps = 1.2     # on the way to the next waypoint; 1.2 if left out
  gait = \"walk\"       # likewise; if left out by speed: walk below 1.9 m/s, jog above
  [[waypoint]]
  x = 2.0
  z = 8.0

To continue an interrupted batch (--count), give the same command again; a larger --count extends it. Several processes can share a batch
with --rank and --ranks. When all of them are done, run the command without these options to write the manifest of the whole batch.")]
pub struct GenerateArguments {
    /// Model folder; the embedded models if left out (--support says which of them leads).
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Preset (flat, slope, stairs, hills, rough, gaps, mixed) or file (.toml, .png, .npz).
    #[arg(long, default_value = "hills", value_hint = ValueHint::FilePath)]
    pub terrain: String,
    /// Preset (stand, walk, jog, circle, slalom, stop-and-go, backward, sideways, crouch, run, turn), path file (.toml), clip (.bvh,
    /// .glb, .npz) whose trajectory the character follows, or reach:X,Z,DEG: walk to x (left) and z (ahead), metres, turn to that
    /// direction (degrees, 90 is left) and stand.
    #[arg(long, default_value = "walk", value_hint = ValueHint::FilePath)]
    pub control: String,
    /// Push, in one of two forms. T,BODY,JX,JY,JZ: time (s), body and impulse (N·s, world). T,BODY,J,DIRECTION: J N·s along the ground,
    /// relative to the commanded heading at that time; DIRECTION is ahead, back, left, right, random or an angle in degrees (0 ahead, 90
    /// left). T, J and the angle may be ranges A..B; a value is drawn from them with the seed, and with --count separately for each
    /// rollout. May be given several times; `--push none` for none. Without this option, a single walk over hills with default settings
    /// gets one push of 50 N·s from the side, halfway through.
    #[arg(long, value_name = "PUSH", allow_hyphen_values = true)]
    pub push: Vec<String>,
    /// Throw a box: time (s), body that it is aimed at, mass (kg), speed (m/s), and the direction that it comes from (degrees in the
    /// world frame: 0 from +Z, 90 from +X). May be given several times. The box is simulated, but neither recorded nor drawn.
    #[arg(long, value_name = "T,BODY,KG,M_S,FROM", conflicts_with = "count", allow_hyphen_values = true)]
    pub throw: Vec<String>,
    /// Simulate several characters in one world, where they can collide: "meet" (two walk towards each other) or a file such as
    /// configs/scenes/meet.toml. Writes OUT/character_1.npz and so on, and no pictures.
    #[arg(long, value_name = "SCENE", conflicts_with_all = ["control", "push", "throw", "count", "stature", "mass"])]
    pub scene: Option<String>,
    /// Height of the character, metres, 1.5 to 2.0; that of the model's skeleton if left out.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::within(1.5, 2.0, "m"))]
    pub stature: Option<f32>,
    /// Mass of the character, kg; that of the configuration if left out.
    #[arg(long, value_name = "KG", allow_negative_numbers = true, value_parser = numbers::within(5.0, 500.0, "kg"))]
    pub mass: Option<f32>,
    /// Length of the rollout, seconds.
    #[arg(long, default_value_t = 10.0, allow_negative_numbers = true, value_parser = numbers::above(0.0, LONGEST_S, "s"))]
    pub seconds: f32,
    /// Seed of terrain and noise.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
    /// Generate N rollouts with the seeds SEED, SEED + 1, …. Writes OUT/rollout_0000.npz and so on, manifest.json, and the metrics of
    /// each rollout to metrics.json.
    #[arg(long, value_name = "N", conflicts_with = "clock", allow_negative_numbers = true, value_parser = numbers::count)]
    pub count: Option<usize>,
    /// Draw ground, command and pushes of each rollout at random from its seed, as configured in FILE, or as in configs/batch.toml if
    /// FILE is left out. Each rollout has the support that its ground and command need (--support), which manifest.json names.
    #[arg(long, value_name = "FILE", requires = "count", conflicts_with_all = ["terrain", "control", "push"], value_hint = ValueHint::FilePath)]
    pub random: Option<Option<PathBuf>>,
    /// Number of threads; one per core if left out. Each thread generates up to eight rollouts at a time.
    #[arg(long, requires = "count", allow_negative_numbers = true, value_parser = numbers::count)]
    pub threads: Option<usize>,
    /// Generate only the rollouts of this rank, counted from 0. Rollouts are assigned to ranks by a hash of their names.
    #[arg(long, requires = "ranks", allow_negative_numbers = true)]
    pub rank: Option<usize>,
    /// Number of ranks.
    #[arg(long, requires_all = ["rank", "count"], allow_negative_numbers = true, value_parser = numbers::count)]
    pub ranks: Option<usize>,
    /// What holds the character up: own-feet (nothing from outside while it is up) or assist (a bounded external wrench on the pelvis; the
    /// settings of configs/generate.toml). If left out, own-feet where it was measured to hold, or to hold more often than with assist
    /// (docs/results.md): in all commands on the preset grounds but stairs and but runs on other ground than flat, in walks ahead on stairs,
    /// and in a style in walks ahead on flat. With --model, in walks ahead on stairs, a residual wrench (at most 0.2 body weights and
    /// 100 N·m) helps the feet. The ground of a file counts as the first of flat, rough, hills, mixed and slope that is as uneven; on slopes
    /// from 8° to 15° standing, turning, walking and jogging do as on slope. Elsewhere, assist. A note tells what helps from outside.
    /// Without --model, the embedded model of all directions leads characters on their own feet (the settings of
    /// configs/own_feet_unrolled.toml, in walks ahead on stairs those of configs/own_feet_stairs.toml, in jogs on slope, hills and gaps and
    /// in crouched walks on slope, hills, gaps and mixed those of configs/own_feet_thorough.toml), but in a style on flat; there, with other
    /// controllers and with --model the settings are those of configs/own_feet_planned.toml (in a style with a return_share of 0.2).
    #[arg(long, value_name = "SUPPORT", conflicts_with = "config")]
    pub support: Option<Support>,
    /// Configuration of the closed loop, over the settings of configs/generate.toml.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Controller that proposes the next frame, overriding the configuration: pomp, phase, pfnn, mann, local-phases, nsm, matching,
    /// matching-phase or learned-matching. The model must contain it.
    #[arg(long, value_name = "KIND")]
    pub controller: Option<ControllerKind>,
    /// Styles in which the character moves, with weights of 0 to 1 that add up to at most 1, overriding the configuration; a weight
    /// that is left out is 1. The model must contain a style adapter.
    #[arg(long, value_name = "NAME:WEIGHT,…", value_parser = style_weights)]
    pub style: Option<StyleWeights>,
    /// Override a setting of the configuration: KEY.PATH=VALUE. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Output folder.
    #[arg(long, default_value = "out/generate", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Do not write the pictures preview.gif and preview.png of a single rollout.
    #[arg(long)]
    pub no_pictures: bool,
    /// Write pictures of every rollout: OUT/rollout_0000.gif and rollout_0000.png, and so on.
    #[arg(long, requires = "count", conflicts_with = "no_pictures")]
    pub pictures: bool,
    /// Record the wall time of every frame in rollout.npz. The bytes of the file then differ from run to run.
    #[arg(long)]
    pub clock: bool,
    /// Print JSON: the metrics of the rollout; with --scene, the metrics of each character; with --count, the metrics of each rollout,
    /// their means with 95 % intervals, and the speed of the batch. docs/metrics.md defines the metrics.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp replay`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp replay out/generate/rollout.npz
  pomp replay out/rollouts/rollout_0007.npz out/rollouts/rollout_0008.npz --json
  pomp replay rollout.npz --model model --out again.npz

A rollout file contains its seed, settings, command, pushes, boxes and ground, and the hash of its model. A rollout downloaded from the
studio contains its scene and all events. The exit code is 1 if a number differs.")]
pub struct ReplayArguments {
    /// Rollouts made by `pomp generate` or the studio.
    #[arg(required = true)]
    pub rollouts: Vec<PathBuf>,
    /// Model folder; the embedded models if left out. It must be the model that made the rollout.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// File to write the reproduced rollout to; for a single rollout only.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
