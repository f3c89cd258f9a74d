//! The command line of POMP: plain mocap in, physically simulated motion out.
//!
//! The program `pomp` is [`run`]. [`command`] is the definition of its command line, from which help, manual pages, completions and
//! docs/reference_commands.md are made. Programs use the crates below this one; pomp-generator is the closed loop.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line talks to a person")]

mod cli;
mod command;
mod default_model;
mod device;
mod errors;
mod interrupt;
mod json;
mod logging;
mod progress;

use clap::CommandFactory;
use pomp_front::{config_file, motion_file};
use std::process::ExitCode;

/// The command line: every command with its arguments, defaults and help.
pub fn command() -> clap::Command {
    cli::Arguments::command()
}

/// Runs the command line of this process. The exit codes are listed in docs/command_line.md.
pub fn run() -> ExitCode {
    leave_quietly_when_nobody_reads();
    let arguments = cli::parse();
    match logging::start(arguments.verbosity).and_then(|()| command::run(arguments)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", errors::told(&error));
            ExitCode::from(errors::code(&error))
        }
    }
}

/// `pomp … | head` closes the pipe before all is printed. That is no failure of this program, but `println!` knows no
/// answer to it other than a panic.
fn leave_quietly_when_nobody_reads() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if message.starts_with("failed printing to stdout") && message.contains("Broken pipe") {
            std::process::exit(0);
        }
        report(panic);
    }));
}
