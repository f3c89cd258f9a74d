use std::fmt;

/// Upper bound of the speed of any joint, m/s: throwing hands reach 25, feet of sprinters 20.
pub const FASTEST_M_S: f32 = 30.0;

/// A defect of frames of a clip that remains usable.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Defect {
    /// Every frame is stored several times, such as motion of 60 Hz in a file of 120 Hz; one of each was kept.
    Multiplied {
        /// Copies of each frame.
        times: usize,
        /// Frames of the file.
        frames: usize,
        /// Rate of the file, Hz.
        rate_hz: f32,
    },
    /// Outlier frames, replaced by interpolation of their neighbours.
    Spike {
        /// First and last frame.
        frames: [usize; 2],
        /// Time of the first, s.
        time_s: f32,
        /// The affected joint nearest to the root.
        joint: String,
        /// Number of other affected joints.
        others: usize,
        /// The largest correction, m.
        distance_m: f32,
    },
    /// Limbs that move faster than is possible and do not return within a few frames; unchanged.
    Wild {
        /// First and last frame of such a speed.
        frames: [usize; 2],
        /// Time of the first, s.
        time_s: f32,
        /// The joint nearest to the root that is too fast.
        joint: String,
        /// Speed of the fastest, m/s.
        speed_m_s: f32,
    },
    /// Frames that repeat the previous one during motion; unchanged.
    Repeated {
        /// The frames.
        frames: Vec<usize>,
    },
    /// A frozen stretch, which repeats its first frame; unchanged.
    Frozen {
        /// First and last frame that are the same.
        frames: [usize; 2],
        /// Duration of the stretch, s.
        seconds: f32,
    },
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Multiplied { times, frames, rate_hz } => write!(
                f,
                "every frame is stored {times} times (frames 0 to {}): one of each was kept, at {:.1} Hz instead of {rate_hz:.1} Hz",
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
                "frames {first} to {last} ({time_s:.2} s): joint \"{joint}\" or one of its descendants moves at {speed_m_s:.0} m/s and does not \
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
                    "{what} while the motion goes on, left as it is: a body does not stop for a single frame, so forces are wrong there; \
                     interpolate or cut there"
                )
            }
            Self::Frozen { frames: [first, last], seconds } => write!(
                f,
                "frames {first} to {last} are the same ({seconds:.2} s) while the motion goes on around them, left as they are: \
                 a body does not stop within a frame, so forces are wrong at their ends; cut the clip there"
            ),
        }
    }
}
