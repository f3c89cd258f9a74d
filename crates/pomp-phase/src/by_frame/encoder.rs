use super::phases::{PhaseReading, ReadingScratch};
use super::plain_convolution::PlainConvolution;
use super::spectral_convolution::{ConvolutionScratch, SpectralConvolution, Windows};
use super::{CHARACTERS_AT_ONCE, grow, padded};
use crate::manifold::expect_size;
use crate::{ChannelPhase, PeriodicAutoencoderConfig, PeriodicEncoder, PhaseError, PhaseState};
use pomp_lanes::{Lanes, Work};
use pomp_motion::glam::Vec3;
use pomp_tensors::{Tanh, nonlinear_in_place};
use std::sync::Arc;

/// A trained encoder, clean or aligned, as the closed loop runs it: windows of a frame, no allocation.
///
/// Agrees with [`WindowEncoder`](crate::WindowEncoder) to f32 rounding. A clone shares the packed weights.
///
/// [`Self::encode`] reads one window. For many characters at once each adds its window with [`Self::add`], one [`Self::run`]
/// reads the weights for all of them, and each takes its phases with [`Self::read`]. Phases are the same bytes in any company.
#[derive(Clone, Debug)]
pub struct FrameEncoder {
    pub(super) lanes: Lanes,
    weights: Arc<Weights>,
    /// Windows that were added.
    count: usize,
    /// Of each character a row of padded velocities per frame, less their mean.
    windows: Vec<f32>,
    mean: Vec<f32>,
    /// What was read, one character after the other.
    channels: Vec<ChannelPhase>,
    hidden: Vec<f32>,
    latent: Vec<f32>,
    convolution: ConvolutionScratch,
    reading: ReadingScratch,
}

/// What no frame changes.
#[derive(Debug)]
struct Weights {
    joints: usize,
    frames: usize,
    channels: usize,
    first: SpectralConvolution,
    second: SpectralConvolution,
    phases: PhaseReading,
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
        let phases = PhaseReading::new(&encoder.phase, config);
        Ok(Self {
            lanes: Lanes::detect(),
            count: 0,
            windows: Vec::new(),
            mean: vec![0.0; padded(3 * config.joints)],
            channels: Vec::new(),
            hidden: Vec::new(),
            latent: Vec::new(),
            convolution: ConvolutionScratch::default(),
            reading: phases.scratch(),
            weights: Arc::new(Weights {
                joints: config.joints,
                frames,
                channels,
                first: convolution(&first),
                second: convolution(&second),
                phases,
            }),
        })
    }

    /// The phases of a window: [`Self::begin`], [`Self::add`], [`Self::run`] and [`Self::read`]. `state` is overwritten.
    ///
    /// # Errors
    /// As [`Self::add`] and [`Self::read`].
    pub fn encode<'a>(
        &mut self,
        row: impl Fn(usize) -> &'a [Vec3],
        state: &mut PhaseState,
    ) -> Result<(), PhaseError> {
        self.begin();
        let window = self.add(row)?;
        self.run();
        self.read(window, state)
    }

    /// Forgets the windows of the last run.
    pub fn begin(&mut self) {
        self.count = 0;
    }

    /// Adds a window to the next run, whose frame `index` has the velocities `row(index)`, m/s, one per joint, each frame in
    /// its own root frame; gives its number.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`] for a row of another number of joints; [`PhaseError::NotFinite`] for a velocity that
    /// is not finite (frame as row, joint as column). Nothing is added then.
    pub fn add<'a>(&mut self, row: impl Fn(usize) -> &'a [Vec3]) -> Result<usize, PhaseError> {
        let Weights { joints, frames, .. } = *self.weights;
        let width = self.mean.len();
        let window = self.count;
        grow(&mut self.windows, (window + 1) * frames * width);
        let cells = &mut self.windows[window * frames * width..][..frames * width];
        self.mean.fill(0.0);
        for (frame, cells) in cells.chunks_exact_mut(width).enumerate() {
            let velocities = row(frame);
            expect_size("joints of a velocity window", joints, velocities.len())?;
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
            *mean /= frames as f32;
        }
        for cells in cells.chunks_exact_mut(width) {
            for (cell, mean) in cells.iter_mut().zip(&self.mean) {
                *cell -= mean;
            }
        }
        self.count += 1;
        Ok(window)
    }

    /// Reads the phases of all windows that were added.
    pub fn run(&mut self) {
        let Weights { frames, channels, first, second, phases, .. } = &*self.weights;
        let width = self.mean.len();
        let together = self.count.min(CHARACTERS_AT_ONCE);
        grow(&mut self.hidden, together * first.output_size());
        grow(&mut self.latent, together * second.output_size());
        self.channels.resize((self.count * channels).max(self.channels.len()), ChannelPhase::default());
        for from in (0..self.count).step_by(CHARACTERS_AT_ONCE) {
            let count = (self.count - from).min(CHARACTERS_AT_ONCE);
            let hidden = &mut self.hidden[..count * first.output_size()];
            let latent = &mut self.latent[..count * second.output_size()];
            let values = &self.windows[from * frames * width..];
            let windows = Windows { values, stride: width, character: frames * width };
            first.apply(self.lanes, count, windows, &mut self.convolution, hidden);
            nonlinear_in_place::<Tanh>(self.lanes, hidden);
            let (stride, character) = (first.output_width(), first.output_size());
            let windows = Windows { values: hidden, stride, character };
            second.apply(self.lanes, count, windows, &mut self.convolution, latent);
            nonlinear_in_place::<Tanh>(self.lanes, latent);
            let read = self.channels[from * channels..].chunks_exact_mut(*channels);
            for (latent, channels) in latent.chunks_exact(second.output_size()).zip(read) {
                phases.read(self.lanes, latent, &mut self.reading, channels);
            }
        }
    }

    /// What a run costs for one window, apart from hyperbolic tangents.
    pub fn work(&self) -> Work {
        self.weights.first.work() + self.weights.second.work() + self.weights.phases.work()
    }

    /// The phases of a window of the last run. `state` is overwritten.
    ///
    /// # Errors
    /// [`PhaseError::NotFinite`] when velocities are so large that the result is not finite.
    ///
    /// # Panics
    /// When there is no such window.
    pub fn read(&self, window: usize, state: &mut PhaseState) -> Result<(), PhaseError> {
        assert!(window < self.count, "window {window} of {}", self.count);
        let channels = self.weights.channels;
        state.channels.clear();
        state.channels.extend_from_slice(&self.channels[window * channels..][..channels]);
        state.check_finite()
    }
}
