//! Trained models of POMP as files: what `pomp train` writes and the closed loop reads.
//!
//! A model is a folder: `model.json` ([`ModelDescription`]: layout, normalisation, skeleton, data hash, config,
//! seed) and one safetensors file per network. [`Model`] holds both in memory; it can be read from a folder or from
//! bytes embedded in a program. The description is written last, so a folder with one is complete.
//!
//! The networks themselves live in `pomp-phase` and `pomp-kinematic`; this crate only stores them.

mod description;
mod error;
mod model;
mod style_adapter;

pub use description::{
    FORMAT_VERSION, FineTunedFrom, KinematicDescription, ModelDescription, OutputSpace, subtract_base,
};
pub use error::ModelError;
pub use model::{Model, ModelBytes, UsedParts};
pub use style_adapter::{ModelStyles, NamedStyle, StyleChange, StyleDescription};
