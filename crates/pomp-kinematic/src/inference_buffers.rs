use crate::config::KinematicConfig;
use crate::inference_encoder::{EncoderBuffers, InferenceEncoder, grow};
use crate::style::StyleModulation;
use pomp_lanes::{PackedLinear, Scratch};
use std::sync::Arc;

/// What no frame changes.
#[derive(Debug)]
pub(crate) struct Weights {
    pub(crate) config: KinematicConfig,
    pub(crate) encoder: InferenceEncoder,
    pub(crate) condition_input: PackedLinear,
    pub(crate) noisy_input: PackedLinear,
    pub(crate) state_input: Option<PackedLinear>,
    pub(crate) hidden: Vec<PackedLinear>,
    pub(crate) output: PackedLinear,
    /// The share of n in the first layer, row n − 1.
    pub(crate) time_shares: Vec<f32>,
    /// √ᾱ_n and √(1−ᾱ_n), entry n − 1.
    pub(crate) mixes: Vec<(f32, f32)>,
    /// Values from one row of the decoder to the next.
    pub(crate) stride: usize,
    /// The same of conditions and of outputs.
    pub(crate) condition_stride: usize,
    pub(crate) output_stride: usize,
}

/// The samples of one run, and its scratch. Grows to the most samples that there were.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    /// `[sample][x]`.
    pub(crate) x: Vec<f32>,
    /// `[sample]`.
    pub(crate) styles: Vec<Option<Arc<StyleModulation>>>,
    /// y_n, at last y: `[sample][output stride]`.
    pub(crate) y: Vec<f32>,
    /// What a run draws, in the order of the draws: `[sample][draw]`.
    pub(crate) noise: Vec<f32>,
    pub(crate) encoder: EncoderBuffers,
    /// Rows of the decoder, one per sample and expert that runs: how many of each sample, and their shares of the blend.
    pub(crate) rows_of: Vec<usize>,
    pub(crate) blend_weights: Vec<f32>,
    /// `[row][…]`.
    pub(crate) conditions: Vec<f32>,
    pub(crate) shares: Vec<f32>,
    pub(crate) rows: Vec<f32>,
    pub(crate) next_rows: Vec<f32>,
    /// `[sample][…]`.
    pub(crate) common: Vec<f32>,
    pub(crate) state_shares: Vec<f32>,
    pub(crate) blend: Vec<f32>,
    pub(crate) last: Vec<f32>,
    pub(crate) scratch: Scratch,
}

impl Buffers {
    pub(crate) fn new() -> Self {
        let empty = Vec::new;
        Self {
            x: empty(),
            styles: Vec::new(),
            y: empty(),
            noise: empty(),
            encoder: EncoderBuffers::default(),
            rows_of: Vec::new(),
            blend_weights: empty(),
            conditions: empty(),
            shares: empty(),
            rows: empty(),
            next_rows: empty(),
            common: empty(),
            state_shares: empty(),
            blend: empty(),
            last: empty(),
            scratch: Scratch::new(),
        }
    }

    /// Makes room for so many samples.
    pub(crate) fn reserve(&mut self, weights: &Weights, samples: usize) {
        let Weights { config, encoder, stride, condition_stride, output_stride, .. } = weights;
        let rows = samples * config.experts;
        encoder.reserve(&mut self.encoder, samples);
        grow(&mut self.x, samples * config.input_size);
        grow(&mut self.y, samples * output_stride);
        grow(&mut self.last, samples * output_stride);
        grow(&mut self.conditions, rows * condition_stride);
        for of_rows in [&mut self.shares, &mut self.rows, &mut self.next_rows] {
            grow(of_rows, rows * stride);
        }
        for of_samples in [&mut self.common, &mut self.state_shares, &mut self.blend] {
            grow(of_samples, samples * stride);
        }
        self.rows_of.reserve(samples - self.rows_of.len().min(samples));
        self.blend_weights.reserve(rows - self.blend_weights.len().min(rows));
    }
}

/// Puts the weighted sum of the rows in place of the first, which is then the only one.
pub(crate) fn blend_rows(rows: &mut [f32], stride: usize, weights: &[f32]) {
    let (blended, others) = rows.split_at_mut(stride);
    for value in blended.iter_mut() {
        *value *= weights[0];
    }
    for (row, weight) in others.chunks_exact(stride).zip(&weights[1..]) {
        for (blended, value) in blended.iter_mut().zip(row) {
            *blended += weight * value;
        }
    }
}

pub(crate) fn add(target: &mut [f32], other: &[f32]) {
    for (target, other) in target.iter_mut().zip(other) {
        *target += other;
    }
}
