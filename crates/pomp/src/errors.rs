//! Errors as the user reads them, and the exit codes.

use std::fmt;
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

/// The command line is wrong: no file and no other state of the machine could make it right.
#[derive(Debug)]
pub struct Misuse(pub String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// An [`anyhow::Error`] of a wrong command line.
macro_rules! misuse {
    ($($text:tt)+) => { anyhow::Error::from($crate::errors::Misuse(format!($($text)+))) };
}
pub(crate) use misuse;

/// Exit code of an error.
pub fn code(error: &anyhow::Error) -> u8 {
    if error.chain().any(<dyn std::error::Error + 'static>::is::<Misuse>) { MISUSED } else { FAILED }
}

/// Exit code of a command over several inputs of which `failed` failed and `done` did not.
pub fn code_of(done: usize, failed: usize) -> ExitCode {
    ExitCode::from(match (done, failed) {
        (_, 0) => DONE,
        (0, _) => FAILED,
        _ => DONE_IN_PART,
    })
}

/// An error and its causes, outermost first. Errors of the libraries tell their cause themselves; it is not told twice.
pub fn told(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| {
        if told.is_empty() {
            cause
        } else if told.contains(&cause) {
            told
        } else {
            format!("{told}: {cause}")
        }
    })
}

/// The error of a name that is none of `known`; it suggests the nearest.
pub fn unknown<'a>(
    place: &str,
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> anyhow::Error {
    let known: Vec<&str> = known.into_iter().collect();
    let list = known.join(", ");
    match nearest(name, &known) {
        Some(near) => {
            misuse!("{place}there is no {what} \"{name}\"; did you mean \"{near}\"? There are {list}")
        }
        None => misuse!("{place}there is no {what} \"{name}\"; there are {list}"),
    }
}

/// The known name that a typing error is likeliest to have been, if any is near.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let distance = |other: &&&str| strsim::damerau_levenshtein(&name, &other.to_lowercase());
    let near = known.iter().min_by_key(distance)?;
    // A third of the letters may be wrong.
    (3 * distance(&near) <= name.chars().count().max(3)).then_some(*near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_typing_error_finds_the_name_and_another_word_finds_none() {
        let known = ["flat", "slope", "stairs", "hills"];
        assert_eq!(nearest("hlils", &known), Some("hills"));
        assert_eq!(nearest("Stair", &known), Some("stairs"));
        assert_eq!(nearest("mountain", &known), None);
        assert_eq!(nearest("flat", &[]), None);
    }

    #[test]
    fn a_wrong_command_line_exits_with_2_whatever_is_said_about_it() {
        let wrong: anyhow::Result<()> = Err(misuse!("--seconds 0"));
        assert_eq!(code(&wrong.context("somewhere").expect_err("it is wrong")), MISUSED);
        assert_eq!(code(&anyhow::anyhow!("a file is missing")), FAILED);
    }

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow::anyhow!("no space left").context("cannot write a: no space left").context("b");
        assert_eq!(told(&error), "b: cannot write a: no space left");
    }
}
