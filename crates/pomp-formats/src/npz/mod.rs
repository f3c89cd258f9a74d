//! npz: a [`pomp_motion::Recording`] as named numpy arrays in a zip archive.
//!
//! `numpy.load(path)` opens the file; its first six arrays are what AI4AnimationPy loads as a motion. [`ARRAYS`] describes every array
//! that a file may hold. Numbers are 32-bit floating point unless it says otherwise; world space, metres, seconds, newtons; quaternions
//! `x y z w`.
//!
//! Written files are the same bytes for the same recording: fixed order, fixed time stamps, no compression.
//! Read files may be compressed, may hold 64-bit floats or integers in place of 32-bit floats, and may hold no
//! other arrays than these.
//!
//! [`each_array`] gives the arrays of a recording without a file.
//!
//! Phases are added to a recording later than the rest; [`bytes_without_phases`] is what hashes of data are taken of.

mod archive;
mod arrays;
mod read;
mod write;

pub use arrays::{ARRAYS, ArrayDescription, Presence};
pub use read::{parse_recording, read_recording};
pub use write::{
    ArrayValues, NamedArray, bytes_without_phases, each_array, recording_bytes, write_recording,
};

/// Numbers of a frame of a plan: x, z, yaw, speed, gait.
const PLAN_COLUMNS: usize = 5;
/// Numbers of a push: time, body, impulse, point.
const PUSH_COLUMNS: usize = 8;
