//! How well terrain reconstruction finds a ground that is known, and how well real feet agree with theirs.
//!
//! [`procedural_figures`] draws a ground and a walk on it from a seed, takes the contacts that preprocessing finds,
//! fits the ground and compares it with the true one. [`recorded_figures`] fits the ground of a clip and says how
//! planted and lifted feet lie on it: there the true ground is not known.

mod procedural;
mod recorded;

pub use procedural::{CheckedGround, ProceduralFigures, procedural_figures};
pub use recorded::{RecordedFigures, recorded_figures};
