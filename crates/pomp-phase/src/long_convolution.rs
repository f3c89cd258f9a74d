use crate::initial_weights::InitialWeights;
use crate::spectral_tables::{ConvolutionTables, Parts, Table};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_tensors::product;
use std::ops::Range;

/// A convolution over time with zero padding whose kernel is about as long as the signal.
///
/// Equal to a `conv1d` of stride 1 with "same" padding, computed as products per frequency: for 121 frames and
/// 121 taps that takes an eighth of the arithmetic. Signals are `[channels, T, N]` (windows last). The transforms are
/// products with one matrix per channel, those of the kernel with one per frequency; both are views of the same arrays,
/// so that forwards and backwards nothing is copied into another order.
#[derive(Module, Debug)]
pub(crate) struct LongConvolution {
    /// `[out, in, taps]`, the layout of `conv1d`.
    weight: Param<Tensor<3>>,
    /// `[out]`.
    bias: Param<Tensor<1>>,
    signal_real: Tensor<2>,
    signal_imaginary: Tensor<2>,
    kernel_real: Tensor<2>,
    kernel_imaginary: Tensor<2>,
    synthesis_real: Tensor<2>,
    synthesis_imaginary: Tensor<2>,
}

/// A kernel per frequency: what [`LongConvolution::apply`] multiplies by, worth keeping when weights do not change.
#[derive(Clone, Debug)]
pub(crate) struct KernelSpectrum {
    /// `[F, out, in]`.
    real: Tensor<3>,
    /// `[F, out, in]`.
    imaginary: Tensor<3>,
    /// `[out, 1, 1]`.
    bias: Tensor<3>,
}

impl LongConvolution {
    pub(crate) fn new(
        frames: usize,
        taps: usize,
        inputs: usize,
        outputs: usize,
        weights: &mut InitialWeights,
    ) -> Self {
        let ConvolutionTables { signal, kernel, synthesis } = ConvolutionTables::new(frames, taps);
        let fan_in = inputs * taps;
        let (weight, bias) =
            (weights.uniform([outputs, inputs, taps], fan_in), weights.uniform([outputs], fan_in));
        let device = weights.device();
        let [signal, kernel, synthesis] = [signal, kernel, synthesis].map(|table| Parts {
            real: constant(&table.real, device),
            imaginary: constant(&table.imaginary, device),
        });
        Self {
            weight,
            bias,
            signal_real: signal.real,
            signal_imaginary: signal.imaginary,
            kernel_real: kernel.real,
            kernel_imaginary: kernel.imaginary,
            synthesis_real: synthesis.real,
            synthesis_imaginary: synthesis.imaginary,
        }
    }

    /// Weights `[out, in, taps]` and bias `[out]`.
    pub(crate) fn weights(&self) -> (Tensor<3>, Tensor<1>) {
        (self.weight.val(), self.bias.val())
    }

    /// The kernel's spectrum, differentiable in the weights.
    pub(crate) fn kernel_spectrum(&self) -> KernelSpectrum {
        let [outputs, inputs, taps] = self.weight.dims();
        let weight = self.weight.val().reshape([outputs * inputs, taps]).transpose();
        let spectrum = |table: &Tensor<2>| {
            let [frequencies, _] = table.dims();
            product(table.clone().unsqueeze(), weight.clone().unsqueeze()).reshape([
                frequencies,
                outputs,
                inputs,
            ])
        };
        KernelSpectrum {
            real: spectrum(&self.kernel_real),
            imaginary: spectrum(&self.kernel_imaginary),
            bias: self.bias.val().reshape([outputs, 1, 1]),
        }
    }

    /// `[in, T, N]` → `[out, T, N]` with a kernel prepared by [`Self::kernel_spectrum`].
    pub(crate) fn apply(&self, input: Tensor<3>, kernel: &KernelSpectrum) -> Tensor<3> {
        let [real, imaginary] = [&self.synthesis_real, &self.synthesis_imaginary].map(Tensor::clone);
        self.apply_rows(input, kernel, &Parts { real, imaginary })
    }

    /// Rows of the synthesis for [`Self::apply_rows`]: the frames of `kept`, then the mean over the frames of `averaged`.
    pub(crate) fn synthesis_rows(&self, kept: Range<usize>, averaged: Range<usize>) -> Parts<Tensor<2>> {
        let rows = |table: &Tensor<2>| {
            let rows = |range: Range<usize>| table.clone().narrow(0, range.start, range.len());
            Tensor::cat(vec![rows(kept.clone()), rows(averaged.clone()).mean_dim(0)], 0)
        };
        Parts { real: rows(&self.synthesis_real), imaginary: rows(&self.synthesis_imaginary) }
    }

    /// As [`Self::apply`], for some output frames, or means of them, alone: `synthesis` has a row for each.
    pub(crate) fn apply_rows(
        &self,
        input: Tensor<3>,
        kernel: &KernelSpectrum,
        synthesis: &Parts<Tensor<2>>,
    ) -> Tensor<3> {
        let Parts { real, imaginary } = self.filtered(input, kernel);
        let signal = |spectrum: Tensor<3>, table: &Tensor<2>| {
            product(table.clone().unsqueeze(), spectrum.swap_dims(0, 1))
        };
        signal(real, &synthesis.real) + signal(imaginary, &synthesis.imaginary) + kernel.bias.clone()
    }

    /// Spectrum `[F, out, N]` of the output without its bias.
    fn filtered(&self, input: Tensor<3>, kernel: &KernelSpectrum) -> Parts<Tensor<3>> {
        let spectrum =
            |table: &Tensor<2>, input: Tensor<3>| product(table.clone().unsqueeze(), input).swap_dims(0, 1);
        let real = spectrum(&self.signal_real, input.clone());
        let imaginary = spectrum(&self.signal_imaginary, input);
        let times = |kernel: &Tensor<3>, signal: &Tensor<3>| product(kernel.clone(), signal.clone());
        Parts {
            real: times(&kernel.real, &real) - times(&kernel.imaginary, &imaginary),
            imaginary: times(&kernel.imaginary, &real) + times(&kernel.real, &imaginary),
        }
    }
}

pub(crate) fn constant(table: &Table, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(table.values.clone(), [table.rows, table.columns]), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::module::conv1d;
    use burn::tensor::ops::ConvOptions;
    use std::time::Instant;

    fn noise(seed: u64, shape: [usize; 3], device: &Device) -> Tensor<3> {
        InitialWeights::new(seed, device).uniform(shape, 1).val().detach()
    }

    fn direct(layer: &LongConvolution, input: Tensor<3>) -> Tensor<3> {
        let [_, _, taps] = layer.weight.dims();
        let options = ConvOptions::new([1], [taps / 2], [1], 1);
        conv1d(input, layer.weight.val(), Some(layer.bias.val()), options)
    }

    fn fourier(layer: &LongConvolution, input: Tensor<3>) -> Tensor<3> {
        layer.apply(input.permute([1, 2, 0]), &layer.kernel_spectrum()).permute([2, 0, 1])
    }

    fn largest_difference<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> f32 {
        (a - b).abs().max().into_scalar()
    }

    #[test]
    fn the_products_per_frequency_equal_the_direct_convolution_and_so_do_the_gradients() {
        let device = Device::flex().autodiff();
        for (frames, taps, inputs, outputs) in
            [(121, 121, 6, 4), (121, 61, 3, 5), (64, 31, 2, 3), (40, 41, 2, 2)]
        {
            let layer =
                LongConvolution::new(frames, taps, inputs, outputs, &mut InitialWeights::new(1, &device));
            let weighting = noise(3, [2, outputs, frames], &device);
            let run = |convolve: &dyn Fn(&LongConvolution, Tensor<3>) -> Tensor<3>| {
                let input = noise(2, [2, inputs, frames], &device).require_grad();
                let output = convolve(&layer, input.clone());
                let gradients = (output.clone() * weighting.clone()).sum().backward();
                (
                    output.detach().without_autodiff(),
                    input.grad(&gradients).expect("the input needs a gradient"),
                    layer.weight.val().grad(&gradients).expect("the weight needs a gradient"),
                    layer.bias.val().grad(&gradients).expect("the bias needs a gradient"),
                )
            };
            let (expected, found) = (run(&direct), run(&fourier));
            let differences = [
                largest_difference(expected.0, found.0),
                largest_difference(expected.1, found.1),
                largest_difference(expected.2, found.2),
                largest_difference(expected.3, found.3),
            ];
            println!("{frames} frames, {taps} taps: output and gradients differ by {differences:?}");
            assert!(differences.iter().all(|difference| *difference < 1e-4), "{differences:?}");
        }
    }

    /// A measurement, not a check: run it with `--ignored --nocapture` on a quiet machine.
    #[test]
    #[ignore = "measures time"]
    fn measure_the_ratio_of_direct_to_fourier_convolution() {
        let device = Device::flex().autodiff();
        for (inputs, outputs) in [(66, 22), (22, 5), (5, 22), (22, 66)] {
            let layer = LongConvolution::new(121, 121, inputs, outputs, &mut InitialWeights::new(1, &device));
            for windows in [1, 32, 256] {
                let seconds = |convolve: &dyn Fn(&LongConvolution, Tensor<3>) -> Tensor<3>, train: bool| {
                    let repeats = if windows == 256 { 2 } else { 5 };
                    let mut best = f64::INFINITY;
                    for _ in 0..repeats {
                        let input = noise(2, [windows, inputs, 121], &device).require_grad();
                        let start = Instant::now();
                        let output = convolve(&layer, input).sum();
                        if train {
                            std::hint::black_box(output.backward());
                        } else {
                            std::hint::black_box(output.into_data());
                        }
                        best = best.min(start.elapsed().as_secs_f64());
                    }
                    1e3 * best
                };
                let (forward, forward_direct) = (seconds(&fourier, false), seconds(&direct, false));
                let (both, both_direct) = (seconds(&fourier, true), seconds(&direct, true));
                println!(
                    "{inputs:>2} to {outputs:>2}, batch {windows:>3}: forward {forward:.1} ms, direct {forward_direct:.1}; \
                     with backward {both:.1} ms, direct {both_direct:.1} ({:.1} times)",
                    both_direct / both
                );
            }
        }
    }
}
