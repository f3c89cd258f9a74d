use burn::tensor::{Tensor, activation};
use pomp_lanes::{Wide, exponential, hyperbolic_tangent};

use crate::{Nonlinearity, Tangent};

/// Exponential linear unit: x above 0, eˣ − 1 below.
#[derive(Clone, Copy, Debug)]
pub struct Elu;

impl Nonlinearity for Elu {
    #[inline(always)]
    fn value<W: Wide>(x: f32) -> f32 {
        let below = exponential::<W>(x.min(0.0)) - 1.0;
        // A NaN is not below 0 either, and stays.
        if x < 0.0 { below } else { x }
    }

    #[inline(always)]
    fn tangent<W: Wide>(x: f32) -> Tangent {
        let power = exponential::<W>(x.min(0.0));
        Tangent { value: if x > 0.0 { x } else { power - 1.0 }, slope: power }
    }

    fn by_operations<const D: usize>(input: Tensor<D>) -> Tensor<D> {
        activation::elu(input, 1.0)
    }
}

/// Sigmoid linear unit: x / (1 + e⁻ˣ).
#[derive(Clone, Copy, Debug)]
pub struct Silu;

impl Nonlinearity for Silu {
    #[inline(always)]
    fn value<W: Wide>(x: f32) -> f32 {
        x / (1.0 + exponential::<W>(-x))
    }

    #[inline(always)]
    fn tangent<W: Wide>(x: f32) -> Tangent {
        let power = exponential::<W>(-x);
        let share = 1.0 / (1.0 + power);
        let value = x / (1.0 + power);
        // 1 − σ(x) = e⁻ˣ σ(x), without the digits that the difference would lose.
        Tangent { value, slope: share + value * (power * share) }
    }

    fn by_operations<const D: usize>(input: Tensor<D>) -> Tensor<D> {
        activation::silu(input)
    }
}

/// Hyperbolic tangent; see [`hyperbolic_tangent`] for how exact it is.
#[derive(Clone, Copy, Debug)]
pub struct Tanh;

impl Nonlinearity for Tanh {
    #[inline(always)]
    fn value<W: Wide>(x: f32) -> f32 {
        hyperbolic_tangent::<W>(x)
    }

    #[inline(always)]
    fn tangent<W: Wide>(x: f32) -> Tangent {
        let value = hyperbolic_tangent::<W>(x);
        Tangent { value, slope: 1.0 - value * value }
    }

    fn by_operations<const D: usize>(input: Tensor<D>) -> Tensor<D> {
        input.tanh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AT_ONCE, nonlinear};
    use burn::tensor::{Device, TensorData};

    fn tensor(values: &[f32], device: &Device) -> Tensor<2> {
        Tensor::from_data(TensorData::new(values.to_vec(), [1, values.len()]), device)
    }

    fn host(tensor: Tensor<2>) -> Vec<f32> {
        tensor.into_data().try_into_vec().unwrap()
    }

    fn check<F: Nonlinearity>(name: &str) {
        let count = 3 * AT_ONCE + 37;
        let x: Vec<f32> = (0..count).map(|at| (at as f32 - 25_000.0) * 0.0015).collect();
        let weight: Vec<f32> = (0..count).map(|at| (at as f32 * 0.37).sin()).collect();
        let device = Device::flex();
        let run = |forward: &dyn Fn(Tensor<2>) -> Tensor<2>| {
            let input = tensor(&x, &device.clone().autodiff()).require_grad();
            let value = forward(input.clone());
            let gradients = (value.clone() * tensor(&weight, &device)).sum().backward();
            [host(value.inner()), host(input.grad(&gradients).unwrap())]
        };
        let found = run(&nonlinear::<F, 2>);
        let expected = run(&F::by_operations::<2>);
        let without = host(nonlinear::<F, 2>(tensor(&x, &device)));
        let mut worst = [0.0_f32; 3];
        for at in 0..count {
            // Ours rounds f'(x) x, which is 30 times f(x) at the lower end; theirs 1 − σ(x), which x then multiplies.
            let scale = 1.0 + x[at].abs();
            worst[0] = worst[0].max((found[0][at] - expected[0][at]).abs() / scale);
            worst[1] = worst[1].max((found[1][at] - expected[1][at]).abs() / scale);
            worst[2] = worst[2].max((without[at] - expected[0][at]).abs() / scale);
        }
        println!("{name}: value, gradient and value without gradient differ by {worst:?}");
        assert!(worst.iter().all(|difference| *difference < 1e-6), "{name}: {worst:?}");
        assert!(found[1].iter().any(|gradient| gradient.abs() > 0.5));
        for device in [Device::flex(), Device::flex().autodiff()] {
            let found = host(nonlinear::<F, 2>(tensor(&[f32::NAN, 1.0], &device)).inner());
            assert!(found[0].is_nan() && found[1].is_finite(), "{name} of a NaN stays one: {found:?}");
        }
    }

    #[test]
    fn value_and_gradient_are_those_of_the_tensor_operations_and_a_nan_stays_one() {
        check::<Elu>("elu");
        check::<Silu>("silu");
        check::<Tanh>("tanh");
    }
}
