use thiserror::Error;

/// A rule of BVH that a file breaks.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BvhProblem {
    /// Something else belongs here.
    #[error("expected {expected}")]
    Expected {
        /// What belongs here.
        expected: &'static str,
    },
    /// The text ends too early; the file was probably cut.
    #[error("the file ends where {expected} should come; it may have been cut")]
    Ended {
        /// What was missing first.
        expected: &'static str,
    },
    /// A token that should be a number.
    #[error("not a number (a point is the decimal mark)")]
    NotANumber,
    /// NaN, infinity, or a number beyond the range of 32-bit floats.
    #[error("not a finite number")]
    NotFinite,
    /// `ROOT` or `JOINT` without a name.
    #[error("a joint needs a name")]
    NoName,
    /// A `CHANNELS` line whose count is not the number of channels that follow.
    #[error("CHANNELS of joint \"{joint}\" announces {declared} but names {found}")]
    ChannelCount {
        /// The joint.
        joint: String,
        /// The count in the file.
        declared: usize,
        /// The channel names that follow it.
        found: usize,
    },
    /// The same position channel twice, or more than six channels.
    #[error("joint \"{joint}\" may have each position channel once and six channels at most")]
    BadChannels {
        /// The joint.
        joint: String,
    },
    /// An end site with channels: its values would shift those of all joints behind it.
    #[error(
        "the End Site of joint \"{joint}\" may have no channels but CHANNELS 0; make it a JOINT to animate it"
    )]
    EndSiteChannels {
        /// The joint that the end site hangs from.
        joint: String,
    },
    /// `OFFSET` or `CHANNELS` twice in one joint.
    #[error("{keyword} twice in one joint")]
    Twice {
        /// The repeated keyword.
        keyword: &'static str,
    },
    /// A joint or an end site without `OFFSET`.
    #[error("a joint or end site ends here without an OFFSET")]
    NoOffset,
    /// More than one `ROOT`: several characters in one file.
    #[error("a second ROOT; a file may hold one character, split it first")]
    SecondRoot,
    /// More joints than any body has.
    #[error("more than {limit} joints")]
    TooManyJoints {
        /// The most that is read.
        limit: usize,
    },
    /// No joint has a channel, so there is no motion.
    #[error("no joint has a channel, so the file has no motion")]
    NoChannels,
    /// `Frames:` of zero, or no rows.
    #[error("the file has no frames")]
    NoFrames,
    /// A frame time that is not positive and finite, or whose rate is not.
    #[error("the frame time must be a positive number of seconds")]
    FrameTime,
    /// The rows do not match the announced frames and channels.
    #[error(
        "Frames announces {frames} rows of {channels} values, the file holds {values} values{}",
        uneven_row(*uneven)
    )]
    MotionCount {
        /// Rows announced.
        frames: u64,
        /// Channels of the skeleton.
        channels: usize,
        /// Values found.
        values: usize,
        /// Line and number of values of the first line that is not one whole row.
        uneven: Option<(usize, usize)>,
    },
    /// Far more joints without channels than motion: the result would dwarf the file.
    #[error(
        "{frames} rows for {joints} joints is more motion than the file can hold; most joints have no channels"
    )]
    TooSparse {
        /// Rows found so far.
        frames: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// Not text in ASCII or UTF-8.
    #[error("the file is UTF-16; save it as UTF-8 or ASCII")]
    Utf16,
    /// The `bvh_anim` parser does not agree with the checked header.
    #[error("the header parser failed: {reason}")]
    Parser {
        /// Its message.
        reason: String,
    },
}

fn uneven_row(uneven: Option<(usize, usize)>) -> String {
    uneven.map_or_else(String::new, |(line, values)| format!("; line {line} has {values}"))
}
