//! Arguments of the commands about the command line itself: completion scripts and manual pages.

use clap::{Args, ValueHint};
use clap_complete::Shell;
use std::path::PathBuf;

/// Arguments of `pomp completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp completions bash > ~/.local/share/bash-completion/completions/pomp
  pomp completions zsh > ~/.zfunc/_pomp
  pomp completions fish > ~/.config/fish/completions/pomp.fish")]
pub struct CompletionsArguments {
    /// Shell to write the script for.
    pub shell: Shell,
}

/// Arguments of `pomp man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pomp man --out ~/.local/share/man/man1      then: man pomp-generate")]
pub struct ManArguments {
    /// Folder to write the pages to: pomp.1, pomp-generate.1 and so on.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}
