//! Motion on the skeleton of any person: the way back from the project skeleton.
//!
//! [`TargetSkeleton`] reads a BVH, GLB or glTF file and knows which of its joints plays which project joint, by the rig maps of
//! [`pomp_motion::retarget`]. [`onto_skeleton`] puts a [`pomp_motion::Clip`] of the project's topology on it:
//!
//! 1. *Rotations*: every joint that plays a project joint points where that joint points, whatever its own axes are.
//!    Joints in between share a bend (spine) or a twist (limbs); all others keep their rest pose.
//! 2. *Positions*: the middle of the hip joints follows the clip scaled by the ratio of leg lengths; inverse kinematics puts
//!    the ankles on the scaled ankles and the wrists where they are relative to the shoulder; spine, collar bones and arms
//!    turn a little towards where the clip has its shoulders, elbows and wrists. These are the steps of
//!    [`pomp_motion::retarget::retarget()`], so that a motion comes back as it went.
//! 3. *Ground*: soles stand on the floor of the target's own motion, or on y = 0 where it has none.
//!
//! The result has the target's joint names, hierarchy, offsets, unit and up axis. [`OntoSkeleton::write`] writes it as the target's file
//! is: a BVH file with its channels in their order, a GLB file with its meshes and skins and a new animation. [`write_onto`] does the
//! same for a motion that something else has put on the skeleton of a [`SkeletonFile`].
//!
//! [`Altered`] tells a motion on another body exactly (bones split, merged, stretched, turned), and [`told`] makes pairs of it that
//! retargeting is measured against.
//!
//! It moves no fingers and no face, and it ignores the surface of the body: hands that meet on one body may miss each other on one with
//! other arms.

mod altered;
mod error;
mod figure;
mod floor;
mod follow;
mod lengths;
mod onto;
mod pairs;
mod plant;
mod report;
mod result;
mod skeleton_file;
mod solve;
mod target;

pub use altered::Altered;
pub use error::RetargetOntoError;
pub use onto::{OntoOptions, onto_skeleton};
pub use pairs::{PairBody, PairSkeleton, told};
pub use report::{Follower, OntoReport, PlantedFeet, ShortJoint};
pub use result::{OntoSkeleton, write_onto};
pub use skeleton_file::SkeletonFile;
pub use target::TargetSkeleton;
