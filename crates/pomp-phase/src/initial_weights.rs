use burn::module::Param;
use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Draws initial weights from its own stream, so that other threads' random numbers cannot change them.
pub(crate) struct InitialWeights {
    rng: ChaCha8Rng,
    device: Device,
}

impl InitialWeights {
    pub(crate) fn new(seed: u64, device: &Device) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), device: device.clone() }
    }

    /// Uniform in ±1/√fan_in, which keeps the variance of a layer's output near a third of its input's.
    pub(crate) fn uniform<const D: usize>(&mut self, shape: [usize; D], fan_in: usize) -> Param<Tensor<D>> {
        let bound = (fan_in as f32).sqrt().recip();
        let count = shape.iter().product();
        let values: Vec<f32> =
            std::iter::repeat_with(|| bound * (2.0 * self.rng.random::<f32>() - 1.0)).take(count).collect();
        Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), &self.device))
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }
}
