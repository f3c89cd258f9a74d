use super::packed_table::PackedTable;
use super::plain_convolution::PlainConvolution;
use super::spectral_kernel::{SpectralKernel, Spectrum, SpectrumMut};
use super::{fold, grow, padded};
use crate::spectral_tables::CentredTables;
use pomp_lanes::{Lanes, Work};

/// A [`LongConvolution`](crate::long_convolution::LongConvolution) of some windows of each character, of which the frames
/// around the centre are wanted.
#[derive(Debug)]
pub(super) struct SpectralConvolution {
    /// Frames on each side of a window's centre.
    radius: usize,
    /// The same of what is wanted.
    wanted: usize,
    /// Values of a frame of all windows of a character, padding included.
    input_width: usize,
    output_width: usize,
    analysis_even: PackedTable,
    analysis_odd: PackedTable,
    synthesis_even: PackedTable,
    synthesis_odd: PackedTable,
    kernel: SpectralKernel,
    /// Of all windows.
    bias: Vec<f32>,
}

/// What [`SpectralConvolution::apply`] works in.
#[derive(Clone, Debug, Default)]
pub(super) struct ConvolutionScratch {
    even: Vec<f32>,
    odd: Vec<f32>,
    /// Real and imaginary parts, of one character after the other.
    spectrum: [Vec<f32>; 2],
    product: [Vec<f32>; 2],
    out_even: Vec<f32>,
    out_odd: Vec<f32>,
}

/// Where windows lie: those of a character side by side.
#[derive(Clone, Copy)]
pub(super) struct Windows<'a> {
    pub(super) values: &'a [f32],
    /// Values from one frame to the next.
    pub(super) stride: usize,
    /// Values from one character to the next.
    pub(super) character: usize,
}

impl SpectralConvolution {
    pub(super) fn new(weights: &PlainConvolution, radius: usize, wanted: usize, windows: usize) -> Self {
        let tables = CentredTables::new(radius, weights.reach, wanted);
        let pack = PackedTable::pack;
        Self {
            radius,
            wanted,
            input_width: windows * padded(weights.inputs),
            output_width: windows * weights.bias.len(),
            kernel: SpectralKernel::new(weights, tables.frequencies, tables.length, windows),
            bias: weights.bias.repeat(windows),
            analysis_even: pack(&tables.analysis_even),
            analysis_odd: pack(&tables.analysis_odd),
            synthesis_even: pack(&tables.synthesis_even),
            synthesis_odd: pack(&tables.synthesis_odd),
        }
    }

    /// Values of a frame of a character's result: one window after the other, outputs padded to whole vectors.
    pub(super) fn output_width(&self) -> usize {
        self.output_width
    }

    /// Values of a character's result.
    pub(super) fn output_size(&self) -> usize {
        (2 * self.wanted + 1) * self.output_width
    }

    /// What [`Self::apply`] costs for one character.
    pub(super) fn work(&self) -> Work {
        let analysis = self.analysis_even.work(self.input_width) + self.analysis_odd.work(self.input_width);
        let synthesis =
            self.synthesis_even.work(self.output_width) + self.synthesis_odd.work(self.output_width);
        analysis + self.kernel.work() + synthesis
    }

    /// Convolves the windows of some characters, each window padded to whole vectors; `out` gets the wanted frames, without
    /// gaps.
    pub(super) fn apply(
        &self,
        lanes: Lanes,
        characters: usize,
        input: Windows<'_>,
        scratch: &mut ConvolutionScratch,
        out: &mut [f32],
    ) {
        let ConvolutionScratch { even, odd, spectrum, product, out_even, out_odd } = scratch;
        let width = self.input_width;
        grow(even, (self.radius + 1) * width);
        grow(odd, self.radius * width);
        let size = self.analysis_even.rows() * width;
        for spectrum in &mut *spectrum {
            grow(spectrum, characters * size);
        }
        let [real, imaginary] = spectrum;
        let spectra = real.chunks_exact_mut(size).zip(imaginary.chunks_exact_mut(size));
        for (character, (real, imaginary)) in spectra.take(characters).enumerate() {
            fold(
                &input.values[character * input.character..],
                (width, input.stride),
                self.radius,
                (even, odd),
            );
            self.analysis_even.apply(lanes, even, width, real);
            self.analysis_odd.apply(lanes, odd, width, imaginary);
        }
        let signal = Spectrum { real, imaginary, width, character: size };

        let width = self.output_width;
        let size = self.kernel.frequencies() * width;
        for product in &mut *product {
            grow(product, characters * size);
        }
        let [real, imaginary] = product;
        let into = SpectrumMut { real, imaginary, character: size };
        self.kernel.apply(lanes, characters, &signal, into);

        grow(out_even, self.synthesis_even.rows() * width);
        grow(out_odd, self.synthesis_odd.rows() * width);
        let products = real.chunks_exact(size).zip(imaginary.chunks_exact(size));
        let outs = out.chunks_exact_mut(self.output_size());
        for ((real, imaginary), out) in products.zip(outs).take(characters) {
            self.synthesis_even.apply(lanes, real, width, out_even);
            self.synthesis_odd.apply(lanes, imaginary, width, out_odd);
            self.unfold(out_even, out_odd, out);
        }
    }

    /// Puts the halves of a character's result together, and adds the bias.
    fn unfold(&self, even: &[f32], odd: &[f32], out: &mut [f32]) {
        let width = self.output_width;
        let (before, rest) = out.split_at_mut(self.wanted * width);
        let (middle, after) = rest.split_at_mut(width);
        for ((out, even), bias) in middle.iter_mut().zip(even).zip(&self.bias) {
            *out = even + bias;
        }
        let halves = even[width..].chunks_exact(width).zip(odd.chunks_exact(width));
        let outs = before.chunks_exact_mut(width).rev().zip(after.chunks_exact_mut(width));
        for ((before, after), (even, odd)) in outs.zip(halves) {
            let values = even.iter().zip(odd).zip(&self.bias);
            for ((before, after), ((even, odd), bias)) in before.iter_mut().zip(after).zip(values) {
                *before = even - odd + bias;
                *after = even + odd + bias;
            }
        }
    }
}
