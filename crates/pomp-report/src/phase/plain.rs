//! A plain autoencoder: as many weights and as many numbers in its code as the periodic one, and nothing periodic.

use crate::ReportError;
use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_phase::VelocityWindow;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BATCH: usize = 64;
const LEARNING_RATE: f64 = 1e-3;

/// Window → hidden → code → hidden → window, tanh after the hidden layers.
#[derive(Module, Debug)]
pub struct PlainAutoencoder {
    widen: Linear,
    code: Linear,
    unfold: Linear,
    output: Linear,
}

impl PlainAutoencoder {
    /// As many hidden units as `weights` allow.
    fn new(values: usize, code: usize, weights: usize, rng: &mut ChaCha8Rng, device: &Device) -> Self {
        let hidden = (weights / (2 * (values + code))).max(1);
        let mut layer = |inputs: usize, outputs: usize, gain: f32| {
            let bound = gain * (3.0 / inputs as f32).sqrt();
            let draws: Vec<f32> = (0..inputs * outputs).map(|_| rng.random_range(-bound..=bound)).collect();
            Linear {
                weight: Param::from_data(TensorData::new(draws, [inputs, outputs]), device),
                bias: Some(Param::from_data(TensorData::new(vec![0.0f32; outputs], [outputs]), device)),
            }
        };
        Self {
            widen: layer(values, hidden, 1.0),
            code: layer(hidden, code, 1.0),
            unfold: layer(code, hidden, 1.0),
            // Starting near the mean: most of a short training would otherwise go into unlearning noise.
            output: layer(hidden, values, 0.05),
        }
    }

    /// Reconstruction of windows `[N, values]`.
    pub fn forward(&self, windows: Tensor<2>) -> Tensor<2> {
        let code = self.code.forward(self.widen.forward(windows).tanh());
        self.output.forward(self.unfold.forward(code).tanh())
    }

    /// Trains one for `steps` steps of 64 windows, the rate falling along a cosine.
    pub fn train(
        windows: &[VelocityWindow],
        code: usize,
        weights: usize,
        steps: usize,
        seed: u64,
    ) -> Result<Self, ReportError> {
        let device = Device::flex().autodiff();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let values = windows[0].values().len();
        let mut model = Self::new(values, code, weights, &mut rng, &device);
        let mut optimizer = AdamWConfig::new().init();
        for step in 0..steps {
            let draws: Vec<&VelocityWindow> =
                (0..BATCH).map(|_| &windows[rng.random_range(0..windows.len())]).collect();
            let batch = rows(&draws, &device);
            let difference = model.forward(batch.clone()) - batch;
            let gradients = (difference.clone() * difference).mean().backward();
            let gradients = GradientsParams::from_grads(gradients, &model);
            let done = step as f64 / steps as f64;
            let rate = LEARNING_RATE * 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
            model = optimizer.step(rate, model, gradients);
        }
        Ok(model.valid())
    }
}

/// Windows as rows `[N, 3J·T]`.
pub fn rows(windows: &[&VelocityWindow], device: &Device) -> Tensor<2> {
    let values: Vec<f32> = windows.iter().flat_map(|window| window.values()).copied().collect();
    let columns = values.len() / windows.len();
    Tensor::from_data(TensorData::new(values, [windows.len(), columns]), device)
}
