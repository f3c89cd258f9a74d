//! Skeletons, poses, clips, root frames, features and recordings: the vocabulary of every other crate.
//!
//! # Conventions
//!
//! Stated here once, true everywhere:
//!
//! - metres, kilograms, seconds, radians, newtons; bare numbers that cross a boundary carry their unit in
//!   the name (`push_ns`, `frame_rate_hz`);
//! - Y is up, right-handed; a character at yaw 0 faces +Z and has its left side at +X;
//! - quaternions are unit, `x y z w` in memory and in files;
//! - the project skeleton ([`Skeleton::humanoid`]) has LaFAN1's 22 joints in LaFAN1's order; its rest pose is
//!   a T-pose in which every joint frame is aligned with the world, so a local rotation of identity
//!   everywhere *is* the T-pose;
//! - a *local* rotation is relative to the parent joint; the root's is relative to the world;
//! - the *root frame* ([`RootFrame`]) is the pelvis projected on the ground, turned by its yaw only;
//! - transforms read `target_from_source`; a space that can be mistaken is a suffix: `_world`, `_root`, `_local`.
//!
//! # The main types
//!
//! A [`Clip`] is a [`Skeleton`] and a list of [`Pose`]s at a frame rate. Forward kinematics
//! ([`Skeleton::forward_kinematics`]) turns a pose into a [`GlobalPose`]. A [`Recording`] is what the
//! preprocessing and the generator write: a clip in world space with contacts, gaits, impulses and terrain.
//!
//! ```
//! use pomp_motion::{Pose, Skeleton};
//! let skeleton = Skeleton::humanoid(1.75);
//! let rest = Pose::rest(&skeleton);
//! let world = skeleton.forward_kinematics(&rest);
//! let left_toe = skeleton.index_of("LeftToe").expect("the humanoid has toes");
//! assert!(world.positions[left_toe.0].y.abs() < 0.05);
//! ```
//!
//! This crate reads no files and knows neither the simulator nor the networks.

/// Standard acceleration of a fall in every default and every body weight, m/s².
pub const GRAVITY_M_S2: f64 = 9.81;

mod clip;
mod contacts;
mod ease;
mod error;
mod falls;
pub mod features;
mod forward_kinematics;
mod frame_rate;
mod frame_table;
mod gait;
mod gait_labels;
pub mod legs;
mod per_joint;
mod pose;
pub mod random;
mod recording;
mod recording_difference;
pub mod retarget;
mod root_frame;
pub mod rotation;
mod skeleton;
mod source_motion;
pub mod statistics;
pub mod two_bone_ik;

pub use clip::Clip;
pub use contacts::{ContactConfig, foot_contacts, foot_contacts_of_positions};
pub use ease::{smoothstep, smoothstep_between};
pub use error::MotionError;
pub use falls::{FALL_AFTER_S, FALL_HEIGHT, FALL_TILT_DEG, FallDetector};
pub use frame_rate::FRAME_RATE_HZ;
pub use frame_table::FrameTable;
pub use gait::Gait;
pub use gait_labels::{GaitLabelConfig, gait_labels, gait_labels_of_positions};
pub use glam;
pub use per_joint::PerJoint;
pub use pose::{GlobalPose, Pose};
pub use recording::{
    ESTIMATED_BY_SIMULATION, EffortTrack, GenerationTrack, PushRecord, Recipe, Recording, SimulationTrack,
    TerrainGrid,
};
pub use recording_difference::{Difference, differences};
pub use root_frame::RootFrame;
pub use skeleton::{Joint, JointIndex, Skeleton, humanoid};
pub use source_motion::SourceMotion;
