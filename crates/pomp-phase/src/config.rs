use crate::{PhaseError, WindowConfig};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_tensors::{AdamWSettings, adamw};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How amplitude and frequency are read from a latent curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spectrum {
    /// The plain Fourier transform of DeepPhase (eq. 2-3). It is exact for whole numbers of periods per window; in
    /// between, leakage into high bins raises the mean frequency.
    Plain,
    /// The curve is first faded out towards both ends of the window (ours). Leakage then falls with the sixth power of the
    /// distance in bins, so the mean frequency of any sinusoid above 1 Hz is accurate within 1 %.
    #[default]
    Hann,
}

/// Most joints, channels and intermediate channels; no size that is computed from them overflows.
const MOST_CHANNELS: usize = 10_000;

/// Sizes of the periodic autoencoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeriodicAutoencoderConfig {
    /// Joints J of the skeleton; the input has 3J rows.
    pub joints: usize,
    /// Number of phase channels C, 5 by default: enough for two-legged motion; use 8 to 10 for dance or many styles. Too
    /// few channels mix motions of different timing; with too many, motions share little.
    pub channels: usize,
    /// Number of channels between the two convolutions, J by default.
    pub intermediate: usize,
    /// Kernel size of every convolution, odd, 121 by default: the whole window. At most twice the window minus one:
    /// further taps would not overlap any frame.
    pub kernel: usize,
    /// The window.
    pub window: WindowConfig,
    /// How amplitude and frequency are read.
    pub spectrum: Spectrum,
}

impl PeriodicAutoencoderConfig {
    /// The sizes of DeepPhase for a skeleton of J joints.
    pub fn new(joints: usize) -> Self {
        Self {
            joints,
            channels: 5,
            intermediate: joints,
            kernel: 121,
            window: WindowConfig::default(),
            spectrum: Spectrum::default(),
        }
    }

    /// # Errors
    /// [`PhaseError::OutOfRange`] names the field.
    pub fn validate(&self) -> Result<(), PhaseError> {
        Ok(self.check(&Fields::root())?)
    }

    /// Numbers that a file of the network holds: weights, biases and running statistics.
    ///
    /// # Errors
    /// As [`Self::validate`].
    pub fn stored_numbers(&self) -> Result<usize, PhaseError> {
        self.validate()?;
        let (rows, channels, inner) = (3 * self.joints, self.channels, self.intermediate);
        let convolution = |inputs: usize, outputs: usize| outputs * (inputs * self.kernel + 1);
        let batch_norm = |width: usize| 4 * width;
        let shifts = channels * 2 * (self.window.frames() + 1);
        let encoder = convolution(rows, inner) + convolution(inner, channels) + shifts;
        let decoder = convolution(channels, inner) + convolution(inner, rows);
        Ok(encoder + decoder + 2 * batch_norm(inner) + batch_norm(channels))
    }
}

impl Validate for PeriodicAutoencoderConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        self.window.check(&fields.section("window"))?;
        fields.within("joints", self.joints, 1..=MOST_CHANNELS)?;
        fields.within("channels", self.channels, 1..=MOST_CHANNELS)?;
        fields.within("intermediate", self.intermediate, 1..=MOST_CHANNELS)?;
        let odd = !self.kernel.is_multiple_of(2);
        fields.holds(odd, "kernel", self.kernel, "an odd number of taps, so that there is a middle one")?;
        let overlaps = self.kernel < 2 * self.window.frames();
        fields.holds(
            overlaps,
            "kernel",
            self.kernel,
            "at most twice as many taps as the window has frames, less one",
        )
    }
}

/// How the autoencoders are trained (DeepPhase §3.3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseTrainingConfig {
    /// Learning rate of AdamW. With a larger rate training is faster, but phases jitter more.
    pub learning_rate: f64,
    /// Decoupled weight decay.
    pub weight_decay: f32,
    /// Number of windows per step.
    pub batch_size: usize,
    /// Number of passes over the windows.
    pub epochs: usize,
}

impl Default for PhaseTrainingConfig {
    fn default() -> Self {
        Self { learning_rate: 1e-4, weight_decay: 1e-4, batch_size: 32, epochs: 30 }
    }
}

impl PhaseTrainingConfig {
    /// AdamW with the configured decay and the usual momenta; the learning rate is given to each step.
    pub fn optimizer(&self) -> burn::optim::ModuleOptimizer {
        adamw(&AdamWSettings { weight_decay: self.weight_decay, epsilon: 1e-8, clipping: None })
    }
}
