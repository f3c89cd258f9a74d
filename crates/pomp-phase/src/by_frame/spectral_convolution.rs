use super::packed_table::PackedTable;
use super::padded;
use super::plain_convolution::PlainConvolution;
use super::spectral_kernel::{SpectralKernel, Spectrum, SpectrumMut};
use crate::spectral_tables::CentredTables;
use pomp_lanes::Lanes;

/// A [`LongConvolution`](crate::long_convolution::LongConvolution) of some windows of which the frames around the centre are
/// wanted.
#[derive(Clone, Debug)]
pub(super) struct SpectralConvolution {
    /// Frames on each side of a window's centre.
    radius: usize,
    /// The same of what is wanted.
    wanted: usize,
    /// Values of a frame of all windows, padding included.
    input_width: usize,
    output_width: usize,
    analysis_even: PackedTable,
    analysis_odd: PackedTable,
    synthesis_even: PackedTable,
    synthesis_odd: PackedTable,
    kernel: SpectralKernel,
    /// Of all windows.
    bias: Vec<f32>,
    even: Vec<f32>,
    odd: Vec<f32>,
    spectrum: [Vec<f32>; 2],
    product: [Vec<f32>; 2],
    out_even: Vec<f32>,
    out_odd: Vec<f32>,
}

impl SpectralConvolution {
    pub(super) fn new(weights: &PlainConvolution, radius: usize, wanted: usize, windows: usize) -> Self {
        let tables = CentredTables::new(radius, weights.reach, wanted);
        let frequencies = tables.frequencies;
        let pack = PackedTable::pack;
        let (analysis_even, analysis_odd) = (pack(&tables.analysis_even), pack(&tables.analysis_odd));
        let (synthesis_even, synthesis_odd) = (pack(&tables.synthesis_even), pack(&tables.synthesis_odd));
        let input_width = windows * padded(weights.inputs);
        let output_width = windows * weights.bias.len();
        let zeros = |rows: usize, width: usize| vec![0.0; rows * width];
        let pair = |rows, width| [zeros(rows, width), zeros(rows, width)];
        Self {
            radius,
            wanted,
            input_width,
            output_width,
            kernel: SpectralKernel::new(weights, frequencies, tables.length, windows),
            bias: weights.bias.repeat(windows),
            even: zeros(radius + 1, input_width),
            odd: zeros(radius, input_width),
            spectrum: pair(analysis_even.rows(), input_width),
            product: pair(frequencies, output_width),
            out_even: zeros(synthesis_even.rows(), output_width),
            out_odd: zeros(synthesis_odd.rows(), output_width),
            analysis_even,
            analysis_odd,
            synthesis_even,
            synthesis_odd,
        }
    }

    /// Values of a frame of the result: one window after the other, outputs padded to whole vectors.
    pub(super) fn output_width(&self) -> usize {
        self.output_width
    }

    /// Convolves windows that lie side by side in `input`, a frame every `stride` values and every window padded to whole
    /// vectors; `out` gets the wanted frames in the same way, without gaps.
    pub(super) fn apply(&mut self, lanes: Lanes, (input, stride): (&[f32], usize), out: &mut [f32]) {
        let width = self.input_width;
        let frame = |frame: usize| &input[frame * stride..][..width];
        let centre = self.radius;
        self.even[..width].copy_from_slice(frame(centre));
        let halves = self.even[width..].chunks_exact_mut(width).zip(self.odd.chunks_exact_mut(width));
        for (distance, (even, odd)) in (1..).zip(halves) {
            let pairs = frame(centre + distance).iter().zip(frame(centre - distance));
            for ((even, odd), (after, before)) in even.iter_mut().zip(odd).zip(pairs) {
                *even = after + before;
                *odd = after - before;
            }
        }
        let [real, imaginary] = &mut self.spectrum;
        self.analysis_even.apply(lanes, (&self.even, width), width, real);
        self.analysis_odd.apply(lanes, (&self.odd, width), width, imaginary);
        let [product_real, product_imaginary] = &mut self.product;
        let signal = Spectrum { real, imaginary, width };
        let product = SpectrumMut { real: product_real, imaginary: product_imaginary };
        self.kernel.apply(lanes, &signal, product);

        let width = self.output_width;
        self.synthesis_even.apply(lanes, (product_real, width), width, &mut self.out_even);
        self.synthesis_odd.apply(lanes, (product_imaginary, width), width, &mut self.out_odd);
        let (before, rest) = out.split_at_mut(self.wanted * width);
        let (middle, after) = rest.split_at_mut(width);
        for ((out, even), bias) in middle.iter_mut().zip(&self.out_even).zip(&self.bias) {
            *out = even + bias;
        }
        let halves = self.out_even[width..].chunks_exact(width).zip(self.out_odd.chunks_exact(width));
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
