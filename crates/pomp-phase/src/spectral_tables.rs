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

/// Discrete Fourier transforms that turn a zero-padded convolution over time into products per frequency.
///
/// With the window's T frames, a kernel of K taps centred at r = (K−1)/2 and transforms of length M = T + r, nothing
/// that wraps around reaches the T frames that are kept. Rows of spectra are F = M/2 + 1 cosine rows, then F sine rows.
pub(crate) struct ConvolutionTables {
    /// Number of frequencies, F.
    pub frequencies: usize,
    /// `[2F, T]`: spectrum of a signal.
    pub signal: Table,
    /// `[2F, K]`: spectrum of the kernel, reflected because layers of networks correlate.
    pub kernel: Table,
    /// `[T, 2F]`: signal of a spectrum.
    pub synthesis: Table,
}

impl ConvolutionTables {
    pub(crate) fn new(frames: usize, taps: usize) -> Self {
        let centre = (taps - 1) / 2;
        let length = frames + centre;
        let frequencies = length / 2 + 1;
        let angle = |f: usize, at: f64| TAU * (f % frequencies) as f64 * at / length as f64;
        let signal = Table::from_fn(2 * frequencies, frames, |f, n| {
            let angle = angle(f, n as f64);
            if f < frequencies { angle.cos() } else { -angle.sin() }
        });
        let kernel = Table::from_fn(2 * frequencies, taps, |f, k| {
            let angle = angle(f, centre as f64 - k as f64);
            if f < frequencies { angle.cos() } else { -angle.sin() }
        });
        let synthesis = Table::from_fn(frames, 2 * frequencies, |n, f| {
            let bin = f % frequencies;
            // Every bin but the first (and the middle one of an even length) stands for its mirror image too.
            let copies = if bin == 0 || 2 * bin == length { 1.0 } else { 2.0 };
            let angle = angle(f, n as f64);
            copies / length as f64 * if f < frequencies { angle.cos() } else { -angle.sin() }
        });
        Self { frequencies, signal, kernel, synthesis }
    }
}

/// Transforms from latent curves to amplitude and frequency.
pub(crate) struct SpectrumTables {
    /// Number of bins without the first, K = N/2.
    pub bins: usize,
    /// `[2K, N]`: cosine rows, then sine rows, scaled so that squares sum to the squared amplitude.
    pub analysis: Table,
    /// Frequency of each bin, Hz: j · rate / N.
    pub frequency_hz: Vec<f32>,
}

impl SpectrumTables {
    pub(crate) fn new(frames: usize, frame_rate_hz: f32, spectrum: Spectrum) -> Self {
        let bins = frames / 2;
        let taper: Vec<f64> = (0..frames)
            .map(|n| match spectrum {
                Spectrum::Plain => 1.0,
                Spectrum::Hann => 0.5 - 0.5 * (TAU * (n as f64 + 0.5) / frames as f64).cos(),
            })
            .collect();
        let total: f64 = taper.iter().sum();
        let energy: f64 = taper.iter().map(|w| w * w).sum();
        let scale = (4.0 / (frames as f64 * energy)).sqrt();
        let wave = |row: usize, n: usize| {
            let angle = TAU * (row % bins + 1) as f64 * n as f64 / frames as f64;
            taper[n] * if row < bins { angle.cos() } else { -angle.sin() }
        };
        // Tapering would smear the offset into the first bins: the tapered mean is taken off inside the table.
        let leak: Vec<f64> =
            (0..2 * bins).map(|row| (0..frames).map(|n| wave(row, n)).sum::<f64>() / total).collect();
        let analysis =
            Table::from_fn(2 * bins, frames, |row, n| scale * (wave(row, n) - leak[row] * taper[n]));
        let frequency_hz =
            (1..=bins).map(|j| (j as f64 * f64::from(frame_rate_hz) / frames as f64) as f32).collect();
        Self { bins, analysis, frequency_hz }
    }
}
