//! What the commands share that read motion files as preprocessing does.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// How motion files are read.
#[derive(Debug, Args)]
pub struct ReadingArguments {
    /// Preprocessing configuration; the defaults, listed in configs/preprocess.toml, if left out.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Override a setting of the configuration: KEY.PATH=VALUE. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// A rig map file of your own, tried before the built-in ones.
    #[arg(long, value_hint = ValueHint::FilePath)]
    pub rig: Vec<PathBuf>,
}
