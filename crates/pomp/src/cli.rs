//! The command line: commands and their arguments, a file per group of commands.

mod completions;
mod config;
mod data;
mod generate;
mod measure;
mod models;
mod numbers;
mod reading;
mod retarget;
mod rig;
mod show;
mod style;
mod terrain;

pub use completions::{CompletionsArguments, ManArguments};
pub use config::{ConfigCommand, ConfigKind, ConfigSchemaArguments, ConfigShowArguments, SchemaKind};
pub use data::{
    ExportArguments, ExportFormat, InspectArguments, PreprocessArguments, SynthesizeArguments,
    ValidateImpulsesArguments,
};
pub use generate::{GenerateArguments, ReplayArguments};
pub use measure::{BenchArguments, EvaluateArguments};
pub use models::{
    KinematicCommand, KinematicReportArguments, PhaseAnnotateArguments, PhaseCommand, PhaseReportArguments,
    TrainArguments, TrainStage,
};
pub use reading::ReadingArguments;
pub use retarget::{RetargetArguments, RetargetCommand, RetargetPairsArguments, RetargetReportArguments};
pub use rig::{RigCommand, RigInferArguments};
pub use show::{RenderArguments, StudioArguments};
pub use style::{
    LabelArguments, StyleBlendArguments, StyleCommand, StyleEditArguments, StyleFitArguments,
    StyleReportArguments, StyleWalkArguments,
};
pub use terrain::{TerrainCommand, TerrainMakeArguments, TerrainValidateArguments};

use crate::logging::Progress;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_verbosity_flag::Verbosity;

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
    /// Rig maps: which joint of a motion file is which.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp rig infer strange.bvh --out my_rig.toml"
    )]
    Rig(RigCommand),
    /// Put a motion on the skeleton of a BVH file: its joints, channels, unit and axes.
    Retarget(RetargetArguments),
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
    /// Styles of walks: fit, blend, edit.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp style fit walks/ --reference walks/neutral/01.bvh --out styles.safetensors
  pomp style blend styles.safetensors --content neutral --weights tired=0.7 --out tired.bvh"
    )]
    Style(StyleCommand),
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
