//! Skeletal convolution, linear terms of static features, pooling and unpooling.
//!
//! A tensor of features is `[B, T, N C]`: batch, frames, and the C channels of node 0, of node 1, and so on.

use crate::tree::Level;
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Channels of the nodes of a level on both sides of a layer, and how far it reaches.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'a> {
    /// The nodes.
    pub level: &'a Level,
    /// Channels per node that are read and written.
    pub channels: [usize; 2],
    /// Steps along the tree that a node sees.
    pub steps: usize,
    /// Inputs, as node times channels plus channel, that say nothing because they never change.
    pub silent: &'a [usize],
}

impl Reach<'_> {
    fn inputs(&self) -> usize {
        self.level.len() * self.channels[0]
    }

    fn outputs(&self) -> usize {
        self.level.len() * self.channels[1]
    }

    fn joins(&self, input: usize, output: usize) -> bool {
        let (from, to) = (input / self.channels[0], output / self.channels[1]);
        self.level.are_near(from, to, self.steps) && !self.silent.contains(&input)
    }

    /// 1 where a weight of a layer with so many taps may be, `[taps inputs, outputs]`.
    fn mask(&self, taps: usize) -> TensorData {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let rows = (0..taps).flat_map(|_| 0..inputs);
        let values = rows.flat_map(|input| (0..outputs).map(move |output| (input, output)));
        let values: Vec<f32> = values.map(|(i, o)| if self.joins(i, o) { 1.0 } else { 0.0 }).collect();
        TensorData::new(values, [taps * inputs, outputs])
    }

    /// Weights of variance `gain`² over what an output sees, 0 where none may be.
    fn weights(&self, taps: usize, gain: f32, device: &Device, rng: &mut ChaCha8Rng) -> Param<Tensor<2>> {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let bounds: Vec<f32> = (0..outputs)
            .map(|output| {
                let seen = (0..inputs).filter(|&input| self.joins(input, output)).count() * taps;
                gain * (3.0 / seen.max(1) as f32).sqrt()
            })
            .collect();
        let mut values = Vec::with_capacity(taps * inputs * outputs);
        for row in 0..taps * inputs {
            for (output, bound) in bounds.iter().enumerate() {
                let value = rng.random_range(-1.0_f32..=1.0) * bound;
                values.push(if self.joins(row % inputs, output) { value } else { 0.0 });
            }
        }
        Param::from_data(TensorData::new(values, [taps * inputs, outputs]), device)
    }
}

/// A convolution over time whose every output node sees the nodes of its neighbourhood alone, with weights of its own.
#[derive(Module, Debug)]
pub struct SkeletalConvolution {
    /// `[taps N C_in, N C_out]`, 0 between nodes that are not near.
    pub weight: Param<Tensor<2>>,
    /// `[N C_out]`.
    pub bias: Param<Tensor<1>>,
    #[module(skip)]
    mask: TensorData,
    #[module(skip)]
    taps: usize,
    #[module(skip)]
    stride: usize,
}

impl SkeletalConvolution {
    /// A layer of `taps` frames, an odd number, which takes every `stride`th (1 or 2).
    pub fn new(
        reach: Reach<'_>,
        [taps, stride]: [usize; 2],
        gain: f32,
        device: &Device,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let bias = TensorData::new(vec![0.0_f32; reach.outputs()], [reach.outputs()]);
        Self {
            weight: reach.weights(taps, gain, device, rng),
            bias: Param::from_data(bias, device),
            mask: reach.mask(taps),
            taps,
            stride,
        }
    }

    /// `[B, T, N C_in]` → `[B, T / stride, N C_out]`. Before the first frame stands the first, after the last the last.
    pub fn forward(&self, input: &Tensor<3>) -> Tensor<3> {
        let [batch, frames, width] = input.dims();
        let half = self.taps / 2;
        let edge = |at: usize, count: usize| {
            input.clone().slice([0..batch, at..at + 1, 0..width]).repeat_dim(1, count)
        };
        // One frame more at the end makes an even number for a stride of 2.
        let padded = if half == 0 && self.stride == 1 {
            input.clone()
        } else {
            Tensor::cat(vec![edge(0, half), input.clone(), edge(frames - 1, half + frames % 2)], 1)
        };
        let outputs = frames / self.stride;
        let taps: Vec<Tensor<3>> = (0..self.taps)
            .map(|tap| {
                if self.stride == 1 {
                    return padded.clone().slice([0..batch, tap..tap + outputs, 0..width]);
                }
                // Even and odd frames beside each other.
                let pairs = padded.dims()[1] / 2;
                let halves = padded.clone().slice([0..batch, 0..2 * pairs, 0..width]).reshape([
                    batch,
                    pairs,
                    2 * width,
                ]);
                let (first, column) = (tap / 2, (tap % 2) * width);
                halves.slice([0..batch, first..first + outputs, column..column + width])
            })
            .collect();
        let seen = Tensor::cat(taps, 2).reshape([batch * outputs, self.taps * width]);
        let weight = self.weight.val() * Tensor::from_data(self.mask.clone(), &seen.device());
        let found = seen.matmul(weight) + self.bias.val().unsqueeze::<2>();
        let width = found.dims()[1];
        found.reshape([batch, outputs, width])
    }

    /// Whether a weight, numbered row by row, joins nodes that are near.
    pub fn may_be(&self, weight: usize) -> bool {
        self.mask.as_slice::<f32>().expect("the mask is made of numbers")[weight] > 0.0
    }
}

/// A linear map of static features within the neighbourhood.
#[derive(Module, Debug)]
pub struct SkeletalLinear {
    /// `[N C_in, N C_out]`, 0 between nodes that are not near.
    pub weight: Param<Tensor<2>>,
    #[module(skip)]
    mask: TensorData,
}

impl SkeletalLinear {
    /// A layer without a bias: what it is added to has one.
    pub fn new(reach: Reach<'_>, gain: f32, device: &Device, rng: &mut ChaCha8Rng) -> Self {
        Self { weight: reach.weights(1, gain, device, rng), mask: reach.mask(1) }
    }

    /// `[B, N C_in]` → `[B, N C_out]`.
    pub fn forward(&self, input: &Tensor<2>) -> Tensor<2> {
        let weight = self.weight.val() * Tensor::from_data(self.mask.clone(), &input.device());
        input.clone().matmul(weight)
    }

    /// Whether a weight, numbered row by row, joins nodes that are near.
    pub fn may_be(&self, weight: usize) -> bool {
        self.mask.as_slice::<f32>().expect("the mask is made of numbers")[weight] > 0.0
    }
}

/// The matrix that takes the features of the level below to the mean over the members of each node, `[below C, N C]`.
pub fn pooling(level: &Level, below: usize, channels: usize) -> TensorData {
    between(level, below, channels, |members| 1.0 / members as f32, false)
}

/// The matrix that gives every member the features of its node, `[N C, below C]`.
pub fn unpooling(level: &Level, below: usize, channels: usize) -> TensorData {
    between(level, below, channels, |_| 1.0, true)
}

fn between(
    level: &Level,
    below: usize,
    channels: usize,
    share: impl Fn(usize) -> f32,
    is_transposed: bool,
) -> TensorData {
    let (rows, columns) = (below * channels, level.len() * channels);
    let mut values = vec![0.0; rows * columns];
    for (node, members) in level.members.iter().enumerate() {
        for &member in members {
            for channel in 0..channels {
                let (row, column) = (member * channels + channel, node * channels + channel);
                let at = if is_transposed { column * rows + row } else { row * columns + column };
                values[at] = share(members.len());
            }
        }
    }
    TensorData::new(values, if is_transposed { [columns, rows] } else { [rows, columns] })
}

/// Twice as many frames, linearly between those of the input.
pub fn upsampled(input: &Tensor<3>) -> Tensor<3> {
    let [batch, frames, width] = input.dims();
    let part = |from: usize, to: usize| input.clone().slice([0..batch, from..to, 0..width]);
    let before = Tensor::cat(vec![part(0, 1), part(0, frames - 1)], 1);
    let after = Tensor::cat(vec![part(1, frames), part(frames - 1, frames)], 1);
    let near = input.clone() * 0.75;
    let halves = vec![near.clone() + before * 0.25, near + after * 0.25];
    Tensor::cat(halves, 2).reshape([batch, 2 * frames, width])
}
