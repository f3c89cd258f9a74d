//! How well terrain reconstruction finds a ground that is known, and how well real feet agree with theirs.
//!
//! [`procedural_figures`] draws a ground and a walk on it from a seed, takes the contacts that preprocessing finds,
//! fits the ground and compares it with the true one. [`recorded_figures`] fits the ground of a clip and says how
//! planted and lifted feet lie on it: there the true ground is not known.

mod procedural;
mod recorded;

pub use procedural::{CheckedGround, ProceduralFigures, procedural_figures};
pub use recorded::{RecordedFigures, recorded_figures};

/// The smallest value that this share of the values does not exceed; 0 without values.
fn percentile(values: &mut [f32], share: f32) -> f32 {
    values.sort_by(f32::total_cmp);
    let at = (values.len() as f32 * share) as usize;
    values.get(at.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
}
