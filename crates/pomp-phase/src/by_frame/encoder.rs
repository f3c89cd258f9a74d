use super::padded;
use super::phases::PhaseReading;
use super::plain_convolution::PlainConvolution;
use super::spectral_convolution::SpectralConvolution;
use crate::manifold::expect_size;
use crate::{ChannelPhase, PeriodicAutoencoderConfig, PeriodicEncoder, PhaseError, PhaseState};
use pomp_lanes::Lanes;
use pomp_motion::glam::Vec3;
use pomp_tensors::{Tanh, nonlinear_in_place};

/// A trained encoder, clean or aligned, as the closed loop runs it: a window per frame, no allocation.
///
/// Agrees with [`WindowEncoder`](crate::WindowEncoder) to f32 rounding.
#[derive(Clone, Debug)]
pub struct FrameEncoder {
    pub(super) lanes: Lanes,
    joints: usize,
    frames: usize,
    channels: usize,
    first: SpectralConvolution,
    second: SpectralConvolution,
    phases: PhaseReading,
    /// A row of padded velocities per frame, less their mean.
    window: Vec<f32>,
    mean: Vec<f32>,
    hidden: Vec<f32>,
    latent: Vec<f32>,
}

impl FrameEncoder {
    /// Packs a trained encoder; `config` is the one that it was made with.
    ///
    /// # Errors
    /// [`PhaseError::OutOfRange`]; [`PhaseError::SizeMismatch`] when the encoder has other sizes;
    /// [`PhaseError::NotFinite`] for a weight that is not finite.
    pub fn new(encoder: &PeriodicEncoder, config: &PeriodicAutoencoderConfig) -> Result<Self, PhaseError> {
        config.validate()?;
        let first = PlainConvolution::new(&encoder.first, Some(&encoder.first_norm))?;
        let second = PlainConvolution::new(&encoder.second, Some(&encoder.second_norm))?;
        expect_size("rows of an encoder's windows", 3 * config.joints, first.inputs)?;
        expect_size("channels of an encoder", config.channels, second.outputs)?;
        let [channels, frames, _] = encoder.phase.shift_layer().0.dims();
        expect_size("channels of an encoder's shifts", config.channels, channels)?;
        expect_size("frames of an encoder's windows", config.window.frames(), frames)?;
        let radius = config.window.radius_frames;
        let convolution = |weights: &PlainConvolution| SpectralConvolution::new(weights, radius, radius, 1);
        let (first, second) = (convolution(&first), convolution(&second));
        let width = padded(3 * config.joints);
        Ok(Self {
            lanes: Lanes::detect(),
            joints: config.joints,
            frames,
            channels,
            window: vec![0.0; frames * width],
            mean: vec![0.0; width],
            hidden: vec![0.0; frames * first.output_width()],
            latent: vec![0.0; frames * second.output_width()],
            first,
            second,
            phases: PhaseReading::new(&encoder.phase, config),
        })
    }

    /// The phases of a window whose frame `index` has the velocities `row(index)`, m/s, one per joint, each frame in its own
    /// root frame. `state` is overwritten.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`] for a row of another number of joints; [`PhaseError::NotFinite`] for a velocity that
    /// is not finite (frame as row, joint as column), and when velocities are so large that the result is not.
    pub fn encode<'a>(
        &mut self,
        row: impl Fn(usize) -> &'a [Vec3],
        state: &mut PhaseState,
    ) -> Result<(), PhaseError> {
        let width = self.mean.len();
        self.mean.fill(0.0);
        for (frame, cells) in self.window.chunks_exact_mut(width).enumerate() {
            let velocities = row(frame);
            expect_size("joints of a velocity window", self.joints, velocities.len())?;
            if let Some(column) = velocities.iter().position(|velocity| !velocity.is_finite()) {
                return Err(PhaseError::NotFinite { what: "joint velocities", row: frame, column });
            }
            for (cells, velocity) in cells.chunks_exact_mut(3).zip(velocities) {
                cells.copy_from_slice(&velocity.to_array());
            }
            for (mean, cell) in self.mean.iter_mut().zip(cells) {
                *mean += *cell;
            }
        }
        for mean in &mut self.mean {
            *mean /= self.frames as f32;
        }
        for cells in self.window.chunks_exact_mut(width) {
            for (cell, mean) in cells.iter_mut().zip(&self.mean) {
                *cell -= mean;
            }
        }
        self.first.apply(self.lanes, (&self.window, width), &mut self.hidden);
        nonlinear_in_place::<Tanh>(self.lanes, &mut self.hidden);
        let hidden_width = self.first.output_width();
        self.second.apply(self.lanes, (&self.hidden, hidden_width), &mut self.latent);
        nonlinear_in_place::<Tanh>(self.lanes, &mut self.latent);
        state.channels.resize(self.channels, ChannelPhase::default());
        self.phases.read(self.lanes, &self.latent, &mut state.channels);
        state.check_finite()
    }
}
