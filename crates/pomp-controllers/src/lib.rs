//! Kinematic controllers of the family that POMP comes from, each in place of the kinematic module.
//!
//! A [`Controller`] is given what the kinematic module is given (state, trajectory, gaits, ground) and proposes the next frame.
//! [`gated`] holds the networks with blended experts, [`matching`] motion matching, [`learned`] the networks that take the place of its clips. A folder of a trained model holds one file per
//! controller, `controllers/KIND.safetensors`, which [`TrainedController`] reads.

mod controller;
mod error;
pub mod gated;
pub mod learned;
pub mod matching;
mod trained;

pub use controller::{Controller, ControllerKind};
pub use error::ControllerError;
pub use trained::{ControllerFile, TrainedController};
