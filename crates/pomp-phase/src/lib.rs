//! The phase encoding module: periodic autoencoder, aligned periodic autoencoder, phase manifold.
//!
//! A [`VelocityWindow`] is two seconds of joint velocities around a frame. The [`PeriodicAutoencoder`] (DeepPhase)
//! learns, without labels, to describe it by C sinusoids; their amplitudes and shifts are the frame's point on
//! the phase manifold, a [`PhaseState`] and its code pe ∈ R^{2C}. In the closed loop the clean motion is not known:
//! the *aligned* encoder, a second [`PeriodicEncoder`], reads windows stitched by [`StitchConfig`] from simulated and
//! target velocities, and is trained by [`CleanPrior::aligned_loss`] to land on the phases of the clean one.
//!
//! # Conventions
//!
//! - A latent curve reads L(t) = a sin(2π (f t + s)) + b, t in seconds from the window's centre. With this sign s
//!   *advances* at the rate +f as the window slides forward, and codes turn counter-clockwise.
//! - pe(2c) = a cos 2πs, pe(2c+1) = a sin 2πs; shifts are in turns, frequencies in Hz.
//! - Frequencies of the transform are j · rate / N: exact for N samples at that rate (121 frames at 60 Hz span
//!   121/60 s; the paper's two seconds would read every frequency 0.8 % high).
//! - Inputs are velocities in m/s, every frame in its own root frame, less their mean over the window, unscaled.
//!
//! # From training to the loop
//!
//! ```
//! use burn::{optim::GradientsParams, tensor::Device};
//! use pomp_motion::{FrameTable, glam::Vec3};
//! use pomp_phase::*;
//!
//! # fn main() -> Result<(), PhaseError> {
//! let config = PeriodicAutoencoderConfig { channels: 2, ..PeriodicAutoencoderConfig::new(1) };
//! let swing = |frame: usize| [Vec3::X * (0.15 * frame as f32).sin()];
//! let mut velocities = FrameTable::with_columns(1);
//! (0..200).for_each(|frame| velocities.push(&swing(frame)));
//!
//! // One training step of the autoencoder.
//! let device = Device::flex().autodiff();
//! let training = PhaseTrainingConfig::default();
//! let mut model = PeriodicAutoencoder::new(&config, 1, &device)?;
//! let mut optimizer = training.optimizer();
//! let windows = [config.window.cut(&velocities, 80)?, config.window.cut(&velocities, 110)?];
//! let loss = pae_loss(&model, window_batch(&windows.each_ref(), &device)?);
//! let gradients = GradientsParams::from_grads(loss.backward(), &model);
//! model = optimizer.step(training.learning_rate, model, gradients);
//!
//! // The phases of a frame, and of the frame after it as the loop updates them.
//! let state = WindowEncoder::new(&model.encoder).encode(&windows[0])?;
//! let (a, f) = (state.amplitudes(), state.frequencies_hz());
//! let code = update_code(&state.code(), &state.code(), &a, &f, 1.0 / 60.0)?;
//! assert_eq!(code.len(), 4);
//! # Ok(())
//! # }
//! ```
//!
//! The loop itself runs [`FrameEncoder`] and [`FrameDecoder`], which are the same networks written for one frame at a time;
//! [`WindowEncoder`] and [`WindowDecoder`] take many windows at once.
//!
//! Batches, epochs and checkpoints are the training crate's; weights are saved by `pomp-weights`.

mod autoencoder;
mod by_frame;
mod config;
mod error;
mod inference;
mod initial_weights;
mod long_convolution;
mod manifold;
mod phase_layer;
mod spectral_tables;
mod stitch;
mod training;
mod window;

pub use autoencoder::{PeriodicAutoencoder, PeriodicDecoder, PeriodicEncoder, PhaseOutput};
pub use by_frame::{FrameDecoder, FrameEncoder, TargetSpan};
pub use config::{PeriodicAutoencoderConfig, PhaseTrainingConfig, Spectrum};
pub use error::PhaseError;
pub use inference::{WindowDecoder, WindowEncoder, parameters_of, states_of};
pub use manifold::{ChannelPhase, PhaseState, codes_between, extrapolate_code, update_code};
pub use phase_layer::PhaseParameters;
pub use stitch::StitchConfig;
pub use training::{AlignedLoss, AlignedLossWeights, CleanPrior, pae_loss, window_batch};
pub use window::{VelocityWindow, WindowConfig};
