use burn::tensor::{DType, Device, Tensor, TensorData, activation};
use pomp_lanes::{LaneLoop, Lanes, Wide, exponential};
use rayon::prelude::*;

use crate::config::Activation;

/// Values that one thread takes at a time: they and their slopes stay in its cache.
const AT_ONCE: usize = 1 << 14;

impl Activation {
    /// The nonlinearity, element by element.
    ///
    /// On the processor value and slope come from one pass over the input, in lanes and in all threads; burn's operations
    /// take turns with one thread, and with the library's exponential, forwards and again backwards.
    pub(crate) fn forward<const D: usize>(self, input: Tensor<D>) -> Tensor<D> {
        let device = input.device().inner();
        if device != Device::flex() || input.dtype() != DType::F32 {
            return self.by_operations(input);
        }
        let lanes = Lanes::detect();
        if !input.is_autodiff() {
            let mut values = input.into_data();
            values_of(&mut values).par_chunks_mut(AT_ONCE).for_each(|values| self.apply(lanes, values));
            return Tensor::from_data(values, &device);
        }
        let mut offsets = input.clone().inner().into_data();
        let inputs = values_of(&mut offsets);
        let mut slopes = vec![0.0; inputs.len()];
        let parts = inputs.par_chunks_mut(AT_ONCE).zip(slopes.par_chunks_mut(AT_ONCE));
        parts.for_each(|(values, slopes)| lanes.run(Tangents { activation: self, values, slopes }));
        let slopes = TensorData::new(slopes, offsets.shape().clone());
        // f(x) = f'(x) x + (f(x) − f'(x) x), of which only the x in the middle is taken for a variable: its gradient is f'(x).
        input * Tensor::from_data(slopes, &device) + Tensor::from_data(offsets, &device)
    }

    /// The same made of tensor operations.
    fn by_operations<const D: usize>(self, input: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Elu => activation::elu(input, 1.0),
            Self::Silu => activation::silu(input),
        }
    }

    /// The nonlinearity in place.
    pub(crate) fn apply(self, lanes: Lanes, values: &mut [f32]) {
        lanes.run(Values { activation: self, values });
    }

    /// What an initial weight is multiplied by so that a unit-variance input stays near unit variance.
    pub(crate) fn gain(self) -> f64 {
        match self {
            Self::Elu => 1.25,
            Self::Silu => 1.68,
        }
    }
}

fn values_of(data: &mut TensorData) -> &mut [f32] {
    data.as_mut_slice().expect("the tensor is f32")
}

struct Values<'a> {
    activation: Activation,
    values: &'a mut [f32],
}

impl LaneLoop for Values<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        match self.activation {
            Activation::Elu => {
                for value in self.values {
                    let below = exponential::<W>(value.min(0.0)) - 1.0;
                    // A NaN is not below 0 either, and stays.
                    *value = if *value < 0.0 { below } else { *value };
                }
            }
            Activation::Silu => {
                for value in self.values {
                    *value /= 1.0 + exponential::<W>(-*value);
                }
            }
        }
    }
}

/// Tangents of the nonlinearity: x becomes f(x) − f'(x) x, and f'(x) is written beside it.
struct Tangents<'a> {
    activation: Activation,
    values: &'a mut [f32],
    slopes: &'a mut [f32],
}

impl LaneLoop for Tangents<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        let cells = self.values.iter_mut().zip(self.slopes);
        match self.activation {
            Activation::Elu => {
                for (x, slope) in cells {
                    let power = exponential::<W>(x.min(0.0));
                    let value = if *x > 0.0 { *x } else { power - 1.0 };
                    *slope = power;
                    *x = value - power * *x;
                }
            }
            Activation::Silu => {
                for (x, slope) in cells {
                    let power = exponential::<W>(-*x);
                    let share = 1.0 / (1.0 + power);
                    let value = *x / (1.0 + power);
                    // 1 − σ(x) = e⁻ˣ σ(x), without the digits that the difference would lose.
                    *slope = share + value * (power * share);
                    *x = value - *slope * *x;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_and_gradient_are_those_of_the_tensor_operations() {
        let count = 3 * AT_ONCE + 37;
        let x: Vec<f32> = (0..count).map(|at| (at as f32 - 25_000.0) * 0.0015).collect();
        let weight: Vec<f32> = (0..count).map(|at| (at as f32 * 0.37).sin()).collect();
        let device = Device::flex();
        let tensor = |values: &[f32], device: &Device| {
            Tensor::<2>::from_data(TensorData::new(values.to_vec(), [1, values.len()]), device)
        };
        let host = |tensor: Tensor<2>| tensor.into_data().try_into_vec::<f32>().unwrap();
        for activation in [Activation::Elu, Activation::Silu] {
            let run = |forward: &dyn Fn(Tensor<2>) -> Tensor<2>| {
                let input = tensor(&x, &device.clone().autodiff()).require_grad();
                let value = forward(input.clone());
                let gradients = (value.clone() * tensor(&weight, &device)).sum().backward();
                [host(value.inner()), host(input.grad(&gradients).unwrap())]
            };
            let found = run(&|input| activation.forward(input));
            let expected = run(&|input| activation.by_operations(input));
            let without = host(activation.forward(tensor(&x, &device)));
            let mut worst = [0.0_f32; 3];
            for at in 0..count {
                // Ours rounds f'(x) x, which is 30 times f(x) at the lower end; theirs 1 − σ(x), which x then multiplies.
                let scale = 1.0 + x[at].abs();
                worst[0] = worst[0].max((found[0][at] - expected[0][at]).abs() / scale);
                worst[1] = worst[1].max((found[1][at] - expected[1][at]).abs() / scale);
                worst[2] = worst[2].max((without[at] - expected[0][at]).abs() / scale);
            }
            println!("{activation:?}: value, gradient and value without gradient differ by {worst:?}");
            assert!(worst.iter().all(|difference| *difference < 1e-6), "{worst:?}");
            assert!(found[1].iter().any(|gradient| gradient.abs() > 0.5));
        }
    }

    #[test]
    fn a_nan_stays_one() {
        for activation in [Activation::Elu, Activation::Silu] {
            for device in [Device::flex(), Device::flex().autodiff()] {
                let found = activation.forward(Tensor::<1>::from_data([f32::NAN, 1.0], &device));
                let found: Vec<f32> = found.inner().into_data().iter::<f32>().collect();
                assert!(found[0].is_nan() && found[1].is_finite(), "{found:?}");
            }
        }
    }
}
