//! The kinematic module: OrthoMoE encoder and diffusion decoder with Analytic-DPM covariance.

mod activation;
mod config;
mod decoder;
mod encoder;
mod error;
mod model;
mod orthonormal;
mod schedule;
mod seeded;

pub use config::{Activation, Conditioning, GateInput, KinematicConfig, Prediction};
pub use decoder::{DecoderContext, DiffusionDecoder};
pub use encoder::{Encoding, ExpertLinear, OrthoMoeEncoder};
pub use error::KinematicError;
pub use model::KinematicModel;
pub use orthonormal::orthonormalise;
pub use schedule::DiffusionSchedule;
