//! The kinematic module: OrthoMoE encoder and diffusion decoder with Analytic-DPM covariance.
//!
//! Given what a character knows (x_i: pose, terrain, contact impulses, phases, control), it draws a sample of
//! what it does next (y_i). Symbols are those of docs/method.md §3. This crate knows sizes, not features: x
//! and y come normalised, and the caller says where in x the phase block lies.
//!
//! # The types, and how they hand over
//!
//! - [`KinematicConfig`] → [`KinematicModel`]: a burn module with [`KinematicModel::loss`] for training. Inside
//!   it, [`OrthoMoeEncoder`] makes α and the orthonormal w_k, and [`DiffusionDecoder`] the blend Σ α_k z_k.
//! - [`estimate_gamma`] → [`GammaTable`]: how uncertain the trained decoder is at each diffusion step.
//! - [`SamplerConfig`] + [`GammaTable`] → [`ReverseProcess`]: every coefficient of K denoising steps.
//! - [`KinematicModel::sample`] draws batches; [`KinematicInference`] draws one frame at a time in the closed
//!   loop, from packed weights, without allocation.
//! - [`StyleAdapter`] → [`StyleModulation`]: what a style changes in a frozen module, given to [`KinematicInference::add`];
//!   [`StyleTensors`] are the same for [`KinematicModel::styled_loss`].
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use pomp_kinematic::{
//!     GateInput, KinematicConfig, KinematicInference, KinematicModel, ReverseProcess, SamplerConfig,
//!     estimate_gamma,
//! };
//! use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
//!
//! let mut config = KinematicConfig::compact(20, 6, GateInput { start: 12, len: 8 });
//! (config.condition_size, config.expert_hidden, config.decoder_hidden) = (16, vec![16], vec![32, 32]);
//! let device = Device::flex();
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//!
//! // Training: a module on `device.autodiff()`, and for every batch:
//! let model = KinematicModel::new(&config, 7, &device.clone().autodiff())?;
//! let (x, y) = (Tensor::ones([64, 20], &device), Tensor::ones([64, 6], &device));
//! let weights = Tensor::ones([6], &device);
//! let gradients = model.loss(&x, &y, &weights, &mut rng).backward();
//!
//! // After training: Γ, the reverse process, and frames.
//! let model = burn::module::Module::valid(&model);
//! let gamma = estimate_gamma(&model, [(x, y)], 2, &mut rng)?;
//! let sampler = SamplerConfig::analytic_ddim(4);
//! let process = ReverseProcess::new(model.schedule(), 6, &sampler, Some(&gamma))?;
//! let mut inference = KinematicInference::new(&model, process)?;
//! let mut y = [0.0; 6];
//! inference.sample(&[0.5; 20], &mut y, &mut rng)?;
//! # Ok::<(), pomp_kinematic::KinematicError>(())
//! ```
//!
//! # What it does not do
//!
//! It does not normalise, know the feature layout, schedule learning rates or write files: the modules are
//! ordinary burn modules, the configurations and [`GammaTable`] are serde types.

mod activation;
mod config;
mod decoder;
mod encoder;
mod error;
mod gamma;
mod inference;
mod inference_buffers;
mod inference_encoder;
mod linear;
mod model;
mod noise;
mod orthonormal;
mod packing;
mod reverse;
mod sample;
mod schedule;
mod seeded;
mod style;

pub use config::{
    Activation, Blend, Conditioning, ExpertOutputs, GateInput, KinematicConfig, Precision, Prediction,
};
pub use decoder::{DecoderContext, DiffusionDecoder};
pub use encoder::{Encoding, ExpertLinear, OrthoMoeEncoder};
pub use error::KinematicError;
pub use gamma::{GammaEstimator, GammaTable, estimate_gamma};
pub use inference::{DEFAULT_GATE_THRESHOLD, InferencePart, KinematicInference};
pub use model::KinematicModel;
pub use noise::{CoherentNoise, NoiseSource};
pub use orthonormal::orthonormalise;
pub use packing::pack_side_by_side;
pub use reverse::{
    Covariance, CovarianceEstimate, Lambda, ReverseProcess, SamplerConfig, StepNoise, Transition,
};
pub use sample::run_reverse;
pub use schedule::DiffusionSchedule;
pub use style::{StyleAdapter, StyleModulation, StyleTensors};
