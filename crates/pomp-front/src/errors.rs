//! Errors as the user reads them, whichever front door they come through.

use std::fmt;

/// What was asked for is wrong: no file and no other state of the machine could make it right.
#[derive(Debug)]
pub struct Misuse(pub String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// An [`anyhow::Error`] of a wrong request, [`Misuse`].
#[macro_export]
macro_rules! misuse {
    ($($text:tt)+) => { $crate::errors::of_misuse(format!($($text)+)) };
}
pub use misuse;

/// What [`misuse!`] makes.
pub fn of_misuse(text: String) -> anyhow::Error {
    anyhow::Error::from(Misuse(text))
}

/// Whether an error, or what caused it, is a [`Misuse`].
pub fn is_misuse(error: &anyhow::Error) -> bool {
    error.chain().any(<dyn std::error::Error + 'static>::is::<Misuse>)
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
    fn a_wrong_request_is_one_whatever_is_said_about_it() {
        let wrong: anyhow::Result<()> = Err(misuse!("--seconds 0"));
        assert!(is_misuse(&wrong.context("somewhere").expect_err("it is wrong")));
        assert!(!is_misuse(&anyhow::anyhow!("a file is missing")));
    }

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow::anyhow!("no space left").context("cannot write a: no space left").context("b");
        assert_eq!(told(&error), "b: cannot write a: no space left");
    }
}
