//! The phase encoding module: periodic autoencoder, aligned periodic autoencoder, phase manifold.
mod autoencoder;
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
pub use config::{PeriodicAutoencoderConfig, PhaseTrainingConfig, Spectrum};
pub use error::PhaseError;
pub use inference::{WindowDecoder, WindowEncoder, parameters_of, states_of};
pub use manifold::{ChannelPhase, PhaseState, extrapolate_code, update_code};
pub use phase_layer::PhaseParameters;
pub use stitch::StitchConfig;
pub use training::{AlignedLoss, AlignedLossWeights, CleanPrior, pae_loss, window_batch};
pub use window::{VelocityWindow, WindowConfig};
