//! Interpolation of scattered heights by radial basis functions with the linear kernel.

use glam::Vec2;
use nalgebra::{DMatrix, DVector};
use pomp_motion::statistics::mean;

/// h(p) = c − Σ wᵢ |p − pᵢ| with Σ wᵢ = 0; ridges λᵢ smooth: Σⱼ (λᵢ δᵢⱼ − |pᵢ − pⱼ|) wⱼ + c = hᵢ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RadialBasis {
    centres: Vec<Vec2>,
    weights: Vec<f64>,
    constant: f64,
}

impl RadialBasis {
    /// Fits heights at places with a ridge each, metres. Without places it is 0 everywhere.
    ///
    /// −|r| is conditionally positive definite of order one, so with the constant the system is regular for
    /// distinct places; a positive ridge keeps it regular when places coincide. Where it is singular all the same, as for
    /// places so far apart that distances are infinite, the surface is level at the mean height.
    pub fn fit(places: &[Vec2], heights: &[f32], ridges: &[f32]) -> Self {
        let n = places.len();
        if n == 0 {
            return Self { centres: Vec::new(), weights: Vec::new(), constant: 0.0 };
        }
        let system = DMatrix::from_fn(n + 1, n + 1, |i, j| match (i == n, j == n) {
            (true, true) => 0.0,
            (true, false) | (false, true) => 1.0,
            (false, false) => {
                let ridge = if i == j { f64::from(ridges[i]).max(1e-6) } else { 0.0 };
                ridge - f64::from(places[i].distance(places[j]))
            }
        });
        let right = DVector::from_fn(n + 1, |i, _| heights.get(i).map_or(0.0, |&height| f64::from(height)));
        let solution = system.lu().solve(&right).filter(|found| found.iter().all(|value| value.is_finite()));
        let Some(solution) = solution else {
            let mean = mean(heights).filter(|height| height.is_finite()).unwrap_or(0.0);
            return Self { centres: Vec::new(), weights: Vec::new(), constant: mean };
        };
        let (weights, constant) = (solution.rows(0, n).iter().copied().collect(), solution[n]);
        Self { centres: places.to_vec(), weights, constant }
    }

    /// Height at a place.
    pub fn at(&self, place: Vec2) -> f32 {
        let sum: f64 = (self.centres.iter().zip(&self.weights))
            .map(|(centre, weight)| weight * f64::from(centre.distance(place)))
            .sum();
        (self.constant - sum) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surface_passes_through_the_heights_and_is_level_around_one_place() {
        let places = [Vec2::ZERO, Vec2::X, Vec2::new(0.3, 2.0), Vec2::new(-1.0, 0.5)];
        let heights = [0.1, 0.4, -0.2, 0.3];
        let surface = RadialBasis::fit(&places, &heights, &[0.0; 4]);
        for (place, height) in places.iter().zip(heights) {
            assert!((surface.at(*place) - height).abs() < 1e-5, "{} is not {height}", surface.at(*place));
        }
        let one = RadialBasis::fit(&[Vec2::X], &[0.7], &[0.0]);
        assert!((one.at(Vec2::new(5.0, -3.0)) - 0.7).abs() < 1e-6);
        assert_eq!(RadialBasis::fit(&[], &[], &[]).at(Vec2::X), 0.0);
    }

    #[test]
    fn places_that_coincide_get_the_mean_of_their_heights() {
        let surface = RadialBasis::fit(&[Vec2::X; 3], &[0.1, 0.2, 0.6], &[0.01; 3]);
        assert!((surface.at(Vec2::X) - 0.3).abs() < 1e-5, "{}", surface.at(Vec2::X));
    }

    #[test]
    fn places_beyond_all_measure_make_level_ground_at_the_mean_height() {
        let far = [Vec2::splat(-3e38), Vec2::splat(3e38), Vec2::ZERO];
        let surface = RadialBasis::fit(&far, &[0.3, 0.6, 0.9], &[0.0; 3]);
        assert!((surface.at(Vec2::ONE) - 0.6).abs() < 1e-6, "{}", surface.at(Vec2::ONE));
    }
}
