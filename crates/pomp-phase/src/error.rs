use pomp_config::OutOfRange;
use thiserror::Error;

/// What can be wrong with phases, windows and their configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PhaseError {
    /// Two parts disagree in size.
    #[error("{what}: expected {expected}, found {found}")]
    SizeMismatch {
        /// The part that is wrong.
        what: &'static str,
        /// The size that the other parts imply.
        expected: usize,
        /// The size found.
        found: usize,
    },
    /// A NaN or an infinity.
    #[error("{what} is not finite at row {row}, column {column}")]
    NotFinite {
        /// The array that holds it.
        what: &'static str,
        /// Row (frame or channel), from 0.
        row: usize,
        /// Column (joint or value), from 0.
        column: usize,
    },
    /// A field of a configuration outside its range.
    #[error("phase encoding module: {0}")]
    OutOfRange(#[from] OutOfRange),
    /// A frame outside its clip.
    #[error("there is no frame {frame}: the motion has {frames}")]
    NoSuchFrame {
        /// The frame asked for.
        frame: usize,
        /// Number of frames.
        frames: usize,
    },
}
