use pomp_formats::FormatError;
use pomp_motion::MotionError;
use pomp_weights::WeightsError;
use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong with skeleton-aware networks.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SkeletalError {
    /// A setting outside its range.
    #[error("retargeting networks: {0}")]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// A motion file that cannot be read or written.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Weights that cannot be read or written.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Motion data that break their own rules.
    #[error(transparent)]
    Motion(#[from] MotionError),
    /// A folder without motions.
    #[error("{}: no motions (.bvh, .glb, .gltf, .npz) here; give a folder with the motions of one skeleton", folder.display())]
    NoMotions {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder that cannot be listed.
    #[error("{}: cannot be listed: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A motion that cannot be learned from or retargeted.
    #[error("{clip}: {reason}")]
    Clip {
        /// The motion.
        clip: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A skeleton whose legs, head, up or forward cannot be told.
    #[error("the skeleton of {place}: {reason}")]
    Skeleton {
        /// Where it is from.
        place: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Two skeletons that are not homeomorphic.
    #[error(
        "the skeletons are not homeomorphic: {reason}; the networks take skeletons that branch alike, with any number of joints \
         between branches: leave the joints that one of them lacks out (fingers, twist bones, face, props), such as \
         --set 'leave_out.b=[\"thumb\"]', or use the rules (pomp retarget without --model)"
    )]
    NotHomeomorphic {
        /// Where they differ.
        reason: String,
    },
    /// A skeleton that the networks have not learned.
    #[error(
        "{place}: its skeleton is neither of the model's: {reason}; train networks for it (pomp train retarget), or leave --model out"
    )]
    UnknownSkeleton {
        /// The motion or target.
        place: String,
        /// What differs from the nearest of them.
        reason: String,
    },
    /// A model file that holds no such networks.
    #[error("{source_name}: {reason}; make one with `pomp train retarget`")]
    BadFile {
        /// The file.
        source_name: String,
        /// What is wrong with it.
        reason: String,
    },
}
