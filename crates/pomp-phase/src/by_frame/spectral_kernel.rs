use super::plain_convolution::PlainConvolution;
use super::{load, store};
use pomp_lanes::{LANES, LaneLoop, Lanes, Wide, Work};
use std::f64::consts::TAU;

/// Windows that share one read of a weight.
const WINDOWS_AT_ONCE: usize = 5;
/// Vectors of outputs that one window computes at once, to have enough independent sums in flight.
const WIDE_STRIP: usize = 3;

/// A kernel per frequency, in the order in which it is read.
#[derive(Debug)]
pub(super) struct SpectralKernel {
    frequencies: usize,
    inputs: usize,
    outputs: usize,
    windows: usize,
    /// Vectors of a strip.
    strip: usize,
    /// `[frequency][strip][input][real part, imaginary part][strip · 8]`.
    values: Vec<f32>,
}

/// The spectra of some characters' signals: of each a row per frequency, and in it one window after the other.
pub(super) struct Spectrum<'a> {
    pub(super) real: &'a [f32],
    pub(super) imaginary: &'a [f32],
    /// Values of a row.
    pub(super) width: usize,
    /// Values from one character to the next.
    pub(super) character: usize,
}

/// Where products go; as [`Spectrum`].
pub(super) struct SpectrumMut<'a> {
    pub(super) real: &'a mut [f32],
    pub(super) imaginary: &'a mut [f32],
    /// Values from one character to the next.
    pub(super) character: usize,
}

impl SpectralKernel {
    /// The spectrum of weights for transforms of `length` values and products with `windows` signals at once.
    pub(super) fn new(weights: &PlainConvolution, frequencies: usize, length: usize, windows: usize) -> Self {
        let (inputs, outputs) = (weights.inputs, weights.bias.len());
        let vectors = outputs / LANES;
        let strip = if windows == 1 && vectors.is_multiple_of(WIDE_STRIP) { WIDE_STRIP } else { 1 };
        let lanes = strip * LANES;
        let mut values = Vec::with_capacity(2 * frequencies * inputs * outputs);
        let mut sums = [vec![0.0_f64; inputs * outputs], vec![0.0_f64; inputs * outputs]];
        let reach = weights.reach.cast_signed();
        for frequency in 0..frequencies {
            for sums in &mut sums {
                sums.fill(0.0);
            }
            for ahead in -reach..=reach {
                let (sin, cos) = (TAU * frequency as f64 * ahead as f64 / length as f64).sin_cos();
                for (sums, factor) in sums.iter_mut().zip([cos, sin]) {
                    for (sum, weight) in sums.iter_mut().zip(weights.tap(ahead)) {
                        *sum += f64::from(*weight) * factor;
                    }
                }
            }
            for first in (0..outputs).step_by(lanes) {
                for input in 0..inputs {
                    for sums in &sums {
                        let cells = &sums[input * outputs + first..][..lanes];
                        values.extend(cells.iter().map(|value| *value as f32));
                    }
                }
            }
        }
        Self { frequencies, inputs, outputs, windows, strip, values }
    }

    pub(super) fn frequencies(&self) -> usize {
        self.frequencies
    }

    /// What [`Self::apply`] costs for one character.
    pub(super) fn work(&self) -> Work {
        // Real and imaginary parts are two values, whose products with a signal's two are four.
        let values = self.values.len() as u64;
        Work {
            multiply_adds: 2 * values * self.windows as u64,
            weight_bytes: values * size_of::<f32>() as u64,
        }
    }

    /// Multiplies every window's spectrum by the kernel's. Every weight is read once for all characters.
    pub(super) fn apply(&self, lanes: Lanes, characters: usize, signal: &Spectrum<'_>, out: SpectrumMut<'_>) {
        lanes.run(Products { kernel: self, characters, signal, out });
    }
}

struct Products<'a> {
    kernel: &'a SpectralKernel,
    characters: usize,
    signal: &'a Spectrum<'a>,
    out: SpectrumMut<'a>,
}

/// One frequency of a character: the signal's row, the kernel's weights and the product's row.
struct Bin<'a> {
    kernel: &'a SpectralKernel,
    real: &'a [f32],
    imaginary: &'a [f32],
    weights: &'a [f32],
    out_real: &'a mut [f32],
    out_imaginary: &'a mut [f32],
}

impl LaneLoop for Products<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self { kernel, characters, signal, out } = self;
        let (inputs, width) = (signal.width, kernel.windows * kernel.outputs);
        let frequencies = kernel.values.chunks_exact(2 * kernel.inputs * kernel.outputs);
        for (frequency, weights) in frequencies.enumerate() {
            for character in 0..characters {
                let from = character * signal.character + frequency * inputs;
                let to = character * out.character + frequency * width;
                let bin = Bin {
                    kernel,
                    real: &signal.real[from..][..inputs],
                    imaginary: &signal.imaginary[from..][..inputs],
                    weights,
                    out_real: &mut out.real[to..][..width],
                    out_imaginary: &mut out.imaginary[to..][..width],
                };
                bin.run(wide);
            }
        }
    }
}

impl Bin<'_> {
    #[inline(always)]
    fn run<W: Wide>(mut self, wide: W) {
        if self.kernel.strip == WIDE_STRIP {
            return self.one_window::<W, WIDE_STRIP>(wide);
        }
        let mut window = 0;
        while window < self.kernel.windows {
            window += match (self.kernel.windows - window).min(WINDOWS_AT_ONCE) {
                1 => self.windows::<W, 1>(wide, window),
                2 => self.windows::<W, 2>(wide, window),
                3 => self.windows::<W, 3>(wide, window),
                4 => self.windows::<W, 4>(wide, window),
                _ => self.windows::<W, WINDOWS_AT_ONCE>(wide, window),
            };
        }
    }

    /// `N` windows from `first` on; gives N.
    #[inline(always)]
    fn windows<W: Wide, const N: usize>(&mut self, wide: W, first: usize) -> usize {
        let Self { kernel, real, imaginary, weights, out_real, out_imaginary } = self;
        let (inputs, outputs) = (kernel.inputs, kernel.outputs);
        let stride = real.len() / kernel.windows;
        let [real, imaginary]: [[&[f32]; N]; 2] = [*real, *imaginary]
            .map(|part| std::array::from_fn(|window| &part[(first + window) * stride..][..inputs]));
        for (strip, weights) in weights.chunks_exact(2 * inputs * LANES).enumerate() {
            let mut sums = [[wide.splat(0.0); N]; 2];
            let weights = &weights.as_chunks::<LANES>().0.as_chunks::<2>().0[..inputs];
            for (input, weights) in weights.iter().enumerate() {
                let [weight_real, weight_imaginary] = [wide.load(&weights[0]), wide.load(&weights[1])];
                let [sums_real, sums_imaginary] = &mut sums;
                for window in 0..N {
                    let (re, im) = (wide.splat(real[window][input]), wide.splat(imaginary[window][input]));
                    let sum = wide.multiply_add(re, weight_real, sums_real[window]);
                    sums_real[window] = wide.multiply_subtract(im, weight_imaginary, sum);
                    let sum = wide.multiply_add(re, weight_imaginary, sums_imaginary[window]);
                    sums_imaginary[window] = wide.multiply_add(im, weight_real, sum);
                }
            }
            for (window, (real, imaginary)) in sums[0].into_iter().zip(sums[1]).enumerate() {
                let at = (first + window) * outputs + strip * LANES;
                store(wide, [real], &mut out_real[at..]);
                store(wide, [imaginary], &mut out_imaginary[at..]);
            }
        }
        N
    }

    /// The only window, in strips of `V` vectors.
    #[inline(always)]
    fn one_window<W: Wide, const V: usize>(&mut self, wide: W) {
        let Self { kernel, real, imaginary, weights, out_real, out_imaginary } = self;
        let strips = weights.chunks_exact(2 * kernel.inputs * V * LANES).enumerate();
        for (strip, weights) in strips {
            // Four sums instead of two: each waits for itself only.
            let mut sums = [[wide.splat(0.0); V]; 4];
            let signal = real.iter().zip(*imaginary);
            for (weights, (&re, &im)) in weights.chunks_exact(2 * V * LANES).zip(signal) {
                let (re, im) = (wide.splat(re), wide.splat(im));
                let (weight_real, weight_imaginary) = weights.split_at(V * LANES);
                let weight_real = load::<W, V>(wide, weight_real);
                let weight_imaginary = load::<W, V>(wide, weight_imaginary);
                for vector in 0..V {
                    let (real, imaginary) = (weight_real[vector], weight_imaginary[vector]);
                    sums[0][vector] = wide.multiply_add(re, real, sums[0][vector]);
                    sums[1][vector] = wide.multiply_subtract(im, imaginary, sums[1][vector]);
                    sums[2][vector] = wide.multiply_add(re, imaginary, sums[2][vector]);
                    sums[3][vector] = wide.multiply_add(im, real, sums[3][vector]);
                }
            }
            let one = wide.splat(1.0);
            let sum = |a: [W::Vector; V], b: [W::Vector; V]| -> [W::Vector; V] {
                std::array::from_fn(|vector| wide.multiply_add(a[vector], one, b[vector]))
            };
            let at = strip * V * LANES;
            store(wide, sum(sums[0], sums[1]), &mut out_real[at..]);
            store(wide, sum(sums[2], sums[3]), &mut out_imaginary[at..]);
        }
    }
}
