use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong with styles.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StyleError {
    /// A setting outside its range.
    #[error("style configuration: {0}")]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// A clip that cannot be used at all.
    #[error("{clip}: {reason}")]
    Clip {
        /// Name of the clip.
        clip: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Too few walking cycles for what was asked.
    #[error("{found} walking cycles were found in the clips, {needed} are needed for {what}; {remedy}")]
    TooFewCycles {
        /// Cycles found.
        found: usize,
        /// Cycles needed.
        needed: usize,
        /// What for.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A style, cycle or joint that the style file does not have.
    #[error("there is no {kind} \"{name}\"; there are: {known}")]
    Unknown {
        /// "style", "style or cycle", "joint".
        kind: &'static str,
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// Weights or constraints that mean nothing.
    #[error("{0}")]
    BadRequest(String),
    /// A style file that is none, or that was damaged.
    #[error("{}: {reason}; write it again with `pomp style fit`", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A style file could not be read or written.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// "read" or "write".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}
