//! The command line of POMP: plain mocap in, physically simulated motion out.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line talks to a person")]

mod cli;
mod command;
mod config_file;
mod default_model;
mod motion_file;
mod terminal;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match command::run(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(1)
        }
    }
}
