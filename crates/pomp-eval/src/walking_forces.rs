//! What the ground does under a person who walks.

use crate::stance::{STANCE_POINTS, StanceForces};
use pomp_motion::statistics::median;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Ground reaction forces of walking, from force plates: mean curves over stances, each over the mean of its vertical force, and
/// medians of what [`StanceForces`] holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalkingForces {
    /// Who walked, where the measurements are, and what was done to them.
    pub source: String,
    /// Licence of the measurements.
    pub licence: String,
    /// Number of stances.
    pub stances: usize,
    /// Median over stances of the correlation with the mean vertical curve.
    pub vertical_r: f64,
    /// Median over stances of the correlation with the mean curve of the force ahead.
    pub forward_r: f64,
    /// Median over stances of the largest vertical force, body weights.
    pub vertical_peak_bw: f64,
    /// Median over stances of the steepest rise, body weights per second.
    pub loading_rate_bw_s: f64,
    /// Median over stances of the largest force back, body weights.
    pub braking_peak_bw: f64,
    /// Median over stances of the largest force ahead, body weights.
    pub propulsion_peak_bw: f64,
    /// Median over stances of [`StanceForces::roughness`].
    pub roughness: f64,
    /// Mean vertical curve, [`STANCE_POINTS`] points.
    pub vertical: Vec<f64>,
    /// Mean curve of the force ahead, [`STANCE_POINTS`] points.
    pub forward: Vec<f64>,
}

impl WalkingForces {
    /// The forces that metrics compare with, `walking_forces.toml`.
    pub fn reference() -> &'static Self {
        static REFERENCE: LazyLock<WalkingForces> = LazyLock::new(|| {
            toml::from_str(include_str!("walking_forces.toml")).expect("a test reads the file")
        });
        &REFERENCE
    }

    /// The forces of these stances; `None` without any, and where a force never changes.
    pub fn of(stances: &[StanceForces], source: &str, licence: &str) -> Option<Self> {
        let middle = |value: &dyn Fn(&StanceForces) -> Option<f64>| -> Option<f64> {
            median(&stances.iter().map(value).collect::<Option<Vec<f64>>>()?)
        };
        let curve = |points: &dyn Fn(&StanceForces) -> &Vec<f64>| -> Vec<f64> {
            let at = |point: usize| stances.iter().map(|stance| points(stance)[point]).sum::<f64>();
            (0..STANCE_POINTS).map(|point| at(point) / stances.len() as f64).collect()
        };
        if stances.is_empty() {
            return None;
        }
        let (vertical, forward) = (curve(&|stance| &stance.vertical), curve(&|stance| &stance.forward));
        Some(Self {
            source: source.to_owned(),
            licence: licence.to_owned(),
            stances: stances.len(),
            vertical_r: middle(&|stance| stance.vertical_r(&vertical))?,
            forward_r: middle(&|stance| stance.forward_r(&forward))?,
            vertical_peak_bw: middle(&|stance| Some(stance.vertical_peak_bw))?,
            loading_rate_bw_s: middle(&|stance| Some(stance.loading_rate_bw_s))?,
            braking_peak_bw: middle(&|stance| Some(stance.braking_peak_bw))?,
            propulsion_peak_bw: middle(&|stance| Some(stance.propulsion_peak_bw))?,
            roughness: middle(&|stance| Some(stance.roughness()))?,
            vertical,
            forward,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_a_walk_with_two_peaks_that_brakes_and_then_pushes_on() {
        let walk = WalkingForces::reference();
        assert_eq!((walk.vertical.len(), walk.forward.len()), (STANCE_POINTS, STANCE_POINTS));
        let mean = walk.vertical.iter().sum::<f64>() / STANCE_POINTS as f64;
        assert!((mean - 1.0).abs() < 1e-3, "{mean}");
        let largest =
            |range: std::ops::Range<usize>| walk.vertical[range].iter().copied().fold(0.0, f64::max);
        let valley = walk.vertical[24..40].iter().copied().fold(f64::INFINITY, f64::min);
        assert!(largest(8..24) > valley + 0.1 && largest(40..58) > valley + 0.1);
        assert!(walk.forward[4..24].iter().all(|force| *force < 0.0));
        assert!(walk.forward[40..60].iter().all(|force| *force > 0.0));
    }

    #[test]
    fn the_forces_of_one_stance_are_its_own() {
        let vertical: Vec<f64> =
            (0..40).map(|k| 0.1 + (k as f64 / 39.0 * std::f64::consts::PI).sin()).collect();
        let forward: Vec<f64> = (0..40).map(|k| (k as f64 - 20.0) * 0.01).collect();
        let stance = StanceForces::new(&vertical, &forward, 60.0, 0..40);
        let walk = WalkingForces::of(std::slice::from_ref(&stance), "a", "b").unwrap();
        assert!((walk.vertical_r - 1.0).abs() < 1e-12 && (walk.forward_r - 1.0).abs() < 1e-12);
        assert_eq!((walk.vertical, walk.roughness), (stance.vertical.clone(), stance.roughness()));
        assert_eq!(WalkingForces::of(&[], "a", "b"), None);
    }
}
