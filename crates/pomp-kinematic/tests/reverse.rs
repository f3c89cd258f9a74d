//! The reverse process against the closed form: Gaussian data, whose exact denoiser is linear.

use burn::tensor::{Device, Tensor, TensorData};
use pomp_kinematic::{
    Covariance, CovarianceEstimate, DiffusionSchedule, GammaEstimator, GammaTable, KinematicError, Lambda,
    ReverseProcess, SamplerConfig, StepNoise, run_reverse,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

const N: usize = 1000;

/// y_0 ~ N(mean, deviation²) per feature, independent.
struct Gaussian {
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Gaussian {
    fn uneven() -> Self {
        Self { means: vec![0.3, -0.5, 0.0, 1.0], deviations: vec![1.0, 0.6, 0.2, 1.4] }
    }

    fn even() -> Self {
        Self { means: vec![0.3, -0.5, 0.0, 1.0], deviations: vec![0.8; 4] }
    }

    fn features(&self) -> usize {
        self.means.len()
    }

    /// d E[y_0 | y_n] / d y_n.
    fn slope(&self, alpha_bar: f64, feature: usize) -> f64 {
        let variance = self.deviations[feature].powi(2);
        alpha_bar.sqrt() * variance / (alpha_bar * variance + 1.0 - alpha_bar)
    }

    fn posterior_variance(&self, alpha_bar: f64, feature: usize) -> f64 {
        let variance = self.deviations[feature].powi(2);
        variance * (1.0 - alpha_bar) / (alpha_bar * variance + 1.0 - alpha_bar)
    }

    fn denoise(&self, schedule: &DiffusionSchedule, noisy: Tensor<2>, n: usize) -> Tensor<2> {
        let row = |values: Vec<f64>| {
            let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
            Tensor::<2>::from_data(TensorData::new(values, [1, self.features()]), &Device::flex())
        };
        let alpha_bar = schedule.alpha_bar(n);
        let slope = |feature| self.slope(alpha_bar, feature);
        let slopes = row((0..self.features()).map(slope).collect());
        let offset = |i: usize| self.means[i] * (1.0 - slope(i) * alpha_bar.sqrt());
        noisy * slopes + row((0..self.features()).map(offset).collect())
    }

    /// Γ without sampling error.
    fn exact_gamma(&self, schedule: &DiffusionSchedule) -> GammaTable {
        let features = self.features();
        let (mut gamma, mut clean_error) = (Vec::new(), Vec::new());
        for n in 1..=schedule.steps() {
            let a = schedule.alpha_bar(n);
            for feature in 0..features {
                let variance = self.deviations[feature].powi(2);
                gamma.push((1.0 - a) / (a * variance + 1.0 - a));
                clean_error.push(self.posterior_variance(a, feature));
            }
        }
        let data_variance = self.deviations.iter().map(|deviation| deviation * deviation).collect();
        GammaTable { steps: schedule.steps(), features, gamma, clean_error, data_variance }
    }
}

fn config(steps: usize, lambda: Lambda, covariance: Covariance) -> SamplerConfig {
    SamplerConfig { lambda, covariance, ..SamplerConfig::analytic_ddim(steps) }
}

fn sigma(noise: &StepNoise, feature: usize) -> f64 {
    match noise {
        StepNoise::None => 0.0,
        StepNoise::Scalar(sigma) => f64::from(*sigma),
        StepNoise::PerFeature(sigmas) => f64::from(sigmas[feature]),
    }
}

/// The variance of every y_s on the way down, from the coefficients alone.
fn variances(data: &Gaussian, process: &ReverseProcess, s: &DiffusionSchedule, feature: usize) -> Vec<f64> {
    let mut variance = f64::from(process.initial).powi(2);
    let step = |transition: &pomp_kinematic::Transition| {
        let slope = data.slope(s.alpha_bar(transition.from), feature);
        let factor = f64::from(transition.clean) * slope + f64::from(transition.noisy);
        variance = factor * factor * variance + sigma(&transition.noise, feature).powi(2);
        variance
    };
    process.transitions.iter().map(step).collect()
}

#[test]
fn with_the_exact_denoiser_every_step_has_the_variance_of_the_noised_data() {
    let schedule = DiffusionSchedule::cosine(N).unwrap();
    for (data, covariance) in
        [(Gaussian::even(), Covariance::Scalar), (Gaussian::uneven(), Covariance::PerFeature)]
    {
        let gamma = data.exact_gamma(&schedule);
        for lambda in [Lambda::Zero, Lambda::Posterior] {
            for estimate in [CovarianceEstimate::NoiseEnergy, CovarianceEstimate::PredictionError] {
                for steps in [2, 4, 8, 25, 1000] {
                    let config = SamplerConfig { estimate, ..config(steps, lambda, covariance) };
                    let process =
                        ReverseProcess::new(&schedule, data.features(), &config, Some(&gamma)).unwrap();
                    for feature in 0..data.features() {
                        let found = variances(&data, &process, &schedule, feature);
                        for (transition, found) in process.transitions.iter().zip(&found) {
                            let a = schedule.alpha_bar(transition.to);
                            let variance = data.deviations[feature].powi(2);
                            let mut expected = a * variance + 1.0 - a;
                            if transition.to == 0 {
                                // The last step gives E[y_0 | y_n] without noise.
                                expected -=
                                    data.posterior_variance(schedule.alpha_bar(transition.from), feature);
                            }
                            assert!(
                                (found - expected).abs() < 2e-3 * variance,
                                "{lambda:?} {estimate:?} K = {steps}, step {} → {}: {found}, not {expected}",
                                transition.from,
                                transition.to
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn sampled_moments_match_the_closed_form_and_plain_ddim_falls_short() {
    let (schedule, device) = (DiffusionSchedule::cosine(N).unwrap(), Device::flex());
    let data = Gaussian::uneven();
    let gamma = data.exact_gamma(&schedule);
    let rows = 8000;
    for steps in [2, 4, 8, 25, 1000] {
        let variants = [
            (Lambda::Zero, Covariance::PerFeature),
            (Lambda::Posterior, Covariance::PerFeature),
            (Lambda::Zero, Covariance::None),
        ];
        for (lambda, covariance) in variants {
            if steps == 1000 && lambda == Lambda::Posterior {
                continue;
            }
            let config = config(steps, lambda, covariance);
            let process = ReverseProcess::new(&schedule, 4, &config, Some(&gamma)).unwrap();
            let mut rng = ChaCha8Rng::seed_from_u64(11);
            let samples = run_reverse(&process, [rows, 4], &device, &mut rng, |noisy, n| {
                data.denoise(&schedule, noisy, n)
            });
            let values: Vec<f64> = samples.to_data().iter::<f64>().collect();
            for feature in 0..4 {
                let column = || values.iter().skip(feature).step_by(4);
                let mean = column().sum::<f64>() / rows as f64;
                let variance = column().map(|y| (y - mean).powi(2)).sum::<f64>() / rows as f64;
                let predicted = variances(&data, &process, &schedule, feature)[steps - 1];
                let tolerance = 5.0 * (predicted / rows as f64).sqrt();
                assert!((mean - data.means[feature]).abs() < tolerance + 1e-3);
                assert!(
                    (variance / predicted - 1.0).abs() < 0.08,
                    "K = {steps} {lambda:?} {covariance:?}: variance {variance}, closed form {predicted}"
                );
            }
        }
        let last = |covariance| {
            let config = config(steps, Lambda::Zero, covariance);
            let process = ReverseProcess::new(&schedule, 4, &config, Some(&gamma)).unwrap();
            variances(&data, &process, &schedule, 0)[steps - 1]
        };
        let (analytic, plain) = (last(Covariance::PerFeature), last(Covariance::None));
        println!("K = {steps}: variance {analytic:.4} analytic, {plain:.4} plain DDIM, 1 in the data");
        assert!(analytic > plain - 1e-6);
        if steps > 1 && steps < 100 {
            assert!(analytic > plain + 1e-3, "the covariance must make up for the skipped steps");
        }
    }
}

#[test]
fn the_estimator_recovers_the_exact_gamma() {
    let schedule = DiffusionSchedule::cosine(20).unwrap();
    let data = Gaussian::uneven();
    let exact = data.exact_gamma(&schedule);
    let mut estimator = GammaEstimator::new(schedule.clone(), 4);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for sample in 0..200_000 {
        let n = sample % 20 + 1;
        let draw = |rng: &mut ChaCha8Rng| rng.sample::<f64, _>(StandardNormal);
        let y: [f64; 4] = std::array::from_fn(|i| data.means[i] + data.deviations[i] * draw(&mut rng));
        let noisy: [f64; 4] =
            std::array::from_fn(|i| schedule.signal(n) * y[i] + schedule.noise(n) * draw(&mut rng));
        let clean: [f64; 4] = std::array::from_fn(|i| {
            let slope = data.slope(schedule.alpha_bar(n), i);
            data.means[i] + slope * (noisy[i] - schedule.signal(n) * data.means[i])
        });
        let narrow = |values: [f64; 4]| values.map(|value| value as f32);
        estimator.push(n, &narrow(y), &narrow(noisy), &narrow(clean));
    }
    let found = estimator.finish().unwrap();
    let close = |found: &[f64], exact: &[f64]| {
        found.iter().zip(exact).all(|(found, exact)| (found / exact - 1.0).abs() < 0.08)
    };
    assert!(close(&found.gamma, &exact.gamma));
    assert!(close(&found.clean_error, &exact.clean_error));
    assert!(close(&found.data_variance, &exact.data_variance));
    assert!((found.scalar_gamma(10) / exact.scalar_gamma(10) - 1.0).abs() < 0.04);
}

#[test]
fn plain_ddim_draws_nothing_after_the_initial_noise() {
    let schedule = DiffusionSchedule::cosine(50).unwrap();
    let process = ReverseProcess::new(&schedule, 4, &SamplerConfig::ddim(10), None).unwrap();
    assert!(process.transitions.iter().all(|transition| transition.noise == StepNoise::None));
    let data = Gaussian::even();
    let run = || {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let samples = run_reverse(&process, [3, 4], &Device::flex(), &mut rng, |noisy, n| {
            data.denoise(&schedule, noisy, n)
        });
        (samples.to_data(), rng)
    };
    let (samples, mut after) = run();
    assert_eq!(samples, run().0);
    let mut expected = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..12 {
        let _: f32 = expected.sample(StandardNormal);
    }
    assert_eq!(after.next_u64(), expected.next_u64());
}

#[test]
fn the_last_step_adds_no_noise_and_every_step_is_visited_from_n_down_to_0() {
    let schedule = DiffusionSchedule::cosine(50).unwrap();
    let gamma = Gaussian::uneven().exact_gamma(&schedule);
    for steps in [1, 2, 3, 7, 49, 50] {
        for lambda in [Lambda::Zero, Lambda::Posterior] {
            let config = config(steps, lambda, Covariance::Scalar);
            let process = ReverseProcess::new(&schedule, 4, &config, Some(&gamma)).unwrap();
            assert_eq!(process.transitions.len(), steps);
            assert_eq!(process.transitions[0].from, 50);
            for pair in process.transitions.windows(2) {
                assert!(pair[0].to == pair[1].from && pair[1].to < pair[1].from);
                assert_ne!(pair[0].noise, StepNoise::None);
            }
            let last = &process.transitions[steps - 1];
            assert_eq!((last.to, &last.noise), (0, &StepNoise::None));
            assert!((last.clean - 1.0).abs() < 1e-6 && last.noisy.abs() < 1e-6);
        }
    }
}

#[test]
fn ddpm_posterior_variance_is_the_textbook_one_when_no_step_is_skipped() {
    let schedule = DiffusionSchedule::cosine(50).unwrap();
    let config = config(50, Lambda::Posterior, Covariance::None);
    let process = ReverseProcess::new(&schedule, 4, &config, None).unwrap();
    for transition in &process.transitions[..49] {
        let (n, a) = (transition.from, schedule.alpha_bar(transition.from));
        let (before, beta) = (schedule.alpha_bar(n - 1), 1.0 - a / schedule.alpha_bar(n - 1));
        let clean = before.sqrt() * beta / (1.0 - a);
        let noisy = (1.0 - beta).sqrt() * (1.0 - before) / (1.0 - a);
        let variance = beta * (1.0 - before) / (1.0 - a);
        assert!((f64::from(transition.clean) - clean).abs() < 1e-6);
        assert!((f64::from(transition.noisy) - noisy).abs() < 1e-6);
        assert!((sigma(&transition.noise, 0).powi(2) - variance).abs() < 1e-6);
    }
}

#[test]
fn temperature_scales_the_noise_and_nothing_else() {
    let schedule = DiffusionSchedule::cosine(50).unwrap();
    let gamma = Gaussian::uneven().exact_gamma(&schedule);
    let plan = |temperature| {
        let config = SamplerConfig { temperature, ..config(4, Lambda::Posterior, Covariance::PerFeature) };
        ReverseProcess::new(&schedule, 4, &config, Some(&gamma)).unwrap()
    };
    let (full, half, none) = (plan(1.0), plan(0.5), plan(0.0));
    for ((full, half), none) in full.transitions.iter().zip(&half.transitions).zip(&none.transitions) {
        assert_eq!((full.clean, full.noisy), (half.clean, half.noisy));
        for feature in 0..4 {
            assert!((sigma(&full.noise, feature) / 2.0 - sigma(&half.noise, feature)).abs() < 1e-7);
        }
        assert_eq!(none.noise, StepNoise::None);
    }
}

fn rejected(change: impl FnOnce(&mut SamplerConfig, &mut Option<GammaTable>)) -> KinematicError {
    let schedule = DiffusionSchedule::cosine(50).expect("50 steps are legal");
    let mut config = config(4, Lambda::Zero, Covariance::Scalar);
    let mut gamma = Some(Gaussian::even().exact_gamma(&schedule));
    change(&mut config, &mut gamma);
    ReverseProcess::new(&schedule, 4, &config, gamma.as_ref()).expect_err("the change is illegal")
}

#[test]
fn rejects_no_step_and_more_steps_than_were_trained() {
    for steps in [0, 51] {
        let error = rejected(|c, _| c.steps = steps);
        assert!(matches!(error, KinematicError::OutOfRange(refused) if refused.field == "steps"));
    }
}

#[test]
fn rejects_a_temperature_that_is_negative_or_not_a_number() {
    let field = "temperature";
    for bad in [-0.1, f64::NAN, f64::INFINITY] {
        let error = rejected(|c, _| c.temperature = bad);
        assert!(matches!(error, KinematicError::OutOfRange(refused) if refused.field == field));
    }
    assert!(matches!(rejected(|c, _| c.initial_temperature = -1.0), KinematicError::OutOfRange(_)));
}

#[test]
fn rejects_an_analytic_covariance_without_gamma() {
    assert!(matches!(rejected(|_, gamma| *gamma = None), KinematicError::MissingGamma { .. }));
}

#[test]
fn rejects_gamma_of_another_module() {
    let steps = rejected(|_, gamma| gamma.as_mut().unwrap().steps = 49);
    assert!(matches!(steps, KinematicError::SizeMismatch { expected: 50, found: 49, .. }));
    let values = rejected(|_, gamma| gamma.as_mut().unwrap().gamma.truncate(3));
    assert!(matches!(values, KinematicError::SizeMismatch { expected: 200, found: 3, .. }));
}

#[test]
fn rejects_gamma_that_is_not_finite_with_its_position() {
    let error = rejected(|_, gamma| gamma.as_mut().unwrap().gamma[4 * 7 + 2] = f64::NAN);
    assert!(matches!(error, KinematicError::NotFinite { row: 7, column: 2, .. }));
}

#[test]
fn rejects_an_estimate_that_missed_a_step() {
    let schedule = DiffusionSchedule::cosine(3).unwrap();
    let mut estimator = GammaEstimator::new(schedule, 1);
    estimator.push(1, &[0.0], &[0.0], &[0.0]);
    estimator.push(3, &[0.0], &[0.0], &[0.0]);
    let error = estimator.finish().unwrap_err();
    assert!(error.to_string().contains("step 2"), "{error}");
}
