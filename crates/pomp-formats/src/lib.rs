//! Readers and writers of motion files: BVH, GLB, npz.
//!
//! - [`read_bvh`] gives a [`BvhFile`]: a [`pomp_motion::SourceMotion`] in the file's own unit, ready for
//!   retargeting, and the list of everything the reader had to interpret or repair. [`write_bvh`] writes a
//!   [`pomp_motion::Clip`].
//! - [`write_recording`] and [`read_recording`] hold a [`pomp_motion::Recording`] in one npz file that numpy
//!   opens.
//! - [`write_glb`] makes a clip that any glTF viewer plays; [`read_glb`] reads the animation of a skeleton from a GLB or glTF file.
//! - [`read_glb_model`] reads the skeleton of a GLB or glTF file, and [`write_glb_like`] writes a motion of it into that file.
//! - [`read_motion`] reads the motion of any of these files but npz.
//! - [`write_atomically`] is how all of them, and the crates above, write a file.
//!
//! Readers are strict about truth (numbers, counts, shapes: an error says file, line and column or array) and
//! lenient about dialect (case, spacing, braces, names). They never allocate from a number in a header, and
//! arbitrary bytes are an error, never a panic.
//!
//! ```
//! use pomp_formats::bvh::{BvhWriteOptions, bvh_text};
//! use pomp_formats::parse_bvh;
//! use pomp_motion::{Clip, Pose, Skeleton};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let skeleton = Arc::new(Skeleton::humanoid(1.75));
//! let clip = Clip::new("rest", Arc::clone(&skeleton), 60.0, vec![Pose::rest(&skeleton); 2])?;
//! let text = bvh_text(&clip, &BvhWriteOptions::default())?;
//! let file = parse_bvh(text.as_bytes(), "rest")?;
//! assert_eq!(file.motion.skeleton.len(), 22);
//! assert!(file.warnings.is_empty());
//! let error = parse_bvh(text.replace("Frames: 2", "Frames: two").as_bytes(), "rest.bvh").unwrap_err();
//! assert!(error.to_string().ends_with("expected the number of frames, at \"two\""));
//! # Ok(())
//! # }
//! ```
//!
//! This crate neither retargets nor resamples; it changes units only where an option of a writer says so.

pub mod bvh;
mod check_clip;
mod error;
pub mod glb;
mod motion_file;
pub mod npz;
mod write_atomically;

pub use bvh::{
    BvhFile, BvhReadOptions, BvhWarning, BvhWriteOptions, parse_bvh, read_bvh, write_bvh, write_bvh_like,
};
pub use error::FormatError;
pub use glb::{
    GlbFile, GlbModel, parse_glb, parse_glb_model, read_glb, read_glb_model, write_glb, write_glb_like,
};
pub use motion_file::{MOTION_FILES, is_motion_file, read_motion};
pub use npz::{read_recording, write_recording};
pub use write_atomically::write_atomically;
