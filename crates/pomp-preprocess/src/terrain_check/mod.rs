//! Accuracy of terrain reconstruction: against known grounds, and against the feet of recorded clips.
//!
//! [`procedural_figures`] draws a ground and a walk on it from a seed, takes the contacts that preprocessing finds,
//! fits the ground and compares it with the true one. [`recorded_figures`] fits the ground of a recorded clip, whose true ground
//! is not known, and measures the distance of planted and lifted feet from it.

mod procedural;
mod recorded;

pub use procedural::{CheckedGround, ProceduralFigures, procedural_figures};
pub use recorded::{RecordedFigures, recorded_figures};
