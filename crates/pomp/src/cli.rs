//! What can be asked for on the command line.

mod config;
mod models;
mod numbers;

pub use config::{ConfigCommand, ConfigKind, ConfigSchemaArguments, ConfigShowArguments, SchemaKind};
pub use models::{
    KinematicCommand, KinematicReportArguments, PhaseAnnotateArguments, PhaseCommand, PhaseReportArguments,
    TrainArguments, TrainStage,
};

use crate::logging::Progress;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use clap_verbosity_flag::Verbosity;
use pomp_batch::LONGEST_S;
use std::net::IpAddr;
use std::path::PathBuf;

/// Physics-constrained human motion: preprocess mocap, train, generate, render, evaluate.
///
/// Without a command it generates: a ten-second walk over hills with one push, by the embedded model.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "\
Examples:
  pomp                                     ten seconds over hills with a push, into out/generate
  pomp inspect walk.bvh                    what is in a clip
  pomp preprocess mocap/ --out data        recordings with terrain and contact impulses
  pomp train all --data data --out model   train a model of your own
  pomp generate --control circle --seconds 30 --out out/circle

Results go to standard output, messages and progress to standard error: bars on a terminal, else a line now and then. RUST_LOG
(levels by module, such as info,pomp_train=debug) stands above -v and -q; NO_COLOR takes the colours away.

Exit codes: 0 done; 1 failed; 2 the command line is wrong; 3 done in part: some inputs failed, the others are done; 130 interrupted."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How much is said on standard error.
    #[command(flatten)]
    pub verbosity: Verbosity<Progress>,
    /// Arguments of `generate`, when no command is given.
    #[command(flatten)]
    pub generate: GenerateArguments,
}

/// Reads the command line; ends the program where it is wrong, and for `--help` and `--version`.
pub fn parse() -> Arguments {
    let mut command = Arguments::command();
    let matches = command.get_matches_mut();
    if let Some((name, _)) = matches.subcommand() {
        let stray = command.get_arguments().find(|argument| {
            let id = argument.get_id().as_str();
            !argument.is_global_set() && matches.value_source(id) == Some(ValueSource::CommandLine)
        });
        if let Some(option) = stray.and_then(|argument| argument.get_long()) {
            let told = format!(
                "--{option} before `{name}` belongs to no command; give it after `{name}`, if that takes it"
            );
            command.error(ErrorKind::ArgumentConflict, told).exit();
        }
    }
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what is in clips (rig, unit, contacts, gaits, warnings) or in a dataset.
    Inspect(InspectArguments),
    /// Make terrain, and check how well it is reconstructed.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp terrain make hills --seed 7 --out hills.npz"
    )]
    Terrain(TerrainCommand),
    /// Turn mocap into recordings with contacts, gaits, terrain and contact impulses.
    Preprocess(PreprocessArguments),
    /// Write a dataset in other people's formats.
    Export(ExportArguments),
    /// Compare stored contact impulses with force plates.
    ValidateImpulses(ValidateImpulsesArguments),
    /// Train a model on recordings.
    Train(TrainArguments),
    /// Phases of recordings.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp phase annotate data --model model
  pomp phase report data model --out out/phases"
    )]
    Phase(PhaseCommand),
    /// The kinematic module of a model.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp kinematic report data model --out out/kinematic"
    )]
    Kinematic(KinematicCommand),
    /// Generate motion in the closed loop.
    Generate(GenerateArguments),
    /// Make rollouts again from their records alone, and compare every number.
    Replay(ReplayArguments),
    /// Draw a clip or rollout as GIF, PNG or a page that plays it.
    Render(RenderArguments),
    /// Open a page in the browser: steer the character, push it, see why; look at clips and rollouts.
    Studio(StudioArguments),
    /// Measure clips and rollouts.
    Evaluate(EvaluateArguments),
    /// Judge the closed loop against mocap and baselines.
    Bench(BenchArguments),
    /// Write procedural clips on known terrain, as data for a machine without mocap.
    Synthesize(SynthesizeArguments),
    /// Configurations, where their values come from, and their schemas.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp config show train --config configs/paper_size_practised.toml
  pomp config schema generate > generate.schema.json"
    )]
    Config(ConfigCommand),
    /// Print a script that completes commands, options and file names in a shell.
    Completions(CompletionsArguments),
    /// Write manual pages, one per command.
    Man(ManArguments),
}

/// Arguments of `pomp completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp completions bash > ~/.local/share/bash-completion/completions/pomp
  pomp completions zsh > ~/.zfunc/_pomp
  pomp completions fish > ~/.config/fish/completions/pomp.fish")]
pub struct CompletionsArguments {
    /// Shell.
    pub shell: Shell,
}

/// Arguments of `pomp man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp man --out ~/.local/share/man/man1      then: man pomp-generate")]
pub struct ManArguments {
    /// Folder of the pages: pomp.1, pomp-generate.1 and so on.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

/// Arguments of `pomp inspect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp inspect walk.bvh
  pomp inspect mocap/*.bvh --json
  pomp inspect data                          minutes, forces and licences of a dataset
  pomp inspect strange.bvh --rig my_rig.toml

A clip that no rig map fits is shown all the same: joints, frames, rate, likely units, and what the nearest rig maps miss
(docs/rigs.md tells how to write one).")]
pub struct InspectArguments {
    /// Motion files (.bvh, .glb), recordings and rollouts (.npz), terrain (.npz, .png), or folders of recordings.
    #[arg(required = true)]
    pub clips: Vec<PathBuf>,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
    /// Preprocessing configuration.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Print JSON: `files`, one object per file or folder, each with its `kind`.
    #[arg(long)]
    pub json: bool,
}

/// `pomp terrain …`.
#[derive(Debug, Subcommand)]
pub enum TerrainCommand {
    /// Make a height map from a preset or a TOML description.
    Make(TerrainMakeArguments),
    /// Check the reconstruction of terrain on grounds that are known, and on recorded clips.
    Validate(TerrainValidateArguments),
}

/// Arguments of `pomp terrain validate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp terrain validate
  pomp terrain validate mocap/ --json")]
pub struct TerrainValidateArguments {
    /// BVH files or folders of recorded clips, whose feet are compared with the ground made of them.
    pub clips: Vec<PathBuf>,
    /// Number of procedural clips: a quarter each on level ground, slopes, hills and stairs.
    #[arg(long, default_value_t = 200, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub count: u64,
    /// Seed of the first procedural clip; the others have the seeds that follow.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
    /// Preprocessing configuration.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
    /// Print JSON: every clip's figures.
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
    /// Seed of random terrain.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
    /// The map to write: .png (16 bit, with a .toml beside it) or .npz.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
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
    /// Configuration; without it the defaults, which configs/preprocess.toml lists.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
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
    /// Preprocessing configuration; without it the defaults, which configs/preprocess.toml lists.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp generate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp generate --control walk --terrain flat --seconds 60 --out out/walk
  pomp generate --terrain stairs --seed 3 --out out/stairs
  pomp generate --push 4,Spine2,60,0,0 --push 8,Hips,0,0,-80 --out out/pushed
  pomp generate --control circle --terrain flat --push 4,Spine2,60,left --out out/from_the_right
  pomp generate --count 20 --terrain flat --push 3..6,Spine2,50..100,random --out out/random_pushes
  pomp generate --control path.toml --model model --out out/path
  pomp generate --control walk --terrain flat --stature 1.6 --mass 55 --out out/small
  pomp generate --scene meet --terrain flat --out out/meet    two characters who bump into each other
  pomp generate --count 1000 --random --out out/rollouts      random grounds, commands and pushes
  pomp generate --count 20 --terrain flat --push none --seconds 60 --seed 1 --out out/walks

A path file has two waypoints or more, the first where the character starts; x (left) and z (ahead) are metres:
  [[waypoint]]
  x = 0.0
  z = 0.0
  speed_mps = 1.2     # on the way to the next waypoint; 1.2 if left out
  gait = \"walk\"       # likewise; if left out by speed: walk below 1.9 m/s, jog above
  [[waypoint]]
  x = 2.0
  z = 8.0

With --count a batch that was interrupted goes on when the same command is given again; a larger --count adds to it.")]
pub struct GenerateArguments {
    /// Model folder; without it the embedded compact model.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Preset (flat, slope, stairs, hills, rough, gaps, mixed) or file (.toml, .png, .npz).
    #[arg(long, default_value = "hills", value_hint = ValueHint::FilePath)]
    pub terrain: String,
    /// Preset (stand, walk, jog, circle, slalom, stop-and-go), path file (.toml), or clip (.bvh, .glb, .npz)
    /// whose trajectory is followed.
    #[arg(long, default_value = "walk", value_hint = ValueHint::FilePath)]
    pub control: String,
    /// Push, in one of two forms. T,BODY,JX,JY,JZ: time (s), body and impulse (N·s, world). T,BODY,J,DIRECTION: J N·s along the
    /// ground, relative to the heading that the command has at that time; DIRECTION is ahead, back, left, right, random or
    /// degrees (0 ahead, 90 left). T, J and degrees may be ranges A..B, drawn from the seed, with --count anew for each
    /// rollout. May be given several times; `--push none` for none.
    /// Without it, a single walk over hills with default settings gets one of 50 N·s from the side at half time.
    #[arg(long, value_name = "PUSH", allow_hyphen_values = true)]
    pub push: Vec<String>,
    /// Throw a box: time (s), body that it is aimed at, mass (kg), speed (m/s), and where it comes from (degrees: 0 from +Z,
    /// 90 from +X, world). May be given several times. It is simulated, and neither recorded nor drawn.
    #[arg(long, value_name = "T,BODY,KG,M_S,FROM", conflicts_with = "count", allow_hyphen_values = true)]
    pub throw: Vec<String>,
    /// Several characters in one world, who bump into each other: "meet" (two walk towards each other) or a file like
    /// configs/scenes/meet.toml. Writes OUT/character_1.npz and so on, and no pictures.
    #[arg(long, value_name = "SCENE", conflicts_with_all = ["control", "push", "throw", "count", "stature", "mass"])]
    pub scene: Option<String>,
    /// Height of the character, metres, 1.5 to 2.0; without it that of the model's skeleton.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::within(1.5, 2.0, "m"))]
    pub stature: Option<f32>,
    /// Mass of the character, kg; without it that of the settings.
    #[arg(long, value_name = "KG", allow_negative_numbers = true, value_parser = numbers::within(5.0, 500.0, "kg"))]
    pub mass: Option<f32>,
    /// Length, seconds.
    #[arg(long, default_value_t = 10.0, allow_negative_numbers = true, value_parser = numbers::above(0.0, LONGEST_S, "s"))]
    pub seconds: f32,
    /// Seed of terrain and noise.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: u64,
    /// So many rollouts with the seeds SEED, SEED + 1, …: OUT/rollout_0000.npz and so on, manifest.json, and the metrics of each
    /// in metrics.json.
    #[arg(long, value_name = "N", conflicts_with = "clock", allow_negative_numbers = true, value_parser = numbers::count)]
    pub count: Option<usize>,
    /// Draw ground, command and pushes of each rollout from its seed, as FILE says; without one as configs/batch.toml does.
    #[arg(long, value_name = "FILE", requires = "count", conflicts_with_all = ["terrain", "control", "push"], value_hint = ValueHint::FilePath)]
    pub random: Option<Option<PathBuf>>,
    /// Rollouts at a time; without it one per core.
    #[arg(long, requires = "count", allow_negative_numbers = true, value_parser = numbers::count)]
    pub threads: Option<usize>,
    /// Settings of the loop; without it the defaults, which configs/generate.toml lists.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Folder of the results.
    #[arg(long, default_value = "out/generate", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Write no pictures: preview.gif and preview.png of a single rollout.
    #[arg(long)]
    pub no_pictures: bool,
    /// Write pictures of every rollout: OUT/rollout_0000.gif and rollout_0000.png, and so on.
    #[arg(long, requires = "count", conflicts_with = "no_pictures")]
    pub pictures: bool,
    /// Record the wall time of every frame in rollout.npz, whose bytes are then those of this run alone.
    #[arg(long)]
    pub clock: bool,
    /// Print JSON: the metrics of the rollout, with --scene those of each character, with --count those of each rollout, their
    /// means with 95 % intervals, and how fast the batch was made. docs/metrics.md defines the metrics.
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

A rollout holds its seed, settings, command, pushes, boxes and ground, and the hash of its model; one taken away from the studio
holds its scene and everything that was done in it. Exit code 1 when a number differs.")]
pub struct ReplayArguments {
    /// Rollouts that `pomp generate` or the studio has made.
    #[arg(required = true)]
    pub rollouts: Vec<PathBuf>,
    /// Model folder; without it the embedded compact model. Another model than the rollout's is refused.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Where to write what came out, for a single rollout.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp render`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp render walk.bvh --out walk.gif
  pomp render out/generate/rollout.npz --out sheet.png
  pomp render out/generate/rollout.npz --out rollout.html    one file that any browser plays, offline")]
pub struct RenderArguments {
    /// BVH or GLB file, recording or rollout.
    #[arg(value_hint = ValueHint::FilePath)]
    pub motion: PathBuf,
    /// What to write: .gif (moving), .png (contact sheet), .html (a page that plays it), or .rrd (for the rerun viewer, in a
    /// program built with the feature of that name).
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
    /// Show clip and simulation side by side.
    #[arg(long)]
    pub side_by_side: bool,
}

/// Arguments of `pomp studio`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp studio                                steer the embedded model
  pomp studio out/generate/rollout.npz       look at a rollout
  pomp studio data model --terrain rough     browse recordings, steer a model of your own
  pomp studio --model a --model b            choose between two models on the page

The page is served on this machine alone, unless --address says otherwise; then the printed URL holds a token.")]
pub struct StudioArguments {
    /// What to show: clips (.bvh, .glb), recordings and rollouts (.npz), folders of them, and model folders or a folder of these.
    pub shown: Vec<PathBuf>,
    /// A model folder to choose on the page, beside the embedded one; the first moves the character.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Vec<PathBuf>,
    /// Port; 0 for any free one. In place of the configuration's.
    #[arg(long)]
    pub port: Option<u16>,
    /// Address to listen on, in place of the configuration's: 0.0.0.0 lets other machines in, with the token alone.
    #[arg(long)]
    pub address: Option<IpAddr>,
    /// Print the address, and open no browser; without it one is opened when a person is at the terminal.
    #[arg(long)]
    pub no_browser: bool,
    /// Ground of the first scene (flat, slope, stairs, hills, rough, gaps, mixed).
    #[arg(long, default_value = "flat")]
    pub terrain: String,
    /// Seed of the first scene.
    #[arg(long, default_value_t = 0)]
    pub seed: u32,
    /// Settings of the server; without it the defaults, which configs/studio.toml lists.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Settings of the loop; without it the defaults, which configs/generate.toml lists.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub generator: Option<PathBuf>,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
}

/// Arguments of `pomp evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp evaluate out/generate/rollout.npz
  pomp evaluate rollout.npz walk.bvh         generated beside mocap
  pomp evaluate out/walks out/other_walks    two batches: means with 95 % intervals, side by side
  pomp evaluate data --json

Each argument is a column. A folder is the mean over its recordings (.npz, in subfolders too; where there are none its .bvh and
.glb clips), with the half width of the 95 % interval. ↓ less is better, ↑ more is better, ~ as in the data. docs/metrics.md
(https://github.com/pomp-rs/pomp/blob/main/docs/metrics.md) defines every metric with its formula and unit.")]
pub struct EvaluateArguments {
    /// Rollouts, recordings, BVH or GLB files, and folders of them.
    #[arg(required = true)]
    pub motions: Vec<PathBuf>,
    /// Ground of motions that carry none, a preset or a file (.toml, .png, .npz); without it flat at y = 0.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub terrain: Option<String>,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
    /// Print JSON: `columns`, each with its motions, their metrics, and the means.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pomp bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp bench --out out/bench                                      five minutes, without a dataset
  pomp bench --data data --out out/bench                          with mocap, motion matching and tracked clips
  pomp bench --config configs/bench/full.toml --data data --out out/bench
  pomp bench --only ours,kinematic_only --out out/bench

An interrupted bench goes on where it stopped when the same command is given again.")]
pub struct BenchArguments {
    /// Methods and scenarios; without it those of configs/bench/quick.toml.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Model folder; without it the embedded compact model.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub model: Option<PathBuf>,
    /// Folder of recordings that `pomp preprocess` has made; without it methods that need mocap are left out, and
    /// nothing is compared with mocap.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
    /// Folder of the results: report.html, report.md, report.json, and a file per run.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Only these methods.
    #[arg(long, value_delimiter = ',', value_name = "METHOD")]
    pub only: Vec<String>,
    /// Only these scenarios.
    #[arg(long, value_delimiter = ',', value_name = "SCENARIO")]
    pub scenario: Vec<String>,
    /// Runs at a time; without it one per core.
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::count)]
    pub threads: Option<usize>,
    /// Print the report as JSON.
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
