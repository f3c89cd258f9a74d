use pomp_motion::MotionError;
use thiserror::Error;

/// Why a recording could not be evaluated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EvalError {
    /// Arrays of the recording disagree in size, or positions or rotations are not finite.
    #[error(transparent)]
    Motion(#[from] MotionError),
    /// The track asked for is not in the recording.
    #[error("recording \"{recording}\" has no {track} track; evaluate its character track instead")]
    MissingTrack {
        /// Name of the recording.
        recording: String,
        /// Name of the track.
        track: &'static str,
    },
    /// A joint of the project skeleton is missing or in another place.
    #[error(
        "joint {joint} of recording \"{recording}\" is \"{found}\" where the project skeleton has \"{expected}\"; \
         map the motion to the project skeleton first"
    )]
    ForeignSkeleton {
        /// Name of the recording.
        recording: String,
        /// Joint index, from 0.
        joint: usize,
        /// Name expected there.
        expected: String,
        /// Name found there, empty when there is none.
        found: String,
    },
    /// A NaN or an infinity in an array that holds no poses.
    #[error("{array} of recording \"{recording}\" is not finite at frame {frame}")]
    NotFinite {
        /// Name of the recording.
        recording: String,
        /// The array.
        array: &'static str,
        /// Frame index, from 0.
        frame: usize,
    },
    /// A number that makes the metrics meaningless.
    #[error("recording \"{recording}\": {reason}")]
    BadRecording {
        /// Name of the recording.
        recording: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A mean over no recordings.
    #[error("there is nothing to summarise: give at least one recording")]
    NothingToSummarise,
}
