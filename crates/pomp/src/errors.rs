//! Exit codes. The errors themselves are those of all front doors.

pub use pomp_front::errors::{Misuse, is_misuse, misuse, told, unknown};

use std::process::ExitCode;

/// Everything was done.
pub const DONE: u8 = 0;
/// Nothing of use was done.
pub const FAILED: u8 = 1;
/// The command line is wrong.
pub const MISUSED: u8 = 2;
/// Some inputs failed, the others are done.
pub const DONE_IN_PART: u8 = 3;
/// A signal has ended the command where it can go on: 128 and the number of SIGINT, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// Exit code of an error.
pub fn code(error: &anyhow::Error) -> u8 {
    if is_misuse(error) { MISUSED } else { FAILED }
}

/// Exit code of a command over several inputs of which `failed` failed and `done` did not.
pub fn code_of(done: usize, failed: usize) -> ExitCode {
    ExitCode::from(match (done, failed) {
        (_, 0) => DONE,
        (0, _) => FAILED,
        _ => DONE_IN_PART,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_wrong_command_line_exits_with_2_whatever_is_said_about_it() {
        let wrong: anyhow::Result<()> = Err(misuse!("--seconds 0"));
        assert_eq!(code(&wrong.context("somewhere").expect_err("it is wrong")), MISUSED);
        assert_eq!(code(&anyhow::anyhow!("a file is missing")), FAILED);
    }
}
