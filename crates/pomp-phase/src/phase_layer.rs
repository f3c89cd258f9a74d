use crate::PeriodicAutoencoderConfig;
use crate::initial_weights::InitialWeights;
use crate::long_convolution::constant;
use crate::spectral_tables::SpectrumTables;
use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData};
use std::f32::consts::TAU;

/// Added to the squared amplitude: the square root has no slope at 0. A silent channel reads 1e-4.
const AMPLITUDE_FLOOR_SQUARED: f32 = 1e-8;
/// Added to the squared length of shift vectors, so that their direction has a slope at the origin.
const SHIFT_FLOOR_SQUARED: f32 = 1e-6;

/// Phase parameters of a batch of N windows with C channels, as tensors.
#[derive(Clone, Debug)]
pub struct PhaseParameters {
    /// Amplitudes a `[N, C]`.
    pub amplitude: Tensor<2>,
    /// Frequencies f, Hz `[N, C]`.
    pub frequency_hz: Tensor<2>,
    /// Offsets b `[N, C]`.
    pub offset: Tensor<2>,
    /// `[N, C, 2]`: cos 2πs and sin 2πs of the shift s. The angle itself is never taken in the network, so
    /// gradients are finite everywhere and nothing jumps at half a turn.
    pub shift_xy: Tensor<3>,
}

impl PhaseParameters {
    /// Phase codes pe `[N, 2C]`: pe(2c) = a cos 2πs, pe(2c+1) = a sin 2πs.
    pub fn code(&self) -> Tensor<2> {
        let [windows, channels] = self.amplitude.dims();
        (self.amplitude.clone().unsqueeze_dim::<3>(2) * self.shift_xy.clone())
            .reshape([windows, 2 * channels])
    }

    /// The same values without their gradients.
    #[must_use]
    pub fn detach(self) -> Self {
        Self {
            amplitude: self.amplitude.detach(),
            frequency_hz: self.frequency_hz.detach(),
            offset: self.offset.detach(),
            shift_xy: self.shift_xy.detach(),
        }
    }
}

/// Latent curves to phase parameters (DeepPhase eq. 2-4) and back (eq. 5).
#[derive(Module, Debug)]
pub(crate) struct PhaseLayer {
    /// `[C, T, 2]`: the fully connected layer of each channel's shift.
    shift_weight: Param<Tensor<3>>,
    /// `[C, 2]`.
    shift_bias: Param<Tensor<2>>,
    analysis_table: Tensor<2>,
    /// `[2, K]`: a row of ones and a row of frequencies.
    moments_table: Tensor<2>,
}

impl PhaseLayer {
    pub(crate) fn new(config: &PeriodicAutoencoderConfig, weights: &mut InitialWeights) -> Self {
        let frames = config.window.frames();
        let tables = SpectrumTables::new(frames, config.window.frame_rate_hz, config.spectrum);
        let mut moments = vec![1.0; tables.bins];
        moments.extend(&tables.frequency_hz);
        Self {
            shift_weight: weights.uniform([config.channels, frames, 2], frames),
            shift_bias: weights.uniform([config.channels, 2], frames),
            analysis_table: constant(&tables.analysis, weights.device()),
            moments_table: Tensor::from_data(TensorData::new(moments, [2, tables.bins]), weights.device()),
        }
    }

    /// Curves `[T, N, C]` to parameters.
    pub(crate) fn parameters(&self, latent: Tensor<3>) -> PhaseParameters {
        let [frames, windows, channels] = latent.dims();
        let [_, bins] = self.moments_table.dims();
        let curves = latent.clone().reshape([frames, windows * channels]);
        let spectrum = self.analysis_table.clone().matmul(curves.clone());
        let squares = spectrum.clone() * spectrum;
        let power = squares.clone().narrow(0, 0, bins) + squares.narrow(0, bins, bins);
        let moments = self.moments_table.clone().matmul(power);
        let row = |at: usize| moments.clone().narrow(0, at, 1).reshape([windows, channels]);
        let floored = row(0) + AMPLITUDE_FLOOR_SQUARED;

        let per_channel = latent.permute([2, 1, 0]).matmul(self.shift_weight.val());
        let vector = per_channel.swap_dims(0, 1) + self.shift_bias.val().unsqueeze_dim::<3>(0);
        let length = ((vector.clone() * vector.clone()).sum_dim(2) + SHIFT_FLOOR_SQUARED).sqrt();
        PhaseParameters {
            amplitude: floored.clone().sqrt(),
            frequency_hz: row(1) / floored,
            offset: curves.mean_dim(0).reshape([windows, channels]),
            shift_xy: vector / length,
        }
    }
}

/// Curves `[T, N, C]` of parameters: a sin(2π(f t + s)) + b at the given times `[T, 1, 1]`.
pub(crate) fn curves(parameters: &PhaseParameters, time_s: Tensor<3>) -> Tensor<3> {
    let [windows, channels] = parameters.amplitude.dims();
    let row = |values: Tensor<2>| values.reshape([1, windows, channels]);
    let part = |at: usize| parameters.shift_xy.clone().narrow(2, at, 1).reshape([1, windows, channels]);
    let angle = row(parameters.frequency_hz.clone()) * time_s * TAU;
    let wave = angle.clone().sin() * part(0) + angle.cos() * part(1);
    wave * row(parameters.amplitude.clone()) + row(parameters.offset.clone())
}
