//! Arguments of `pomp config`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `pomp config …`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print a configuration with the source of every value.
    Show(ConfigShowArguments),
    /// Print the JSON schema of a kind of file, for editors.
    Schema(ConfigSchemaArguments),
}

/// The kinds of configurations, by the commands that take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConfigKind {
    /// `pomp preprocess`, `inspect`, `validate-impulses`, `terrain validate`.
    Preprocess,
    /// `pomp train`.
    Train,
    /// `pomp train controller` of those with blended experts.
    Controller,
    /// `pomp train controller matching`, and `matching-phase`.
    Matching,
    /// `pomp train controller learned-matching`.
    LearnedMatching,
    /// `pomp generate`, and `pomp studio --generator`.
    Generate,
    /// `pomp generate --random`.
    Batch,
    /// `pomp bench`.
    Bench,
    /// `pomp studio`.
    Studio,
    /// `pomp style fit`.
    Style,
    /// The simulator, the section `dynamic` of others.
    Physics,
}

/// Arguments of `pomp config show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp config show generate
  pomp config show train --config configs/compact_practised.toml
  pomp config show train --set kinematic.training.steps=2000 --set kinematic.network.experts=4

Prints TOML that the commands read, each value with its source as a comment: a file with line and column, --set, or default. A
file may begin with extends = \"OTHER.toml\" (relative to itself): it changes what it names, and leaves the rest.")]
pub struct ConfigShowArguments {
    /// Which configuration.
    #[arg(value_enum)]
    pub kind: ConfigKind,
    /// The file; without it the configuration that the commands use without one.
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// The kinds of TOML files that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// `pomp preprocess`, `inspect`, `validate-impulses`, `terrain validate`.
    Preprocess,
    /// `pomp train`.
    Train,
    /// `pomp train controller` of those with blended experts.
    Controller,
    /// `pomp train controller matching`, and `matching-phase`.
    Matching,
    /// `pomp train controller learned-matching`.
    LearnedMatching,
    /// `pomp generate`, and `pomp studio --generator`.
    Generate,
    /// `pomp generate --random`.
    Batch,
    /// `pomp bench`.
    Bench,
    /// `pomp studio`.
    Studio,
    /// `pomp style fit`.
    Style,
    /// The simulator, the section `dynamic` of others.
    Physics,
    /// A terrain, `--terrain FILE`.
    Terrain,
    /// A rig map, `--rig FILE`.
    Rig,
    /// Several characters, `pomp generate --scene FILE`.
    Scene,
    /// Waypoints, `pomp generate --control FILE`.
    Path,
}

/// Arguments of `pomp config schema`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp config schema generate > generate.schema.json
  pomp config schema train > train.schema.json

An editor with Taplo (Even Better TOML for VS Code) completes and checks a file whose first line names its schema, relative to the
file itself:
  #:schema ./generate.schema.json

The schema has the keys, ranges and defaults of every setting, and its words but for those of the simulator ([dynamic], get_up). The
line is a comment to the commands.")]
pub struct ConfigSchemaArguments {
    /// Which kind of file.
    #[arg(value_enum)]
    pub kind: SchemaKind,
}
