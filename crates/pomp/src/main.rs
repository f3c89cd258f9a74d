//! The program `pomp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pomp::run()
}
