use std::fmt;

/// Nothing of a person moves faster, m/s: hands that throw reach 25, feet of sprinters 20.
pub const FASTEST_M_S: f32 = 30.0;

/// Something wrong with frames of a clip that can be used nevertheless.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Defect {
    /// Every frame is stored several times over, as motion of 60 Hz is in a file of 120 Hz; one of each was kept.
    Multiplied {
        /// How many times each frame was there.
        times: usize,
        /// Frames of the file.
        frames: usize,
        /// Rate of the file, Hz.
        rate_hz: f32,
    },
    /// Frames that were far off and were put between their neighbours.
    Spike {
        /// First and last frame.
        frames: [usize; 2],
        /// Time of the first, s.
        time_s: f32,
        /// The joint next to the root that was off.
        joint: String,
        /// How many other joints were.
        others: usize,
        /// The largest distance from where they were put, m.
        distance_m: f32,
    },
    /// Limbs that move as no limb can, and do not come back within a few frames; left as they are.
    Wild {
        /// First and last frame that they reach so fast.
        frames: [usize; 2],
        /// Time of the first, s.
        time_s: f32,
        /// The joint next to the root that is too fast.
        joint: String,
        /// Speed of the fastest, m/s.
        speed_m_s: f32,
    },
    /// Frames that repeat the one before them while the motion goes on; left as they are.
    Repeated {
        /// The frames.
        frames: Vec<usize>,
    },
    /// A stretch that repeats its first frame; left as it is.
    Frozen {
        /// First and last frame that are the same.
        frames: [usize; 2],
        /// How long nothing moves, s.
        seconds: f32,
    },
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Multiplied { times, frames, rate_hz } => write!(
                f,
                "every frame is stored {times} times over (frames 0 to {}): one of each was kept, at {:.1} Hz instead of {rate_hz:.1} Hz",
                frames - 1,
                rate_hz / *times as f32
            ),
            Self::Spike { frames: [first, last], time_s, joint, others, distance_m } => {
                if first == last {
                    write!(f, "frame {first}")?;
                } else {
                    write!(f, "frames {first} to {last}")?;
                }
                write!(f, " ({time_s:.2} s): joint \"{joint}\"")?;
                match others {
                    0 => {}
                    1 => write!(f, " and another")?,
                    others => write!(f, " and {others} others")?,
                }
                write!(
                    f,
                    " leave the motion by {distance_m:.2} m and come back, faster than {FASTEST_M_S} m/s; all joints were \
                     interpolated between the frames around"
                )
            }
            Self::Wild { frames: [first, last], time_s, joint, speed_m_s } => write!(
                f,
                "frames {first} to {last} ({time_s:.2} s): joint \"{joint}\" or what hangs on it moves at {speed_m_s:.0} m/s and does not \
                 come back, left as it is: no limb is faster than {FASTEST_M_S} m/s, so nothing there is to be trusted; cut the clip there"
            ),
            Self::Repeated { frames } => {
                const TOLD: usize = 8;
                let told: Vec<String> = frames.iter().take(TOLD).map(ToString::to_string).collect();
                let more = frames.len().saturating_sub(TOLD);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let told = told.join(", ");
                let what = match frames.len() {
                    1 => format!("frame {told} repeats the one before it"),
                    count => format!("{count} frames repeat the one before them, {told}{more},"),
                };
                write!(
                    f,
                    "{what} while the motion goes on, left as it is: nobody stops for a frame, so forces are wrong there; \
                     interpolate or cut there"
                )
            }
            Self::Frozen { frames: [first, last], seconds } => write!(
                f,
                "frames {first} to {last} are the same ({seconds:.2} s) while the motion goes on around them, left as they are: \
                 nobody stops within a frame, so forces are wrong at their ends; cut the clip there"
            ),
        }
    }
}
