use thiserror::Error;

/// What can be wrong with motion data.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MotionError {
    /// Two parts of one motion disagree in size.
    #[error("{what}: expected {expected}, found {found}")]
    SizeMismatch {
        /// The part that is wrong.
        what: String,
        /// The size that the other parts imply.
        expected: usize,
        /// The size found.
        found: usize,
    },
    /// A NaN or an infinity.
    #[error("{what} is not finite at frame {frame}, column {column}")]
    NotFinite {
        /// The array that holds it.
        what: String,
        /// Frame index, from 0.
        frame: usize,
        /// Joint or feature index, from 0.
        column: usize,
    },
    /// A skeleton that is not a tree with parents before children.
    #[error("joint {joint} (\"{name}\"): {reason}")]
    BadSkeleton {
        /// Joint index, from 0.
        joint: usize,
        /// Joint name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Joints that are stated for a file and that it or the project does not have.
    #[error("{reason}")]
    BadJointChoice {
        /// What is wrong, with the names.
        reason: String,
    },
    /// A clip without a frame, or with a frame rate that is not positive.
    #[error("clip \"{name}\": {reason}")]
    BadClip {
        /// Clip name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}
