//! 95 % intervals.

use pomp_motion::statistics::{mean, percentile};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Largest value; `None` of nothing.
pub(crate) fn peak(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}

/// Correlation of Pearson of as many values each; `None` where one of the two is constant.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mean_a, mean_b) = (mean(a)?, mean(b)?);
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| f(a - mean_a, b - mean_b)).sum()
    };
    let spread = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    (spread > 0.0).then(|| sum(&|a, b| a * b) / spread)
}

/// Half the width of the 95 % interval of the mean, by Student's t; `None` for fewer than two values.
pub fn half_interval_95(values: &[f64]) -> Option<f64> {
    let count = values.len();
    let mean = mean(values)?;
    if count < 2 {
        return None;
    }
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (count - 1) as f64;
    Some(student_t_975(count - 1) * (variance / count as f64).sqrt())
}

/// 95 % interval of a probability after `successes` of `trials`, by Wilson's score; `None` without a trial.
///
/// Unlike that of the mean it has a width where all trials agree.
pub fn wilson_95(successes: usize, trials: usize) -> Option<[f64; 2]> {
    if trials == 0 {
        return None;
    }
    let (n, share) = (trials as f64, successes as f64 / trials as f64);
    let z = Normal::standard().inverse_cdf(UPPER);
    let z2 = z * z;
    let middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    Some([(middle - half).max(0.0), (middle + half).min(1.0)])
}

/// 95 % percentile interval of a statistic of `count` things by the bootstrap: `statistic` gets the indices of a
/// sample drawn with replacement, `resamples` times from a generator of this `seed`, and gives `None` where it is not
/// defined. `None` for fewer than two things, or where no sample has a value.
pub fn bootstrap_95(
    count: usize,
    resamples: usize,
    seed: u64,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Option<[f64; 2]> {
    if count < 2 {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut sample = vec![0; count];
    let values: Vec<f64> = (0..resamples)
        .filter_map(|_| {
            sample.fill_with(|| rng.random_range(0..count));
            statistic(&sample)
        })
        .collect();
    Some([percentile(&values, 0.025)?, percentile(&values, 0.975)?])
}

/// Share below the upper end of a two-sided 95 % interval.
const UPPER: f64 = 0.975;

/// Upper end of the 95 % interval of Student's t.
fn student_t_975(degrees: usize) -> f64 {
    let t = StudentsT::new(0.0, 1.0, degrees as f64).expect("an interval has a degree of freedom");
    t.inverse_cdf(UPPER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // Mean 2, standard deviation 1, three values: 4.302653 / √3.
        let half = half_interval_95(&[1.0, 2.0, 3.0]).unwrap();
        assert!((half - 4.302_653 / 3f64.sqrt()).abs() < 1e-6);
        assert_eq!(half_interval_95(&[1.0]), None);
    }

    #[test]
    fn wilsons_interval_is_that_of_a_hand_computation() {
        // 8 of 10: middle (0.8 + 3.8415/20) / 1.38415 = 0.71674, half 1.95996/1.38415·√(0.016 + 0.0096036) = 0.22657.
        let [low, high] = wilson_95(8, 10).unwrap();
        assert!((low - 0.49016).abs() < 1e-4 && (high - 0.94331).abs() < 1e-4, "{low} {high}");
        // All of ten: the upper end is 1, the lower 1 / (1 + z²/10).
        let [low, high] = wilson_95(10, 10).unwrap();
        assert!((low - 1.0 / 1.384_146).abs() < 1e-5 && (high - 1.0).abs() < 1e-12, "{low} {high}");
        assert_eq!(wilson_95(0, 0), None);
    }

    #[test]
    fn the_bootstrap_interval_of_a_mean_is_near_the_normal_one_and_the_same_again() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let of_mean = |sample: &[usize]| mean(&sample.iter().map(|&i| values[i]).collect::<Vec<_>>());
        let [low, high] = bootstrap_95(100, 2000, 7, of_mean).unwrap();
        // The standard deviation is 28.87, a tenth of it the error of the mean.
        assert!((low - (49.5 - 1.96 * 2.887)).abs() < 0.5, "{low}");
        assert!((high - (49.5 + 1.96 * 2.887)).abs() < 0.5, "{high}");
        assert_eq!(bootstrap_95(100, 2000, 7, of_mean), Some([low, high]));
        assert_eq!(bootstrap_95(1, 10, 7, of_mean), None);
    }

    #[test]
    fn the_quantiles_of_students_t_are_those_of_the_tables() {
        for (degrees, quantile) in [(1, 12.7062), (2, 4.3027), (9, 2.2622), (30, 2.0423), (120, 1.9799)] {
            let found = student_t_975(degrees);
            assert!((found - quantile).abs() < 1e-4, "{degrees} degrees of freedom: {found}");
        }
    }
}
