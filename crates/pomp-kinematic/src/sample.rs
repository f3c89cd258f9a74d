use burn::tensor::{Tensor, TensorData};
use rand_chacha::ChaCha8Rng;

use crate::model::KinematicModel;
use crate::reverse::{ReverseProcess, StepNoise};
use crate::seeded;

/// Runs a reverse process for `rows` samples of `features` with any denoiser (y_n, n) → ŷ_0.
///
/// The draws come from `rng`: first all of y_N, row by row, then the noise of each transition that has any.
/// The same seed gives the same bytes.
///
/// # Panics
/// When a per-feature noise does not have `features` values.
pub fn run_reverse(
    process: &ReverseProcess,
    [rows, features]: [usize; 2],
    device: &burn::tensor::Device,
    rng: &mut ChaCha8Rng,
    mut denoise: impl FnMut(Tensor<2>, usize) -> Tensor<2>,
) -> Tensor<2> {
    let mut y = seeded::normal(rows, features, device, rng).mul_scalar(process.initial);
    for transition in &process.transitions {
        let clean = denoise(y.clone(), transition.from);
        y = clean.mul_scalar(transition.clean) + y.mul_scalar(transition.noisy);
        match &transition.noise {
            StepNoise::None => {}
            StepNoise::Scalar(sigma) => {
                y = y + seeded::normal(rows, features, device, rng).mul_scalar(*sigma);
            }
            StepNoise::PerFeature(sigmas) => {
                let sigmas = TensorData::new(sigmas.clone(), [1, features]);
                let sigmas = Tensor::<2>::from_data(sigmas, device);
                y = y + seeded::normal(rows, features, device, rng) * sigmas;
            }
        }
    }
    y
}

impl KinematicModel {
    /// One sample of y, `[B, Y]`, for every row of x, `[B, X]`.
    ///
    /// For training loops and evaluation; the closed loop uses
    /// [`KinematicInference`](crate::KinematicInference), which agrees with this to rounding.
    ///
    /// # Panics
    /// When x does not have `input_size` columns, or the process was planned for another module.
    pub fn sample(&self, x: &Tensor<2>, process: &ReverseProcess, rng: &mut ChaCha8Rng) -> Tensor<2> {
        let context = self.encode(x, None);
        let rows = x.dims()[0];
        let shape = [rows, self.config().output_size];
        run_reverse(process, shape, &x.device(), rng, |y, n| self.predict_clean(&context, y, &vec![n; rows]))
    }
}
