//! From any humanoid skeleton onto the project skeleton.
//!
//! A [`RigMap`] says which source joint plays which project joint; [`RigLibrary`] holds the built-in maps and
//! chooses by joint names, and where none fits [`infer()`] makes one, by names of other conventions or by structure alone.
//! [`SourceFrame`] finds the unit and the up axis. [`retarget()`] does the rest:
//!
//! 1. *Calibration*: per joint one constant rotation that takes the project's T-pose frame to the source
//!    joint's frame, from the directions of the bones at rest, or from axes that the rig map states where
//!    the rest pose means nothing.
//! 2. *Rotations*: the source's world rotations times the calibration, so that every bone points where the
//!    source's bone points, whatever joints lie between.
//! 3. *Positions*: the middle of the hip joints follows the source scaled by the ratio of leg lengths; two-bone
//!    inverse kinematics puts the ankles exactly on the scaled source ankles (planted feet slide no more than
//!    in the source) and the wrists on the source's wrists relative to the shoulder. Then the collar bones and
//!    the arms as wholes turn a little, towards where the source has shoulder, elbow and wrist in space.
//!    The scale is that of the legs alone: with any other, legs could not reach the ground or stay bent.
//! 4. *Ground*: one constant height brings the lowest planted sole to y = 0.
//!
//! The result is a [`crate::Clip`] and a [`RetargetReport`] with everything found, missing and measured. The way back, onto the
//! skeleton of any file, is in the crate `pomp-retarget`; [`RigBinding`] is what both begin with.

mod arm_fit;
mod binding;
mod calibration;
mod dropped_bone;
mod error;
mod file_convention;
mod ground;
mod infer;
mod mirror;
mod options;
mod prepare;
mod proportions;
mod report;
mod rig_library;
mod rig_map;
mod rig_toml;
mod solve;
mod source_frame;
mod source_pose;
mod units;

pub use arm_fit::{arm_turn, softly_limited};
pub use binding::RigBinding;
pub use error::RetargetError;
pub use file_convention::{FileConvention, LengthUnit, UpAxis};
pub use infer::{ExtraJoints, Finding, Inference, RoleFinding, StatedJoints, infer, infer_with};
pub use mirror::reflected;
pub use options::{Proportions, RetargetOptions, WristTarget};
pub use prepare::without_t_pose;
pub use proportions::{body_height, sole_heights};
pub use report::{JointError, RetargetReport, Retargeted};
pub use rig_library::{ChosenRig, RigLibrary};
pub use rig_map::{DroppedBone, JointAxes, MatchReport, RigMap};
pub use solve::retarget;
pub use source_frame::SourceFrame;
