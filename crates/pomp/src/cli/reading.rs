//! What the commands share that read motion files as preprocessing does.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// How motion files are read.
#[derive(Debug, Args)]
pub struct ReadingArguments {
    /// Preprocessing configuration; without it the defaults, which configs/preprocess.toml lists.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// A setting in place of the configuration's, as often as needed: KEY.PATH=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// A rig map of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
}
