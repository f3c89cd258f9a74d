use crate::error::KinematicError;
use pomp_config::Fields;

/// Offset of the cosine schedule that keeps the first steps from being too small (Nichol & Dhariwal 2021).
const COSINE_OFFSET: f64 = 0.008;
/// Largest share of variance that one step may replace, so that ᾱ_N stays positive.
const LARGEST_BETA: f64 = 0.999;

/// ᾱ_0 = 1, ᾱ_1, …, ᾱ_N: the share of the clean sample's variance left after n noising steps.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffusionSchedule {
    alpha_bar: Vec<f64>,
}

impl DiffusionSchedule {
    /// The cosine schedule (Nichol & Dhariwal, "Improved denoising diffusion probabilistic models", eq. 17).
    ///
    /// ᾱ_n is the *product* of 1 − β after β is capped, so it is exactly the variance that the chain of
    /// capped steps leaves.
    ///
    /// # Errors
    /// [`KinematicError::OutOfRange`] when `steps` is 0.
    pub fn cosine(steps: usize) -> Result<Self, KinematicError> {
        Fields::root().within("diffusion_steps", steps, 1..)?;
        let ideal = |n: usize| {
            let time = n as f64 / steps as f64;
            ((time + COSINE_OFFSET) / (1.0 + COSINE_OFFSET) * std::f64::consts::FRAC_PI_2).cos().powi(2)
        };
        let mut alpha_bar = Vec::with_capacity(steps + 1);
        let mut product = 1.0;
        alpha_bar.push(product);
        for n in 1..=steps {
            let beta = (1.0 - ideal(n) / ideal(n - 1)).min(LARGEST_BETA);
            product *= 1.0 - beta;
            alpha_bar.push(product);
        }
        Ok(Self { alpha_bar })
    }

    /// Number of steps N.
    pub fn steps(&self) -> usize {
        self.alpha_bar.len() - 1
    }

    /// ᾱ_n for n in 0..=N.
    ///
    /// # Panics
    /// When `n` is above N.
    pub fn alpha_bar(&self, n: usize) -> f64 {
        self.alpha_bar[n]
    }

    /// √ᾱ_n, what multiplies the clean sample.
    ///
    /// # Panics
    /// When `n` is above N.
    pub fn signal(&self, n: usize) -> f64 {
        self.alpha_bar[n].sqrt()
    }

    /// √(1−ᾱ_n), what multiplies the noise.
    ///
    /// # Panics
    /// When `n` is above N.
    pub fn noise(&self, n: usize) -> f64 {
        (1.0 - self.alpha_bar[n]).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_starts_clean_ends_in_noise_and_never_rises() {
        for steps in [1, 2, 25, 50, 100, 1000] {
            let schedule = DiffusionSchedule::cosine(steps).unwrap();
            assert_eq!(schedule.steps(), steps);
            assert_eq!(schedule.alpha_bar(0), 1.0);
            for n in 1..=steps {
                let step = schedule.alpha_bar(n) / schedule.alpha_bar(n - 1);
                assert!(step > 0.0009 && step < 1.0, "step {n} of {steps} keeps {step}");
            }
            assert!(schedule.alpha_bar(steps) < 1.1e-3, "ᾱ_N of {steps}: {}", schedule.alpha_bar(steps));
        }
    }

    #[test]
    fn the_schedule_is_the_cosine_of_the_paper_where_no_step_is_capped() {
        let schedule = DiffusionSchedule::cosine(100).unwrap();
        let ideal = |t: f64| ((t + 0.008) / 1.008 * std::f64::consts::FRAC_PI_2).cos().powi(2);
        for n in [1, 17, 50, 99] {
            let expected = ideal(n as f64 / 100.0) / ideal(0.0);
            assert!((schedule.alpha_bar(n) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn rejects_a_schedule_without_a_step() {
        assert!(matches!(DiffusionSchedule::cosine(0), Err(KinematicError::OutOfRange(_))));
    }
}
