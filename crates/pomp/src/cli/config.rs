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
    /// `pomp train controller` for the controllers with blended experts.
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
    /// `pomp bench performance`.
    Performance,
    /// `pomp train balance`.
    Balance,
    /// `pomp studio`.
    Studio,
    /// `pomp style fit`.
    Style,
    /// `pomp train style`.
    StyleAdapter,
    /// `pomp train retarget`.
    Retarget,
    /// The simulator: the section `dynamic` of other configurations.
    Physics,
}

/// Arguments of `pomp config show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp config show generate
  pomp config show train --config configs/compact_practised.toml
  pomp config show train --set kinematic.training.steps=2000 --set kinematic.network.experts=4

Prints TOML that the commands accept. The comment after each value names its source: a file with line and column, --set, or default.
A file may begin with extends = \"OTHER.toml\" (a path relative to the file): it then overrides only the keys that it contains.")]
pub struct ConfigShowArguments {
    /// Which configuration.
    #[arg(value_enum)]
    pub kind: ConfigKind,
    /// The configuration file; if left out, the configuration that the commands use by default.
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// Override a setting of the configuration: KEY.PATH=VALUE. May be given several times.
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
    /// `pomp train controller` for the controllers with blended experts.
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
    /// `pomp bench performance`.
    Performance,
    /// `pomp train balance`.
    Balance,
    /// `pomp studio`.
    Studio,
    /// `pomp style fit`.
    Style,
    /// `pomp train style`.
    StyleAdapter,
    /// `pomp train retarget`.
    Retarget,
    /// The simulator: the section `dynamic` of other configurations.
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

An editor with Taplo (Even Better TOML for VS Code) completes and checks a file whose first line names its schema, with a path
relative to the file:
  #:schema ./generate.schema.json

The schema has the key, range, default and description of every setting; the settings of the simulator ([dynamic], get_up) have no
descriptions. The commands treat the line as a comment.")]
pub struct ConfigSchemaArguments {
    /// Which kind of file.
    #[arg(value_enum)]
    pub kind: SchemaKind,
}
