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
mod style_weights;
mod terrain;

pub use completions::{CompletionsArguments, ManArguments};
pub use config::{ConfigCommand, ConfigKind, ConfigSchemaArguments, ConfigShowArguments, SchemaKind};
pub use data::{
    ExportArguments, ExportFormat, InspectArguments, PreprocessArguments, SynthesizeArguments,
    ValidateImpulsesArguments,
};
pub use generate::{GenerateArguments, ReplayArguments};
pub use measure::{BenchArguments, BenchCommand, EvaluateArguments, MethodsArguments, PerformanceArguments};
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
/// Without a command, it generates a ten-second walk over hills with one push, using the embedded model.
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

Results go to standard output; messages and progress go to standard error. Progress is shown as bars on a terminal, and otherwise as
occasional lines. RUST_LOG (levels by module, such as info,pomp_train=debug) overrides -v and -q. NO_COLOR turns colours off.

Exit codes: 0 success; 1 failure; 2 invalid command line; 3 partial success: some inputs failed, the others are done; 130
interrupted."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How much is printed to standard error.
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
                "--{option} before `{name}` belongs to no command; if `{name}` has this option, give it after `{name}`"
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
    /// Work with rig maps, which say which joint of a motion file is which.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp rig infer strange.bvh --out my_rig.toml"
    )]
    Rig(RigCommand),
    /// Transfer a motion to the skeleton of a BVH file, with its joints, channels, unit and axes.
    Retarget(RetargetArguments),
    /// Generate terrain, and check how well terrain is reconstructed.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp terrain make hills --seed 7 --out hills.npz"
    )]
    Terrain(TerrainCommand),
    /// Turn mocap into recordings with contacts, gaits, terrain and contact impulses.
    Preprocess(PreprocessArguments),
    /// Export a dataset to the formats of other projects.
    Export(ExportArguments),
    /// Compare stored contact impulses with force plates.
    ValidateImpulses(ValidateImpulsesArguments),
    /// Train a model on recordings.
    Train(TrainArguments),
    /// Write the phases of recordings, and measure them.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp phase annotate data --model model
  pomp phase report data model --out out/phases"
    )]
    Phase(PhaseCommand),
    /// Measure the kinematic module of a model.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp kinematic report data model --out out/kinematic"
    )]
    Kinematic(KinematicCommand),
    /// Generate motion in the closed loop.
    Generate(GenerateArguments),
    /// Reproduce rollouts from their files alone, and compare every number.
    Replay(ReplayArguments),
    /// Render a clip or rollout as a GIF, a PNG or a web page that plays it.
    Render(RenderArguments),
    /// Open a page in the browser to steer and push the character, inspect the method, and view clips and rollouts.
    Studio(StudioArguments),
    /// Compute metrics of clips and rollouts.
    Evaluate(EvaluateArguments),
    /// Compare the closed loop with mocap and baselines.
    Bench(BenchArguments),
    /// Write procedural clips on known terrain, for use where no mocap is available.
    Synthesize(SynthesizeArguments),
    /// Fit, blend and edit walking styles.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp style fit walks/ --reference walks/neutral/01.bvh --out styles.safetensors
  pomp style blend styles.safetensors --content neutral --weights tired=0.7 --out tired.bvh"
    )]
    Style(StyleCommand),
    /// Print configurations with the source of every value, and their schemas.
    #[command(
        subcommand,
        after_help = "\
Examples:
  pomp config show train --config configs/paper_size_practised.toml
  pomp config schema generate > generate.schema.json"
    )]
    Config(ConfigCommand),
    /// Print a shell completion script for commands, options and file names.
    Completions(CompletionsArguments),
    /// Write manual pages, one per command.
    Man(ManArguments),
}
