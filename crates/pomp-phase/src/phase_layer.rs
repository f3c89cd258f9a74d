use crate::PeriodicAutoencoderConfig;
use crate::initial_weights::InitialWeights;
use crate::long_convolution::constant;
use crate::spectral_tables::SpectrumTables;
use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData};
use std::f32::consts::TAU;

/// Added to the squared amplitude: the square root has no slope at 0. A silent channel reads 1e-4.
pub(crate) const AMPLITUDE_FLOOR_SQUARED: f32 = 1e-8;
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
    analysis_real: Tensor<2>,
    analysis_imaginary: Tensor<2>,
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
            analysis_real: constant(&tables.analysis.real, weights.device()),
            analysis_imaginary: constant(&tables.analysis.imaginary, weights.device()),
            moments_table: Tensor::from_data(TensorData::new(moments, [2, tables.bins]), weights.device()),
        }
    }

    /// The layer of the shifts: weights `[C, T, 2]` and bias `[C, 2]`.
    pub(crate) fn shift_layer(&self) -> (Tensor<3>, Tensor<2>) {
        (self.shift_weight.val(), self.shift_bias.val())
    }

    /// Curves `[C, T, N]` to parameters.
    pub(crate) fn parameters(&self, latent: Tensor<3>) -> PhaseParameters {
        let [channels, _, windows] = latent.dims();
        let square = |table: &Tensor<2>| {
            let part = table.clone().unsqueeze().matmul(latent.clone());
            part.clone() * part
        };
        let power = square(&self.analysis_real) + square(&self.analysis_imaginary);
        let moments = self.moments_table.clone().unsqueeze().matmul(power);
        let by_window = |values: Tensor<3>| values.reshape([channels, windows]).swap_dims(0, 1);
        let moment = |at: usize| by_window(moments.clone().narrow(1, at, 1));
        let floored = moment(0) + AMPLITUDE_FLOOR_SQUARED;

        let per_channel = self.shift_weight.val().swap_dims(1, 2).matmul(latent.clone());
        let vector = per_channel.permute([2, 0, 1]) + self.shift_bias.val().unsqueeze_dim::<3>(0);
        let length = ((vector.clone() * vector.clone()).sum_dim(2) + SHIFT_FLOOR_SQUARED).sqrt();
        PhaseParameters {
            amplitude: floored.clone().sqrt(),
            frequency_hz: moment(1) / floored,
            offset: by_window(latent.mean_dim(1)),
            shift_xy: vector / length,
        }
    }
}

/// Curves `[C, T, N]` of parameters: a sin(2π(f t + s)) + b at the given times `[1, T, 1]`.
pub(crate) fn curves(parameters: &PhaseParameters, time_s: Tensor<3>) -> Tensor<3> {
    let [windows, channels] = parameters.amplitude.dims();
    let by_channel = |values: Tensor<2>| values.swap_dims(0, 1).reshape([channels, 1, windows]);
    let part =
        |at: usize| by_channel(parameters.shift_xy.clone().narrow(2, at, 1).reshape([windows, channels]));
    let angle = by_channel(parameters.frequency_hz.clone()) * time_s * TAU;
    let wave = angle.clone().sin() * part(0) + angle.cos() * part(1);
    wave * by_channel(parameters.amplitude.clone()) + by_channel(parameters.offset.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spectrum;
    use burn::tensor::Device;

    fn read(
        spectrum: Spectrum,
        amplitude: f32,
        frequency_hz: f32,
        shift: f32,
        offset: f32,
    ) -> (f32, f32, f32) {
        let config = PeriodicAutoencoderConfig { channels: 1, spectrum, ..PeriodicAutoencoderConfig::new(1) };
        let layer = PhaseLayer::new(&config, &mut InitialWeights::new(1, &Device::flex()));
        let curve: Vec<f32> = (0..121)
            .map(|n| amplitude * (TAU * (frequency_hz * config.window.time_s(n) + shift)).sin() + offset)
            .collect();
        let latent = Tensor::from_data(TensorData::new(curve, [1, 121, 1]), &Device::flex());
        let found = layer.parameters(latent);
        (found.amplitude.into_scalar(), found.frequency_hz.into_scalar(), found.offset.into_scalar())
    }

    #[test]
    fn whole_periods_are_read_exactly_by_either_spectrum() {
        for spectrum in [Spectrum::Plain, Spectrum::Hann] {
            for periods in [2.0, 3.0, 7.0, 20.0_f32] {
                let true_hz = periods * 60.0 / 121.0;
                let (a, f, b) = read(spectrum, 0.8, true_hz, 0.3, -0.4);
                assert!((f / true_hz - 1.0).abs() < 1e-4, "{spectrum:?}, {true_hz} Hz: {f}");
                assert!((a - 0.8).abs() < 1e-3 && (b + 0.4).abs() < 1e-4, "{spectrum:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn the_tapered_spectrum_reads_any_sinusoid_from_1_hz_on_within_1_percent_where_the_plain_one_does_not() {
        let mut worst = [0.0_f32; 2];
        for step in 0..60_u8 {
            for shift in [0.0, 0.2, 0.4] {
                let true_hz = 1.0 + 0.067 * f32::from(step);
                for (worst, spectrum) in worst.iter_mut().zip([Spectrum::Hann, Spectrum::Plain]) {
                    let (_, f, _) = read(spectrum, 0.8, true_hz, shift, 0.5);
                    *worst = worst.max((f / true_hz - 1.0).abs());
                }
            }
        }
        println!(
            "worst error of frequency: tapered {:.2} %, plain {:.1} %",
            100.0 * worst[0],
            100.0 * worst[1]
        );
        assert!(worst[0] < 0.01 && worst[1] > 0.1, "{worst:?}");
    }

    #[test]
    fn the_read_parameters_redraw_the_curve() {
        let config = PeriodicAutoencoderConfig { channels: 1, ..PeriodicAutoencoderConfig::new(1) };
        let device = Device::flex();
        let times: Vec<f32> = (0..121).map(|n| config.window.time_s(n)).collect();
        let state = crate::ChannelPhase { amplitude: 0.8, frequency_hz: 1.7, offset: 0.1, shift_turns: -0.3 };
        let parameters = crate::parameters_of(&[crate::PhaseState { channels: vec![state] }], &device)
            .expect("one channel");
        let drawn =
            curves(&parameters, Tensor::from_data(TensorData::new(times.clone(), [1, 121, 1]), &device));
        for (found, t) in drawn.try_into_vec_as::<f32>().expect("floats").iter().zip(times) {
            assert!((found - state.curve(t)).abs() < 1e-5, "the network and the plain state draw one curve");
        }
    }

    #[test]
    fn a_silent_curve_has_finite_gradients_and_an_undecided_shift_too() {
        let device = Device::flex().autodiff();
        let config = PeriodicAutoencoderConfig { channels: 2, ..PeriodicAutoencoderConfig::new(1) };
        let mut layer = PhaseLayer::new(&config, &mut InitialWeights::new(1, &device));
        // Without bias the shift vector of a silent curve is exactly (0, 0), where atan2 has no slope.
        layer.shift_bias = layer.shift_bias.map(|bias| bias.zeros_like());
        let latent = Tensor::<3>::zeros([2, 121, 1], &device).require_grad();
        let found = layer.parameters(latent.clone());
        let everything = found.code().sum() + found.frequency_hz.sum() + found.shift_xy.sum();
        let gradient = latent.grad(&everything.backward()).expect("the curve needs a gradient");
        assert!(gradient.is_finite().all().into_scalar::<bool>());
        assert!(found.amplitude.max().into_scalar::<f32>() < 2e-4);
    }
}
