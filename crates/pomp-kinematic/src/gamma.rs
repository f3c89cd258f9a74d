use burn::tensor::Tensor;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::{KinematicError, check_size};
use crate::model::{KinematicModel, Noised};
use crate::schedule::DiffusionSchedule;

/// What one pass over the data knows about the decoder's uncertainty, per step n and feature.
///
/// Holds both estimates of cov(y_0 | y_n) that [`CovarianceEstimate`](crate::CovarianceEstimate) chooses
/// from, and the variance of the data that bounds them. Stored with the weights; it belongs to exactly these
/// weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GammaTable {
    /// Number of diffusion steps N.
    pub steps: usize,
    /// Number of features of y.
    pub features: usize,
    /// Γ_n per feature, E ε̂²: row n − 1, column feature.
    pub gamma: Vec<f64>,
    /// E (y_0 − ŷ_0)² at step n per feature: row n − 1, column feature.
    pub clean_error: Vec<f64>,
    /// Variance of y_0 per feature.
    pub data_variance: Vec<f64>,
}

impl GammaTable {
    /// Checks the sizes against N and the features of y, and that every value is finite and not negative.
    ///
    /// # Errors
    /// [`KinematicError::SizeMismatch`], [`KinematicError::NotFinite`] (a negative value counts as one).
    pub fn validate(&self, schedule: &DiffusionSchedule, features: usize) -> Result<(), KinematicError> {
        check_size("the diffusion steps of Γ", schedule.steps(), self.steps)?;
        check_size("the features of Γ", features, self.features)?;
        let parts = [
            ("gamma", &self.gamma, self.steps * features),
            ("clean_error", &self.clean_error, self.steps * features),
            ("data_variance", &self.data_variance, features),
        ];
        for (what, values, expected) in parts {
            check_size(what, expected, values.len())?;
            if let Some(index) = values.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
                let (row, column) = (index / features, index % features);
                return Err(KinematicError::NotFinite { what: what.to_owned(), row, column });
            }
        }
        Ok(())
    }

    /// Γ_n = E‖ε̂‖² / d, the scalar of docs/method.md §3.4.
    ///
    /// # Panics
    /// When `n` lies outside 1..=N.
    pub fn scalar_gamma(&self, n: usize) -> f64 {
        mean(self.row(&self.gamma, n))
    }

    /// E‖y_0 − ŷ_0‖² / d at step n.
    ///
    /// # Panics
    /// When `n` lies outside 1..=N.
    pub fn scalar_clean_error(&self, n: usize) -> f64 {
        mean(self.row(&self.clean_error, n))
    }

    /// Γ_n of every feature.
    ///
    /// # Panics
    /// When `n` lies outside 1..=N.
    pub fn feature_gamma(&self, n: usize) -> &[f64] {
        self.row(&self.gamma, n)
    }

    /// E (y_0 − ŷ_0)² at step n of every feature.
    ///
    /// # Panics
    /// When `n` lies outside 1..=N.
    pub fn feature_clean_error(&self, n: usize) -> &[f64] {
        self.row(&self.clean_error, n)
    }

    fn row<'a>(&self, values: &'a [f64], n: usize) -> &'a [f64] {
        assert!((1..=self.steps).contains(&n), "step {n} lies outside 1..={}", self.steps);
        &values[(n - 1) * self.features..n * self.features]
    }
}

/// The mean of a row; 0 for none.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Running sums of Γ; also usable without a network, from (y_0, y_n, ŷ_0) triples.
#[derive(Clone, Debug)]
pub struct GammaEstimator {
    schedule: DiffusionSchedule,
    features: usize,
    gamma: Vec<f64>,
    clean_error: Vec<f64>,
    counts: Vec<u64>,
    sum: Vec<f64>,
    square: Vec<f64>,
    rows: u64,
}

impl GammaEstimator {
    /// An estimator without data.
    pub fn new(schedule: DiffusionSchedule, features: usize) -> Self {
        let cells = schedule.steps() * features;
        Self {
            counts: vec![0; schedule.steps()],
            gamma: vec![0.0; cells],
            clean_error: vec![0.0; cells],
            sum: vec![0.0; features],
            square: vec![0.0; features],
            rows: 0,
            schedule,
            features,
        }
    }

    /// Adds one denoised sample of step n.
    ///
    /// # Panics
    /// When `n` lies outside 1..=N or a slice does not have one value per feature.
    pub fn push(&mut self, n: usize, data: &[f32], noisy: &[f32], clean: &[f32]) {
        let features = self.features;
        assert_eq!([data.len(), noisy.len(), clean.len()], [features; 3], "one value per feature");
        let (signal, noise) = (self.schedule.signal(n), self.schedule.noise(n));
        self.counts[n - 1] += 1;
        self.rows += 1;
        let row = (n - 1) * features;
        for column in 0..features {
            let (y, y_n) = (f64::from(data[column]), f64::from(noisy[column]));
            let y_hat = f64::from(clean[column]);
            self.gamma[row + column] += ((y_n - signal * y_hat) / noise).powi(2);
            self.clean_error[row + column] += (y - y_hat).powi(2);
            self.sum[column] += y;
            self.square[column] += y * y;
        }
    }

    /// The table.
    ///
    /// # Errors
    /// [`KinematicError::TooFewSamples`] when a step has not been seen, [`KinematicError::NotFinite`] when the
    /// decoder or the data gave a value that is not finite.
    pub fn finish(self) -> Result<GammaTable, KinematicError> {
        if let Some(step) = self.counts.iter().position(|&count| count == 0) {
            return Err(KinematicError::TooFewSamples { rows: self.rows, step: step + 1 });
        }
        let averaged = |sums: &[f64]| -> Vec<f64> {
            let rows = sums.chunks_exact(self.features).zip(&self.counts);
            rows.flat_map(|(row, &count)| row.iter().map(move |sum| sum / count as f64)).collect()
        };
        let rows = self.rows as f64;
        let moments = self.sum.iter().zip(&self.square);
        let table = GammaTable {
            steps: self.schedule.steps(),
            features: self.features,
            gamma: averaged(&self.gamma),
            clean_error: averaged(&self.clean_error),
            data_variance: moments
                .map(|(sum, square)| (square / rows - (sum / rows).powi(2)).max(0.0))
                .collect(),
        };
        table.validate(&self.schedule, self.features)?;
        Ok(table)
    }
}

/// Estimates Γ in one pass over `batches` of (x, `[B, X]`; y, `[B, Y]`).
///
/// Each sample is noised to `draws` steps that are spread evenly, so all N steps are seen equally often; take
/// `draws` = N for a small set. Give batches without gradients (`model.valid()`).
///
/// # Errors
/// As [`GammaEstimator::finish`].
///
/// # Panics
/// When a batch does not have the configured columns.
pub fn estimate_gamma(
    model: &KinematicModel,
    batches: impl IntoIterator<Item = (Tensor<2>, Tensor<2>)>,
    draws: usize,
    rng: &mut ChaCha8Rng,
) -> Result<GammaTable, KinematicError> {
    let steps = model.schedule().steps();
    let features = model.config().output_size;
    let mut estimator = GammaEstimator::new(model.schedule().clone(), features);
    let mut turn = 0;
    for (x, y) in batches {
        let context = model.encode(&x, None);
        let batch = y.dims()[0];
        let data = host(&y);
        for draw in 0..draws {
            let spread = (0..batch).map(|row| (turn + row + draw * steps / draws.max(1)) % steps + 1);
            let Noised { noisy, steps } = model.add_noise(&y, spread.collect(), rng);
            let clean = host(&model.predict_clean(&context, noisy.clone(), &steps));
            let noisy = host(&noisy);
            for (row, &n) in steps.iter().enumerate() {
                let cells = row * features..(row + 1) * features;
                estimator.push(n, &data[cells.clone()], &noisy[cells.clone()], &clean[cells]);
            }
        }
        turn += batch;
    }
    estimator.finish()
}

/// The values of a tensor on the host, row-major.
pub(crate) fn host(tensor: &Tensor<2>) -> Vec<f32> {
    tensor.to_data().iter::<f32>().collect()
}
