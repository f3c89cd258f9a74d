//! Tensors and layers drawn from a seeded generator on the host, so that a seed gives the same bytes on
//! every device and with any number of threads.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// `rows` × `columns` standard normal values.
pub(crate) fn normal(rows: usize, columns: usize, device: &Device, rng: &mut ChaCha8Rng) -> Tensor<2> {
    let values: Vec<f32> = (0..rows * columns).map(|_| rng.sample(StandardNormal)).collect();
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}

/// The same, drawn by all threads: every row has a stream of its own of one generator.
pub(crate) fn normal_rows(rows: usize, columns: usize, device: &Device, rng: &mut ChaCha8Rng) -> Tensor<2> {
    let drawn = ChaCha8Rng::from_rng(rng);
    let mut values = vec![0.0f32; rows * columns];
    values.par_chunks_mut(columns.max(1)).enumerate().for_each(|(row, values)| {
        let mut rng = drawn.clone();
        rng.set_stream(row as u64);
        values.fill_with(|| rng.sample(StandardNormal));
    });
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}

/// A dropout mask: 0 with probability `dropped`, 1 / (1 − `dropped`) otherwise.
pub(crate) fn dropout_mask(
    shape: [usize; 3],
    dropped: f64,
    device: &Device,
    rng: &mut ChaCha8Rng,
) -> Tensor<3> {
    let kept = (1.0 / (1.0 - dropped)) as f32;
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|_| if rng.random_bool(dropped) { 0.0 } else { kept }).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Uniform weights of variance `gain`² / `fan_in`, as a parameter.
pub(crate) fn weights<const D: usize>(
    shape: [usize; D],
    fan_in: usize,
    gain: f64,
    device: &Device,
    rng: &mut ChaCha8Rng,
) -> Param<Tensor<D>> {
    let bound = (gain * (3.0 / fan_in as f64).sqrt()) as f32;
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|_| rng.random_range(-bound..=bound)).collect();
    Param::from_data(TensorData::new(values, shape), device)
}

/// Zeros as a parameter.
pub(crate) fn zeros<const D: usize>(shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    let count = shape.iter().product();
    Param::from_data(TensorData::new(vec![0.0f32; count], shape), device)
}

/// A layer with a bias of zero.
pub(crate) fn linear(
    inputs: usize,
    outputs: usize,
    gain: f64,
    device: &Device,
    rng: &mut ChaCha8Rng,
) -> Linear {
    let weight = weights([inputs, outputs], inputs, gain, device, rng);
    Linear { weight, bias: Some(zeros([outputs], device)) }
}

/// A layer without a bias.
pub(crate) fn linear_without_bias(
    inputs: usize,
    outputs: usize,
    gain: f64,
    device: &Device,
    rng: &mut ChaCha8Rng,
) -> Linear {
    Linear { weight: weights([inputs, outputs], inputs, gain, device, rng), bias: None }
}
