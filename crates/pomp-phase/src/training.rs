use crate::autoencoder::signal_of;
use crate::manifold::expect_size;
use crate::{PeriodicAutoencoder, PeriodicEncoder, PhaseError, PhaseParameters, VelocityWindow};
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stacks windows into a batch `[N, 3J, T]`.
///
/// # Errors
/// [`PhaseError::SizeMismatch`] when windows differ in size or there is none.
pub fn window_batch(windows: &[&VelocityWindow], device: &Device) -> Result<Tensor<3>, PhaseError> {
    let Some(first) = windows.first() else {
        return Err(PhaseError::SizeMismatch { what: "windows of a batch", expected: 1, found: 0 });
    };
    let mut values = Vec::with_capacity(windows.len() * first.values().len());
    for window in windows {
        expect_size("joints of a window", first.joints(), window.joints())?;
        expect_size("frames of a window", first.frames(), window.frames())?;
        values.extend_from_slice(window.values());
    }
    let shape = [windows.len(), 3 * first.joints(), first.frames()];
    Ok(Tensor::from_data(TensorData::new(values, shape), device))
}

/// The loss of the periodic autoencoder: mean squared error between windows `[N, 3J, T]` and their
/// reconstruction, m²/s² (DeepPhase eq. 7).
pub fn pae_loss(model: &PeriodicAutoencoder, windows: Tensor<3>) -> Tensor<1> {
    let signal = signal_of(windows);
    let parameters = model.encoder.encode_signal(signal.clone());
    mean_square_distance(model.decoder.decode_signal(&parameters), signal)
}

fn mean_square_distance(found: Tensor<3>, wanted: Tensor<3>) -> Tensor<1> {
    let difference = found - wanted;
    (difference.clone() * difference).mean()
}

/// Weights of the parts of the aligned encoder's loss (ours: the paper's loss is not known).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlignedLossWeights {
    /// Weight of the squared distance of phase codes, 1 by default: the main objective.
    pub code: f32,
    /// Weight of the squared distance of amplitudes, 0.1 by default; the code already contains the amplitude.
    pub amplitude: f32,
    /// Weight of the squared distance of frequencies, Hz², 0.1 by default. The distance is scaled by the clean amplitude,
    /// since the frequency of a silent channel has no meaning.
    pub frequency: f32,
    /// Weight of the squared distance of offsets, 0.1 by default.
    pub offset: f32,
    /// Weight of the mean squared error of the velocities that the frozen decoder reconstructs, m²/s², 1 by default.
    pub reconstruction: f32,
}

impl Default for AlignedLossWeights {
    fn default() -> Self {
        Self { code: 1.0, amplitude: 0.1, frequency: 0.1, offset: 0.1, reconstruction: 1.0 }
    }
}

/// The parts of the aligned encoder's loss, unweighted, and their weighted sum; scalars.
#[derive(Clone, Debug)]
pub struct AlignedLoss {
    /// What is minimised.
    pub total: Tensor<1>,
    /// Mean over windows of the squared distance of phase codes.
    pub code: Tensor<1>,
    /// Mean over windows of the squared distance of amplitudes.
    pub amplitude: Tensor<1>,
    /// The same of frequencies, Hz², weighed by clean amplitudes.
    pub frequency: Tensor<1>,
    /// The same of offsets.
    pub offset: Tensor<1>,
    /// Mean squared error of velocities, m²/s².
    pub reconstruction: Tensor<1>,
}

/// The trained autoencoder as the teacher of the aligned encoder: nothing in it trains or moves any more.
#[derive(Clone, Debug)]
pub struct CleanPrior {
    frozen: PeriodicAutoencoder,
}

impl CleanPrior {
    /// Freezes a trained autoencoder; the given one is left as it is.
    pub fn new(trained: &PeriodicAutoencoder) -> Self {
        Self { frozen: trained.valid().train().freeze() }
    }

    /// A copy of the clean encoder to start the aligned one from; it trains, and shares nothing with the prior.
    pub fn aligned_encoder(&self) -> PeriodicEncoder {
        self.frozen.encoder.valid().train().unfreeze()
    }

    /// Phase parameters of clean windows `[N, 3J, T]`: what the aligned encoder is to reach.
    pub fn targets(&self, clean: Tensor<3>) -> PhaseParameters {
        self.targets_of(signal_of(clean))
    }

    fn targets_of(&self, clean: Tensor<3>) -> PhaseParameters {
        self.frozen.encoder.encode_signal(clean).detach()
    }

    /// Loss of an aligned encoder on stitched windows `[N, 3J, T]` against the clean windows of the same frames.
    pub fn aligned_loss(
        &self,
        aligned: &PeriodicEncoder,
        stitched: Tensor<3>,
        clean: Tensor<3>,
        weights: &AlignedLossWeights,
    ) -> AlignedLoss {
        let clean = signal_of(clean);
        let target = self.targets_of(clean.clone());
        let reached = aligned.encode(stitched);
        let square = |difference: Tensor<2>| difference.clone() * difference;
        let mean = |squares: Tensor<2>| squares.sum_dim(1).mean();
        let code = mean(square(reached.code() - target.code()));
        let amplitude = mean(square(reached.amplitude.clone() - target.amplitude.clone()));
        let frequency = mean(square(reached.frequency_hz.clone() - target.frequency_hz) * target.amplitude);
        let offset = mean(square(reached.offset.clone() - target.offset));
        let reconstruction = mean_square_distance(self.frozen.decoder.decode_signal(&reached), clean);
        let total = code.clone() * weights.code
            + amplitude.clone() * weights.amplitude
            + frequency.clone() * weights.frequency
            + offset.clone() * weights.offset
            + reconstruction.clone() * weights.reconstruction;
        AlignedLoss { total, code, amplitude, frequency, offset, reconstruction }
    }
}
