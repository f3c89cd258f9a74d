use crate::MotionError;
use thiserror::Error;

/// What can go wrong between a source motion and the project skeleton.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RetargetError {
    /// A rig map that cannot be read.
    #[error("rig map {origin}: {reason}")]
    BadRig {
        /// File or built-in name.
        origin: String,
        /// What is wrong, with line and column where the TOML reader knows them.
        reason: String,
    },
    /// A skeleton that no rig map fits.
    #[error(
        "no rig map fits this skeleton of {joints} joints; the closest: {}. \
         Write a rig map of your own (see configs/rigs) and pass it",
        .closest.join("; ")
    )]
    NoRig {
        /// Number of joints of the skeleton.
        joints: usize,
        /// The best candidates, each with the joints that it misses.
        closest: Vec<String>,
    },
    /// A skeleton that no rig map fits and that is not taken for a human body.
    #[error(
        "no rig map fits the skeleton of \"{clip}\" ({joints} joints), and its structure is not taken for a human body: \
         {reason}. If it is one, write its joints into a rig map (docs/rigs.md) and pass it with --rig{}",
        nearest(.closest)
    )]
    NotHuman {
        /// Clip name.
        clip: String,
        /// Number of joints of the skeleton.
        joints: usize,
        /// What speaks against a human body, with the joints.
        reason: String,
        /// The rig maps that come closest, each with the joints that it misses.
        closest: Vec<String>,
    },
    /// A rig map that does not fit the skeleton it was given.
    #[error("rig map \"{rig}\" does not fit: the skeleton has no joint named {}", .missing.join(", none named "))]
    RigDoesNotFit {
        /// Name of the map.
        rig: String,
        /// Joints that it needs, `project joint (name looked for)`.
        missing: Vec<String>,
    },
    /// Legs without a length.
    #[error(
        "the legs of \"{clip}\" are {leg_length} file units long, which is no length in any unit; check the offsets of thigh \
         and shin, or the joints that the rig map names"
    )]
    UnknownUnit {
        /// Clip name.
        clip: String,
        /// Mean length of thigh and shin, file units.
        leg_length: f32,
    },
    /// A rest pose that is no standing pose, and a rig map without axes for it.
    #[error(
        "the rest pose of \"{clip}\" is not a standing pose ({reason}), and rig map \"{rig}\" states no axes for {joint}; \
         add an [axes.{joint}] table with `up` and `forward`"
    )]
    RestPoseNotStanding {
        /// Clip name.
        clip: String,
        /// Rig map.
        rig: String,
        /// First project joint without axes.
        joint: String,
        /// Why the pose is not a standing one.
        reason: String,
    },
    /// Motion data that break their own rules.
    #[error(transparent)]
    Motion(#[from] MotionError),
}

/// The nearest rig maps in a sentence.
fn nearest(closest: &[String]) -> String {
    if closest.is_empty() { String::new() } else { format!("; the nearest maps: {}", closest.join("; ")) }
}
