use crate::initial_weights::InitialWeights;
use crate::long_convolution::{KernelSpectrum, LongConvolution};
use crate::phase_layer::{PhaseLayer, PhaseParameters, curves};
use crate::{PeriodicAutoencoderConfig, PhaseError};
use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_tensors::{Tanh, nonlinear};
use std::ops::Range;

/// Velocities to phase parameters: two long convolutions, each followed by batch norm and tanh, then the phase layer.
///
/// The clean and the aligned encoder have this one shape.
#[derive(Module, Debug)]
pub struct PeriodicEncoder {
    pub(crate) first: LongConvolution,
    pub(crate) first_norm: BatchNorm,
    pub(crate) second: LongConvolution,
    pub(crate) second_norm: BatchNorm,
    pub(crate) phase: PhaseLayer,
}

/// Kernels of an encoder or decoder per frequency, computed once for weights that do not change.
#[derive(Clone, Debug)]
pub(crate) struct KernelSpectra {
    first: KernelSpectrum,
    second: KernelSpectrum,
}

impl PeriodicEncoder {
    fn new(config: &PeriodicAutoencoderConfig, weights: &mut InitialWeights) -> Self {
        let (frames, taps) = (config.window.frames(), config.kernel);
        Self {
            first: LongConvolution::new(frames, taps, 3 * config.joints, config.intermediate, weights),
            first_norm: BatchNormConfig::new(config.intermediate).init(weights.device()),
            second: LongConvolution::new(frames, taps, config.intermediate, config.channels, weights),
            second_norm: BatchNormConfig::new(config.channels).init(weights.device()),
            phase: PhaseLayer::new(config, weights),
        }
    }

    pub(crate) fn kernel_spectra(&self) -> KernelSpectra {
        KernelSpectra { first: self.first.kernel_spectrum(), second: self.second.kernel_spectrum() }
    }

    /// Latent curves `[C, T, N]` of a [`signal_of`] windows.
    pub(crate) fn latent_with(&self, signal: Tensor<3>, kernels: &KernelSpectra) -> Tensor<3> {
        let hidden = self.first.apply(signal, &kernels.first);
        let hidden = squashed(&self.first_norm, hidden);
        squashed(&self.second_norm, self.second.apply(hidden, &kernels.second))
    }

    pub(crate) fn parameters(&self, latent: Tensor<3>) -> PhaseParameters {
        self.phase.parameters(latent)
    }

    /// Phase parameters of windows `[N, 3J, T]`: velocities in m/s, root frame, less their mean over the window.
    ///
    /// On an autodiff device an encoder that trains normalises by the batch and moves its running statistics.
    pub fn encode(&self, windows: Tensor<3>) -> PhaseParameters {
        self.encode_signal(signal_of(windows))
    }

    /// As [`Self::encode`], of a [`signal_of`] windows.
    pub(crate) fn encode_signal(&self, signal: Tensor<3>) -> PhaseParameters {
        self.parameters(self.latent_with(signal, &self.kernel_spectra()))
    }
}

/// Phase parameters to velocities: sinusoids, then two long convolutions, the first followed by batch norm and tanh.
#[derive(Module, Debug)]
pub struct PeriodicDecoder {
    pub(crate) first: LongConvolution,
    pub(crate) first_norm: BatchNorm,
    pub(crate) second: LongConvolution,
    /// `[1, T, 1]`, seconds from the window's centre.
    time_s: Tensor<3>,
}

impl PeriodicDecoder {
    fn new(config: &PeriodicAutoencoderConfig, weights: &mut InitialWeights) -> Self {
        let (frames, taps) = (config.window.frames(), config.kernel);
        let times: Vec<f32> = (0..frames).map(|index| config.window.time_s(index)).collect();
        Self {
            first: LongConvolution::new(frames, taps, config.channels, config.intermediate, weights),
            first_norm: BatchNormConfig::new(config.intermediate).init(weights.device()),
            second: LongConvolution::new(frames, taps, config.intermediate, 3 * config.joints, weights),
            time_s: Tensor::from_data(TensorData::new(times, [1, frames, 1]), weights.device()),
        }
    }

    pub(crate) fn kernel_spectra(&self) -> KernelSpectra {
        KernelSpectra { first: self.first.kernel_spectrum(), second: self.second.kernel_spectrum() }
    }

    pub(crate) fn decode_with(&self, parameters: &PhaseParameters, kernels: &KernelSpectra) -> Tensor<3> {
        self.signal_with(parameters, kernels).permute([2, 0, 1])
    }

    /// The [`signal_of`] the decoded windows.
    pub(crate) fn signal_with(&self, parameters: &PhaseParameters, kernels: &KernelSpectra) -> Tensor<3> {
        self.second.apply(self.hidden_with(parameters, kernels), &kernels.second)
    }

    /// Velocities `[R, N, 3J]` at the frames of `kept`, and in the last row their mean over the frames of `averaged`: a
    /// fraction of the work when a fraction of the frames is wanted.
    pub(crate) fn decode_frames_with(
        &self,
        parameters: &PhaseParameters,
        kernels: &KernelSpectra,
        kept: Range<usize>,
        averaged: Range<usize>,
    ) -> Tensor<3> {
        let hidden = self.hidden_with(parameters, kernels);
        let rows = self.second.synthesis_rows(kept, averaged);
        self.second.apply_rows(hidden, &kernels.second, &rows).permute([1, 2, 0])
    }

    fn hidden_with(&self, parameters: &PhaseParameters, kernels: &KernelSpectra) -> Tensor<3> {
        let hidden = self.first.apply(curves(parameters, self.time_s.clone()), &kernels.first);
        squashed(&self.first_norm, hidden)
    }

    /// As [`Self::decode`], the [`signal_of`] the windows.
    pub(crate) fn decode_signal(&self, parameters: &PhaseParameters) -> Tensor<3> {
        self.signal_with(parameters, &self.kernel_spectra())
    }

    /// Velocities over the window `[N, 3J, T]`, m/s, without their mean.
    pub fn decode(&self, parameters: &PhaseParameters) -> Tensor<3> {
        self.decode_with(parameters, &self.kernel_spectra())
    }
}

/// Windows `[N, channels, T]` as a signal `[channels, T, N]`, laid out so: every later step reads it along its rows.
pub(crate) fn signal_of(windows: Tensor<3>) -> Tensor<3> {
    let [count, channels, frames] = windows.dims();
    // A reshape copies what is only a view.
    windows.permute([1, 2, 0]).reshape([channels, frames * count]).reshape([channels, frames, count])
}

/// tanh of the batch norm of a signal `[channels, T, N]` over all frames of all windows.
///
/// Normalising each window by itself would make standing still as loud as running; over the batch, a quiet
/// window stays quiet and its phase goes to the manifold's origin.
fn squashed(norm: &BatchNorm, signal: Tensor<3>) -> Tensor<3> {
    let [channels, frames, windows] = signal.dims();
    let normalised = norm.forward(signal.reshape([1, channels, frames * windows]));
    nonlinear::<Tanh, 3>(normalised).reshape([channels, frames, windows])
}

/// The periodic autoencoder (DeepPhase §3): motion windows in, the same windows out, with nothing but sinusoids between.
#[derive(Module, Debug)]
pub struct PeriodicAutoencoder {
    /// Velocities to phases.
    pub encoder: PeriodicEncoder,
    /// Phases to velocities.
    pub decoder: PeriodicDecoder,
}

/// What the autoencoder makes of a batch of N windows.
#[derive(Clone, Debug)]
pub struct PhaseOutput {
    /// Reconstructed windows `[N, 3J, T]`, m/s.
    pub reconstruction: Tensor<3>,
    /// Latent curves before they are made sinusoids `[N, C, T]`.
    pub latent: Tensor<3>,
    /// Phase parameters.
    pub parameters: PhaseParameters,
}

impl PeriodicAutoencoder {
    /// Fresh weights; the same seed gives the same bytes, whatever other threads do. On an autodiff device
    /// the weights can be trained.
    ///
    /// # Errors
    /// [`PhaseError::OutOfRange`].
    pub fn new(config: &PeriodicAutoencoderConfig, seed: u64, device: &Device) -> Result<Self, PhaseError> {
        config.validate()?;
        let mut weights = InitialWeights::new(seed, device);
        Ok(Self {
            encoder: PeriodicEncoder::new(config, &mut weights),
            decoder: PeriodicDecoder::new(config, &mut weights),
        })
    }

    /// Encodes and decodes windows `[N, 3J, T]`: velocities in m/s, root frame, less their mean over the window.
    pub fn forward(&self, windows: Tensor<3>) -> PhaseOutput {
        let latent = self.encoder.latent_with(signal_of(windows), &self.encoder.kernel_spectra());
        let parameters = self.encoder.parameters(latent.clone());
        PhaseOutput {
            reconstruction: self.decoder.decode(&parameters),
            latent: latent.permute([2, 0, 1]),
            parameters,
        }
    }

    /// See [`PeriodicEncoder::encode`].
    pub fn encode(&self, windows: Tensor<3>) -> PhaseParameters {
        self.encoder.encode(windows)
    }

    /// See [`PeriodicDecoder::decode`].
    pub fn decode_parameters(&self, parameters: &PhaseParameters) -> Tensor<3> {
        self.decoder.decode(parameters)
    }
}
