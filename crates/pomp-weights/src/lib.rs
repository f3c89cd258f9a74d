//! Network weights in and out of safetensors files, checked on both ways.
//!
//! A [`WeightFile`] is a set of named tensors with metadata. [`WeightFile::add_module`] copies a burn module
//! into it under a prefix, [`WeightFile::load_into`] copies them back, and complains about a tensor that is
//! missing, has another shape, or is left over. [`WeightFile::save`] writes safetensors, in half or single
//! precision, that every reader of the format opens; the same weights give the same bytes.
//!
//! ```
//! use burn::{nn::LinearConfig, tensor::Device};
//! use pomp_weights::{WeightFile, WeightPrecision};
//!
//! # fn main() -> Result<(), pomp_weights::WeightsError> {
//! let device = Device::flex();
//! let mut file = WeightFile::new(Some(("format", "1")));
//! file.add_module("gate", &LinearConfig::new(4, 2).init(&device))?;
//! let bytes = file.to_bytes(WeightPrecision::F32)?;
//!
//! let file = WeightFile::from_bytes(&bytes, "memory")?;
//! let gate = file.load_into("gate", LinearConfig::new(4, 2).init(&device))?;
//! assert_eq!(file.metadata("format")?, "1");
//! # let _ = gate;
//! # Ok(())
//! # }
//! ```
//!
//! Optimiser states are not weights: burn's own records keep them in checkpoints.

mod error;
mod file;
mod module;

pub use error::WeightsError;
pub use file::{WeightFile, WeightPrecision, WeightTensor};
