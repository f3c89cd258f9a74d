use std::path::PathBuf;
use thiserror::Error;

/// What can be wrong with a terrain.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TerrainError {
    /// A grid that is too small, too large, or of the wrong size.
    #[error("the height grid {reason}")]
    BadGrid {
        /// The rule that it breaks.
        reason: String,
    },
    /// A height that is NaN or infinite.
    #[error("the height at row {row}, column {column} of the height grid is {value}; heights must be finite")]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value found.
        value: f32,
    },
    /// A field of a terrain description that is out of range.
    #[error("terrain description: {field} {reason}")]
    BadSpec {
        /// The field, with the shape that it belongs to.
        field: String,
        /// The rule that it breaks, and what to write instead.
        reason: String,
    },
    /// A file that could not be opened, read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file whose content is not a terrain.
    #[error("{}: {reason}; {remedy}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the place where it is wrong.
        reason: String,
        /// What to do about it.
        remedy: String,
    },
}
