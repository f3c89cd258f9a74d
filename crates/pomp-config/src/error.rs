use crate::OutOfRange;
use std::fmt::Write;
use std::path::PathBuf;
use thiserror::Error;

/// Why a configuration is refused. A place is `file:line:column`, or the `--set` that a value comes from.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file that cannot be read.
    #[error("{}: cannot read the configuration: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Text that is no TOML, or a value that its field does not take.
    #[error("{place}: {message}")]
    Invalid {
        /// Where.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// A key that the configuration does not have.
    #[error("{place}: unknown key `{key}`{}", hint(nearest.as_deref(), known))]
    UnknownKey {
        /// Where.
        place: String,
        /// Path of the key from the root.
        key: String,
        /// The known key of the same section that is most like it.
        nearest: Option<String>,
        /// All keys of the section.
        known: Vec<String>,
    },
    /// A value outside its range.
    #[error("{place}: {source}")]
    OutOfRange {
        /// Where.
        place: String,
        /// The field, its value and its range.
        source: OutOfRange,
    },
    /// Files that extend each other in a circle, or too many of them.
    #[error("{place}: extends = \"{file}\": {reason}")]
    BadOverlay {
        /// Where.
        place: String,
        /// The file that is extended.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A `--set` that is no setting.
    #[error("--set {setting}: {reason}; give KEY.PATH=VALUE, as in --set kinematic.training.steps=2000")]
    BadSetting {
        /// The argument.
        setting: String,
        /// What is wrong.
        reason: String,
    },
}

fn hint(nearest: Option<&str>, known: &[String]) -> String {
    let mut told = String::new();
    if let Some(nearest) = nearest {
        write!(told, "; the nearest known one is `{nearest}`").expect("a string takes all");
    }
    match known.is_empty() {
        true => told.push_str("; its section has no keys"),
        false => write!(told, " (known: {})", known.join(", ")).expect("a string takes all"),
    }
    told
}
