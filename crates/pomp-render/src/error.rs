use pomp_motion::MotionError;
use thiserror::Error;

/// What can keep a picture from being made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The format of the rerun viewer refused.
    #[cfg(feature = "rerun")]
    #[error("the .rrd file cannot be written: {reason}")]
    Rerun {
        /// Why.
        reason: String,
    },
    /// The recording breaks one of its own rules.
    #[error("the recording cannot be drawn: {source}")]
    BadRecording {
        /// The rule broken.
        #[from]
        source: MotionError,
    },
    /// A NaN or an infinity in a part that is drawn.
    #[error("{what} is not finite at {index}: repair or drop that part of the recording")]
    NotFinite {
        /// The part that holds it.
        what: String,
        /// Frame, push or sample, from 0.
        index: usize,
    },
    /// An option outside of its range.
    #[error("option {option} is {value}: {reason}")]
    BadOption {
        /// Field of the options.
        option: &'static str,
        /// Its value.
        value: String,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// The view needs a part that the recording lacks.
    #[error("{view} needs {part}, which recording \"{recording}\" does not have")]
    NothingToDraw {
        /// Name of the recording or plot.
        recording: String,
        /// What was asked for.
        view: &'static str,
        /// What is missing.
        part: &'static str,
    },
    /// A frame beyond the end.
    #[error("frame {frame} was asked for, but the recording has {frames} frames")]
    FrameOutOfRange {
        /// The frame asked for, from 0.
        frame: usize,
        /// Frames in the recording.
        frames: usize,
    },
    /// A body that is named after no joint, so that an arrow on it has no place.
    #[error(
        "body \"{body}\" does not have the name of a joint of the skeleton: rename it or turn the arrows off"
    )]
    UnknownBody {
        /// Name of the body.
        body: String,
    },
    /// A push on a body that does not exist.
    #[error("push {push} acts on body {body}, but the recording has {bodies} bodies")]
    BadPush {
        /// Push, from 0.
        push: usize,
        /// The body it names.
        body: usize,
        /// Bodies in the recording.
        bodies: usize,
    },
    /// The library that draws charts refused.
    #[error("the chart cannot be drawn: {reason}")]
    Plot {
        /// What it says.
        reason: String,
    },
    /// A series whose x and y differ in length.
    #[error("series \"{series}\" has {x} x values and {y} y values")]
    UnequalSeries {
        /// Name of the series.
        series: String,
        /// Number of x values.
        x: usize,
        /// Number of y values.
        y: usize,
    },
    /// The GIF encoder failed, mostly because the output could not be written.
    #[error("cannot write the GIF: {source}")]
    Gif {
        /// What the encoder says.
        #[from]
        source: gif::EncodingError,
    },
    /// The PNG encoder failed, mostly because the output could not be written.
    #[error("cannot write the PNG: {source}")]
    Png {
        /// What the encoder says.
        #[from]
        source: png::EncodingError,
    },
    /// Bytes that are no picture of this crate.
    #[error("cannot read the PNG: {source}")]
    NotPng {
        /// What the decoder says.
        #[from]
        source: png::DecodingError,
    },
}
