//! Ctrl-C and SIGTERM as a request to stop where nothing is lost, and the command that goes on.

use crate::errors::INTERRUPTED;
use anyhow::{Context, Result};
use std::ops::ControlFlow;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user has asked for the end. A second request ends the program at once.
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes the signals over, for the rest of the program's life. `said` is printed on the first one.
    pub fn listen(said: &'static str) -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&asked);
        ctrlc::set_handler(move || {
            if handler.swap(true, Ordering::Relaxed) {
                exit(INTERRUPTED.into());
            }
            crate::progress::between(|| eprintln!("{said}"));
        })
        .context("listening for Ctrl-C")?;
        Ok(Self(asked))
    }

    /// `Break` once the end has been asked for.
    pub fn flow(&self) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The command line `arguments`, the program's name left out, as one that goes on with what it has begun.
pub fn resuming(arguments: impl IntoIterator<Item = String>) -> String {
    let mut words = vec!["pomp".to_owned()];
    words.extend(
        arguments.into_iter().filter(|argument| argument != "--overwrite").map(|argument| quoted(&argument)),
    );
    if words.iter().all(|word| word != "--resume") {
        words.push("--resume".to_owned());
    }
    words.join(" ")
}

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_goes_on_resumes_once_and_overwrites_nothing() {
        let told = |line: &str| resuming(line.split(' ').map(str::to_owned));
        assert_eq!(told("train all --out m --overwrite"), "pomp train all --out m --resume");
        assert_eq!(told("train all --resume --out m"), "pomp train all --resume --out m");
    }

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        let told = resuming(["train", "my data", "it's", "", "a=1", "$HOME"].map(str::to_owned));
        assert_eq!(told, r"pomp train 'my data' 'it'\''s' '' a=1 '$HOME' --resume");
    }
}
