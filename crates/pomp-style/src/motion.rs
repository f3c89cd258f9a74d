//! A cycle on the time axis of the reference: the deformable motion of which codes are made.

use crate::cycle::WalkCycle;
use crate::posture::PostureSpace;
use crate::warp::{log_steps, time_at, warp_of};
use nalgebra::DVector;

/// Postures at the frames of the reference, and when each of them is.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignedMotion {
    /// A vector of the posture space per frame of the reference, T.
    pub postures: Vec<Vec<f64>>,
    /// Frame of the motion's own time for each, T, strictly rising from 0.
    pub warp: Vec<f64>,
}

impl AlignedMotion {
    /// A cycle that `warp` aligns to the reference, or why its postures cannot be told.
    pub(crate) fn of_cycle(cycle: &WalkCycle, warp: Vec<f64>, space: &PostureSpace) -> Result<Self, String> {
        let own: Vec<Vec<f64>> =
            cycle.poses.iter().map(|pose| space.encode(pose)).collect::<Result<_, _>>()?;
        let postures = warp.iter().map(|&at| between(&own, at)).collect();
        Ok(Self { postures, warp })
    }

    /// All postures in a row, and h(t).
    pub(crate) fn vectors(&self) -> (DVector<f64>, DVector<f64>) {
        (DVector::from_vec(self.postures.concat()), DVector::from_vec(log_steps(&self.warp)))
    }

    /// The inverse of [`Self::vectors`].
    pub(crate) fn of_vectors(postures: &DVector<f64>, log_steps: &DVector<f64>) -> Self {
        let warp = warp_of(log_steps.as_slice());
        let size = postures.len() / warp.len();
        Self { postures: postures.as_slice().chunks(size).map(<[f64]>::to_vec).collect(), warp }
    }

    /// Frames of its own time from strike to strike.
    pub fn length(&self) -> f64 {
        *self.warp.last().expect("a motion has frames")
    }

    /// The posture at a frame of its own time.
    pub(crate) fn posture_at(&self, at: f64) -> Vec<f64> {
        between(&self.postures, time_at(&self.warp, at))
    }
}

/// A vector between neighbours.
pub(crate) fn between(vectors: &[Vec<f64>], at: f64) -> Vec<f64> {
    let before = (at.floor() as usize).min(vectors.len() - 1);
    let after = (before + 1).min(vectors.len() - 1);
    let share = (at - before as f64).clamp(0.0, 1.0);
    vectors[before].iter().zip(&vectors[after]).map(|(a, b)| a + (b - a) * share).collect()
}
