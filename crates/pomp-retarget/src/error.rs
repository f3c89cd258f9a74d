use pomp_formats::FormatError;
use pomp_motion::MotionError;
use pomp_motion::retarget::RetargetError;
use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong between a clip and a target skeleton.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RetargetOntoError {
    /// A file that cannot be read or written.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A skeleton that no rig map fits.
    #[error("{}: {source}", path.display())]
    Rig {
        /// The target file.
        path: PathBuf,
        /// What is wrong with it.
        source: RetargetError,
    },
    /// A target that is no file with a skeleton.
    #[error("{}: a target skeleton is a .bvh, .glb or .gltf file; export the skeleton as one of them", path.display())]
    NoSkeletonFile {
        /// The target file.
        path: PathBuf,
    },
    /// A target whose body cannot be moved from place to place.
    #[error(
        "{}: neither joint \"{joint}\", which carries the body, nor a joint above it has the channels Xposition Yposition \
         Zposition; without them the body cannot move from its place: give one of them six channels",
        path.display()
    )]
    Immovable {
        /// The target file.
        path: PathBuf,
        /// The lowest joint above all that are mapped.
        joint: String,
    },
    /// A clip that is not on the project skeleton.
    #[error("the clip \"{clip}\" is not on the project skeleton: {reason}")]
    OtherTopology {
        /// Name of the clip.
        clip: String,
        /// What is different.
        reason: String,
    },
    /// A result file of a kind that is not written.
    #[error("{}: none of .bvh and .glb; give a file of one of them with --out", path.display())]
    UnknownKind {
        /// The file.
        path: PathBuf,
    },
    /// Motion data that break their own rules.
    #[error(transparent)]
    Motion(#[from] MotionError),
}
