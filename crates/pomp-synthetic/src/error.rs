use pomp_motion::MotionError;
use thiserror::Error;

/// Why a synthetic motion could not be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SyntheticError {
    /// A number of the request lies outside its range.
    #[error("{field} is {value}, but must be {expected}; change the request")]
    BadRequest {
        /// Field of the request.
        field: &'static str,
        /// Its value.
        value: f32,
        /// The range allowed, in words.
        expected: &'static str,
    },
    /// A foothold lies farther from the hip than the leg is long.
    #[error(
        "at {time_s:.2} s the {foot} foothold is {distance_m:.3} m from the hip and the leg reaches {reach_m:.3} m: \
         the steps are too long for this body, or the ground too steep; lower the speed or choose gentler terrain"
    )]
    OutOfReach {
        /// Time from the start of the clip, seconds; negative in the run-up that the smoothing sees.
        time_s: f32,
        /// "left" or "right".
        foot: &'static str,
        /// Distance from hip to ankle, metres.
        distance_m: f32,
        /// Longest distance the leg can span, metres.
        reach_m: f32,
    },
    /// The motion made is not a valid clip.
    #[error(transparent)]
    Motion(#[from] MotionError),
}
