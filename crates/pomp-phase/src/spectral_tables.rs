use crate::Spectrum;
use std::f64::consts::TAU;

/// A row-major matrix of constants.
pub(crate) struct Table {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f32>,
}

impl Table {
    fn from_fn(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..rows * columns).map(|at| value(at / columns, at % columns) as f32).collect();
        Self { rows, columns, values }
    }
}

/// What makes, or reads, the real parts of a spectrum and what does so with the imaginary parts.
pub(crate) struct Parts<T> {
    pub real: T,
    pub imaginary: T,
}

/// Discrete Fourier transforms that turn a zero-padded convolution over time into products per frequency.
///
/// With the window's T frames, a kernel of K taps centred at r = (K−1)/2 and transforms of length M = T + r, nothing
/// that wraps around reaches the T frames that are kept. There are F = M/2 + 1 frequencies.
pub(crate) struct ConvolutionTables {
    /// `[F, T]`: spectrum of a signal.
    pub signal: Parts<Table>,
    /// `[F, K]`: spectrum of the kernel, reflected because layers of networks correlate.
    pub kernel: Parts<Table>,
    /// `[T, F]`: signal of a spectrum, the sum of what its two parts give.
    pub synthesis: Parts<Table>,
}

impl ConvolutionTables {
    pub(crate) fn new(frames: usize, taps: usize) -> Self {
        let centre = (taps - 1) / 2;
        let length = frames + centre;
        let frequencies = length / 2 + 1;
        let angle = |f: usize, at: f64| TAU * f as f64 * at / length as f64;
        let analysis = |columns: usize, at: &dyn Fn(usize) -> f64| Parts {
            real: Table::from_fn(frequencies, columns, |f, column| angle(f, at(column)).cos()),
            imaginary: Table::from_fn(frequencies, columns, |f, column| -angle(f, at(column)).sin()),
        };
        // Every bin but the first (and the middle one of an even length) stands for its mirror image too.
        let share = |f: usize| if f == 0 || 2 * f == length { 1.0 } else { 2.0 } / length as f64;
        Self {
            signal: analysis(frames, &|n| n as f64),
            kernel: analysis(taps, &|k| centre as f64 - k as f64),
            synthesis: Parts {
                real: Table::from_fn(frames, frequencies, |n, f| share(f) * angle(f, n as f64).cos()),
                imaginary: Table::from_fn(frames, frequencies, |n, f| -share(f) * angle(f, n as f64).sin()),
            },
        }
    }
}

/// The transforms of [`ConvolutionTables`] with time counted from the window's centre, for signals folded there: what is even
/// in time has a cosine part alone, what is odd a sine part. Of the output the frames around the centre are kept.
pub(crate) struct CentredTables {
    /// Length of the transforms.
    pub length: usize,
    /// Number of frequencies, F.
    pub frequencies: usize,
    /// `[F, R + 1]`: real part of the spectrum of x(d) + x(−d), d = 0 … R (of x(0) for d = 0).
    pub analysis_even: Table,
    /// `[F, R]`: imaginary part of the spectrum of x(d) − x(−d), d = 1 … R.
    pub analysis_odd: Table,
    /// `[T + 1, F]`: even part of the signal at d = 0 … T.
    pub synthesis_even: Table,
    /// `[T, F]`: odd part of the signal at d = 1 … T.
    pub synthesis_odd: Table,
}

impl CentredTables {
    /// Tables for frames within R = `radius` of the centre, taps within `reach` of the middle one and outputs within
    /// T = `wanted` of the centre: what wraps around then falls on no frame of the window.
    pub(crate) fn new(radius: usize, reach: usize, wanted: usize) -> Self {
        let length = radius + reach + wanted + 1;
        let frequencies = length / 2 + 1;
        let angle = |f: usize, at: usize| TAU * f as f64 * at as f64 / length as f64;
        // Every bin but the first (and the middle one of an even length) stands for its mirror image too.
        let share = |f: usize| if f == 0 || 2 * f == length { 1.0 } else { 2.0 } / length as f64;
        Self {
            length,
            frequencies,
            analysis_even: Table::from_fn(frequencies, radius + 1, |f, d| angle(f, d).cos()),
            analysis_odd: Table::from_fn(frequencies, radius, |f, d| -angle(f, d + 1).sin()),
            synthesis_even: Table::from_fn(wanted + 1, frequencies, |d, f| share(f) * angle(f, d).cos()),
            synthesis_odd: Table::from_fn(wanted, frequencies, |d, f| -share(f) * angle(f, d + 1).sin()),
        }
    }
}

/// Transforms from latent curves to amplitude and frequency.
pub(crate) struct SpectrumTables {
    /// Number of bins without the first, K = N/2.
    pub bins: usize,
    /// `[K, N]`: scaled so that squares sum to the squared amplitude.
    pub analysis: Parts<Table>,
    /// Frequency of each bin, Hz: j · rate / N.
    pub frequency_hz: Vec<f32>,
}

impl SpectrumTables {
    pub(crate) fn new(frames: usize, frame_rate_hz: f32, spectrum: Spectrum) -> Self {
        let bins = frames / 2;
        let Taper { weights: taper, total, scale } = Taper::new(frames, spectrum);
        let angle = |bin: usize, n: usize| TAU * (bin + 1) as f64 * n as f64 / frames as f64;
        let table = |wave: &dyn Fn(f64) -> f64| {
            let wave = |bin: usize, n: usize| taper[n] * wave(angle(bin, n));
            // Tapering would smear the offset into the first bins: the tapered mean is taken off inside the table.
            let leak: Vec<f64> =
                (0..bins).map(|bin| (0..frames).map(|n| wave(bin, n)).sum::<f64>() / total).collect();
            Table::from_fn(bins, frames, |bin, n| scale * (wave(bin, n) - leak[bin] * taper[n]))
        };
        let analysis = Parts { real: table(&f64::cos), imaginary: table(&|angle| -angle.sin()) };
        Self { bins, analysis, frequency_hz: Self::frequencies_hz(frames, frame_rate_hz) }
    }

    fn frequencies_hz(frames: usize, frame_rate_hz: f32) -> Vec<f32> {
        (1..=frames / 2).map(|j| (j as f64 * f64::from(frame_rate_hz) / frames as f64) as f32).collect()
    }
}

/// How a curve is faded out towards both ends before it is transformed; even around the window's centre.
struct Taper {
    weights: Vec<f64>,
    total: f64,
    /// Makes squares of a spectrum sum to the squared amplitude.
    scale: f64,
}

impl Taper {
    fn new(frames: usize, spectrum: Spectrum) -> Self {
        let weights: Vec<f64> = (0..frames)
            .map(|n| match spectrum {
                Spectrum::Plain => 1.0,
                Spectrum::Hann => 0.5 - 0.5 * (TAU * (n as f64 + 0.5) / frames as f64).cos(),
            })
            .collect();
        let total = weights.iter().sum();
        let energy: f64 = weights.iter().map(|w| w * w).sum();
        Self { weights, total, scale: (4.0 / (frames as f64 * energy)).sqrt() }
    }
}

/// The transforms of [`SpectrumTables`] with time counted from the window's centre, for curves folded there as in
/// [`CentredTables`]. Every bin is turned in phase, which changes no amplitude.
pub(crate) struct CentredSpectrumTables {
    /// `[K, R + 1]`: cosine part.
    pub even: Table,
    /// `[K, R]`: sine part.
    pub odd: Table,
    /// Frequency of each bin, Hz.
    pub frequency_hz: Vec<f32>,
}

impl CentredSpectrumTables {
    pub(crate) fn new(radius: usize, frame_rate_hz: f32, spectrum: Spectrum) -> Self {
        let frames = 2 * radius + 1;
        let Taper { weights, total, scale } = Taper::new(frames, spectrum);
        let taper = &weights[radius..];
        let angle = |bin: usize, d: usize| TAU * (bin + 1) as f64 * d as f64 / frames as f64;
        let cosine = |bin: usize, d: usize| taper[d] * angle(bin, d).cos();
        let bins = frames / 2;
        // The sine rows leak nothing: an offset is even.
        let leak: Vec<f64> = (0..bins)
            .map(|bin| (cosine(bin, 0) + 2.0 * (1..=radius).map(|d| cosine(bin, d)).sum::<f64>()) / total)
            .collect();
        Self {
            even: Table::from_fn(bins, radius + 1, |bin, d| scale * (cosine(bin, d) - leak[bin] * taper[d])),
            odd: Table::from_fn(bins, radius, |bin, d| -scale * taper[d + 1] * angle(bin, d + 1).sin()),
            frequency_hz: SpectrumTables::frequencies_hz(frames, frame_rate_hz),
        }
    }
}
