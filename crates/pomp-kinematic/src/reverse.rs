use crate::error::KinematicError;
use crate::gamma::{GammaTable, mean};
use crate::schedule::DiffusionSchedule;
use pomp_config::Fields;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// λ_n², the variance of q(y_s | y_n, y_0) that the reverse process is built on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lambda {
    /// 0: DDIM (Song et al., ICLR 2021).
    Zero,
    /// The posterior variance of the noising chain: DDPM (Ho et al., NeurIPS 2020).
    Posterior,
}

/// What is assumed about cov(y_0 | y_n).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Covariance {
    /// Zero: ŷ_0 is taken as exact. With [`Lambda::Zero`] this is plain, deterministic DDIM.
    None,
    /// One number per step (Bao et al., "Analytic-DPM", ICLR 2022, theorem 1).
    Scalar,
    /// One number per step and feature (the diagonal form of Bao et al., ICML 2022).
    PerFeature,
}

/// How cov(y_0 | y_n) is estimated from a pass over the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CovarianceEstimate {
    /// ((1−ᾱ_n)/ᾱ_n)(1 − Γ_n), Γ_n = E ε̂²: Analytic-DPM as published. It is correct if the denoiser is, and
    /// noisy near n = N, where a tiny 1 − Γ_n is multiplied by a huge factor.
    NoiseEnergy,
    /// E (y_0 − ŷ_0)²: the same for an exact denoiser, optimal for an imperfect one (Bao et al., "Estimating
    /// the optimal covariance with imperfect mean", ICML 2022), and numerically stable at every n.
    PredictionError,
}

/// How a trained module is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamplerConfig {
    /// Number K of denoising steps, 1..=N; each costs one run of the decoder. 1 gives the conditional mean.
    pub steps: usize,
    /// λ², the variance of the noise added in every step except the last.
    pub lambda: Lambda,
    /// The covariance model.
    pub covariance: Covariance,
    /// How the covariance was estimated; without effect for [`Covariance::None`].
    pub estimate: CovarianceEstimate,
    /// Factor on the standard deviation of the noise added in every step except the last, which adds none. 1
    /// samples the model's distribution; 0 removes the variety that the steps add.
    pub temperature: f64,
    /// Factor on the standard deviation of the initial y_N. The decoder was trained for 1.
    pub initial_temperature: f64,
}

impl SamplerConfig {
    /// Analytic DDIM with the scalar covariance, as docs/method.md §3.4 gives it, in `steps` steps.
    pub fn analytic_ddim(steps: usize) -> Self {
        Self {
            steps,
            lambda: Lambda::Zero,
            covariance: Covariance::Scalar,
            estimate: CovarianceEstimate::NoiseEnergy,
            temperature: 1.0,
            initial_temperature: 1.0,
        }
    }

    /// Plain DDIM in `steps` steps: needs no Γ, deterministic after y_N.
    pub fn ddim(steps: usize) -> Self {
        Self { covariance: Covariance::None, ..Self::analytic_ddim(steps) }
    }
}

/// Standard deviation of the noise that a transition adds.
#[derive(Clone, Debug, PartialEq)]
pub enum StepNoise {
    /// None is drawn.
    None,
    /// The same for every feature.
    Scalar(f32),
    /// One per feature.
    PerFeature(Vec<f32>),
}

/// One denoising step: y_s = `clean` · ŷ_0(y_n) + `noisy` · y_n + noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The step n that y_n has.
    pub from: usize,
    /// The step s that is reached, 0 for the last transition.
    pub to: usize,
    /// Factor of ŷ_0.
    pub clean: f32,
    /// Factor of y_n.
    pub noisy: f32,
    /// σ_n; none in the last transition.
    pub noise: StepNoise,
}

/// The whole reverse process with every coefficient computed beforehand (docs/method.md §3.4, "Fast reverse
/// process").
#[derive(Clone, Debug, PartialEq)]
pub struct ReverseProcess {
    /// Standard deviation of the initial y_N.
    pub initial: f32,
    /// The transitions in the order in which they are taken, from n = N down to 0.
    pub transitions: Vec<Transition>,
}

impl ReverseProcess {
    /// Plans K transitions over τ = {⌈i N / K⌉}.
    ///
    /// `gamma` may be absent when the covariance is [`Covariance::None`].
    ///
    /// # Errors
    /// [`KinematicError::OutOfRange`] for a number of steps outside 1..=N or a bad temperature,
    /// [`KinematicError::MissingGamma`], or what [`GammaTable::validate`] finds.
    pub fn new(
        schedule: &DiffusionSchedule,
        features: usize,
        config: &SamplerConfig,
        gamma: Option<&GammaTable>,
    ) -> Result<Self, KinematicError> {
        let steps = config.steps;
        let fields = Fields::root();
        fields.within("steps", steps, 1..=schedule.steps())?;
        for (field, value) in
            [("temperature", config.temperature), ("initial_temperature", config.initial_temperature)]
        {
            fields.within(field, value, 0.0..)?;
        }
        if let Some(gamma) = gamma {
            gamma.validate(schedule, features)?;
        }
        let tau = |i: usize| (i * schedule.steps()).div_ceil(steps);
        let mut transitions = Vec::with_capacity(steps);
        for i in (1..=steps).rev() {
            transitions.push(transition(schedule, config, gamma, tau(i), tau(i - 1))?);
        }
        Ok(Self { initial: config.initial_temperature as f32, transitions })
    }
}

fn transition(
    schedule: &DiffusionSchedule,
    config: &SamplerConfig,
    gamma: Option<&GammaTable>,
    n: usize,
    s: usize,
) -> Result<Transition, KinematicError> {
    let (a_n, a_s) = (schedule.alpha_bar(n), schedule.alpha_bar(s));
    let lambda_squared = match config.lambda {
        Lambda::Zero => 0.0,
        Lambda::Posterior => (1.0 - a_s) / (1.0 - a_n) * (1.0 - a_n / a_s),
    };
    // The factor of ε̂; rounding may take the difference a hair below zero in the last transition.
    let noise_share = (1.0 - a_s - lambda_squared).max(0.0).sqrt();
    let noisy = noise_share / (1.0 - a_n).sqrt();
    let clean = a_s.sqrt() - noisy * a_n.sqrt();
    let sigma =
        |covariance: f64| (config.temperature * (lambda_squared + clean * clean * covariance).sqrt()) as f32;
    let noise = if s == 0 {
        StepNoise::None
    } else {
        match (config.covariance, gamma) {
            (Covariance::None, _) => StepNoise::Scalar(sigma(0.0)),
            (covariance, None) => {
                let covariance = format!("{covariance:?}");
                return Err(KinematicError::MissingGamma { covariance });
            }
            (Covariance::Scalar, Some(gamma)) => {
                let bound = mean(&gamma.data_variance);
                let raw = match config.estimate {
                    CovarianceEstimate::NoiseEnergy => from_energy(a_n, gamma.scalar_gamma(n)),
                    CovarianceEstimate::PredictionError => gamma.scalar_clean_error(n),
                };
                StepNoise::Scalar(sigma(raw.clamp(0.0, bound)))
            }
            (Covariance::PerFeature, Some(gamma)) => {
                let bounds = gamma.data_variance.iter();
                let sigmas = match config.estimate {
                    CovarianceEstimate::NoiseEnergy => (gamma.feature_gamma(n).iter().zip(bounds))
                        .map(|(&energy, &bound)| sigma(from_energy(a_n, energy).clamp(0.0, bound)))
                        .collect(),
                    CovarianceEstimate::PredictionError => (gamma.feature_clean_error(n).iter().zip(bounds))
                        .map(|(&error, &bound)| sigma(error.clamp(0.0, bound)))
                        .collect(),
                };
                StepNoise::PerFeature(sigmas)
            }
        }
    };
    let noise = if is_silent(&noise) { StepNoise::None } else { noise };
    Ok(Transition { from: n, to: s, clean: clean as f32, noisy: noisy as f32, noise })
}

/// cov(y_0 | y_n) of an exact denoiser whose ε̂ has the mean square `gamma`.
fn from_energy(alpha_bar: f64, gamma: f64) -> f64 {
    (1.0 - alpha_bar) / alpha_bar * (1.0 - gamma)
}

fn is_silent(noise: &StepNoise) -> bool {
    match noise {
        StepNoise::None => true,
        StepNoise::Scalar(sigma) => *sigma == 0.0,
        StepNoise::PerFeature(sigmas) => sigmas.iter().all(|sigma| *sigma == 0.0),
    }
}
