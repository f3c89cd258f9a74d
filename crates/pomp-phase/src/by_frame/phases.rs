use super::packed_table::PackedTable;
use super::plain_convolution::floats;
use super::{fold, padded};
use crate::phase_layer::{AMPLITUDE_FLOOR_SQUARED, PhaseLayer};
use crate::spectral_tables::CentredSpectrumTables;
use crate::{ChannelPhase, PeriodicAutoencoderConfig};
use pomp_lanes::{Lanes, Work};
use std::f32::consts::TAU;

/// The phase layer for the curves of one window.
#[derive(Debug)]
pub(super) struct PhaseReading {
    /// Values of a frame: a curve per channel, padded to whole vectors.
    width: usize,
    even_table: PackedTable,
    odd_table: PackedTable,
    frequency_hz: Vec<f32>,
    /// `[frame][x or y][width]`.
    shift_weights: Vec<f32>,
    /// `[x or y][width]`.
    shift_bias: Vec<f32>,
    /// Frames on each side of a window's centre.
    radius: usize,
}

/// What [`PhaseReading::read`] works in.
#[derive(Clone, Debug)]
pub(super) struct ReadingScratch {
    even: Vec<f32>,
    odd: Vec<f32>,
    spectrum: [Vec<f32>; 2],
    /// Rows of sums: of power, of power times frequency, of the curve, of the shift's x and y.
    sums: [Vec<f32>; 5],
}

impl PhaseReading {
    pub(super) fn new(layer: &PhaseLayer, config: &PeriodicAutoencoderConfig) -> Self {
        let radius = config.window.radius_frames;
        let tables = CentredSpectrumTables::new(radius, config.window.frame_rate_hz, config.spectrum);
        let (weights, bias) = layer.shift_layer();
        let [channels, frames, _] = weights.dims();
        let width = padded(channels);
        let mut shift_weights = vec![0.0; 2 * frames * width];
        for (at, weight) in floats(weights).into_iter().enumerate() {
            let (channel, frame, axis) = (at / (2 * frames), at / 2 % frames, at % 2);
            shift_weights[(2 * frame + axis) * width + channel] = weight;
        }
        let mut shift_bias = vec![0.0; 2 * width];
        for (at, bias) in floats(bias).into_iter().enumerate() {
            shift_bias[at % 2 * width + at / 2] = bias;
        }
        let (even_table, odd_table) = (PackedTable::pack(&tables.even), PackedTable::pack(&tables.odd));
        Self {
            width,
            even_table,
            odd_table,
            frequency_hz: tables.frequency_hz,
            shift_weights,
            shift_bias,
            radius,
        }
    }

    pub(super) fn scratch(&self) -> ReadingScratch {
        let Self { width, radius, even_table, odd_table, .. } = self;
        ReadingScratch {
            even: vec![0.0; (radius + 1) * width],
            odd: vec![0.0; radius * width],
            spectrum: [even_table, odd_table].map(|table| vec![0.0; table.rows() * width]),
            sums: std::array::from_fn(|_| vec![0.0; *width]),
        }
    }

    /// What [`Self::read`] costs, apart from what it does per channel at the end.
    pub(super) fn work(&self) -> Work {
        let shift = self.shift_weights.len() as u64;
        let shift = Work { multiply_adds: shift, weight_bytes: shift * size_of::<f32>() as u64 };
        self.even_table.work(self.width) + self.odd_table.work(self.width) + shift
    }

    /// Reads curves, a row of `width` values per frame.
    pub(super) fn read(
        &self,
        lanes: Lanes,
        curves: &[f32],
        scratch: &mut ReadingScratch,
        channels: &mut [ChannelPhase],
    ) {
        let ReadingScratch { even, odd, spectrum, sums } = scratch;
        let width = self.width;
        fold(curves, (width, width), self.radius, (even, odd));
        let [cosine, sine] = spectrum;
        self.even_table.apply(lanes, even, width, cosine);
        self.odd_table.apply(lanes, odd, width, sine);

        for sums in &mut *sums {
            sums.fill(0.0);
        }
        let [power, moment, total, x, y] = sums;
        let rows = cosine.chunks_exact(width).zip(sine.chunks_exact(width));
        for ((cosine, sine), frequency_hz) in rows.zip(&self.frequency_hz) {
            for channel in 0..width {
                let square = cosine[channel] * cosine[channel] + sine[channel] * sine[channel];
                power[channel] += square;
                moment[channel] += square * frequency_hz;
            }
        }
        let frames = curves.chunks_exact(width).zip(self.shift_weights.chunks_exact(2 * width));
        for (curve, weights) in frames {
            let (weights_x, weights_y) = weights.split_at(width);
            for channel in 0..width {
                total[channel] += curve[channel];
                x[channel] += curve[channel] * weights_x[channel];
                y[channel] += curve[channel] * weights_y[channel];
            }
        }
        let count = curves.len() / width;
        let (bias_x, bias_y) = self.shift_bias.split_at(width);
        for (at, channel) in channels.iter_mut().enumerate() {
            let floored = power[at] + AMPLITUDE_FLOOR_SQUARED;
            *channel = ChannelPhase {
                amplitude: floored.sqrt(),
                frequency_hz: moment[at] / floored,
                offset: total[at] / count as f32,
                shift_turns: (y[at] + bias_y[at]).atan2(x[at] + bias_x[at]) / TAU,
            };
        }
    }
}
