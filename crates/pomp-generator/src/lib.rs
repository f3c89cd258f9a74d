//! The closed loop (method §1): a character that follows a command frame by frame, physically simulated.
//!
//! [`Generator`] chains the kinematic module, the dynamic module and the phase encoding module. A
//! [`ControlPlan`] says where to go; [`Generator::step`] moves on by one frame and takes pushes; [`record`] runs a
//! whole rollout into a `Recording`. [`LiveControl`] and [`Generator::step_steered`] take commands while it moves, and
//! [`Generator::save`] and [`Generator::restore`] go back in time.
//!
//! It reads no files: models come from `pomp-model`, terrain from `pomp-terrain`.

mod character;
mod closed_loop;
mod config;
pub mod control;
mod error;
mod fall;
mod footing;
mod phase_feedback;
mod rollout;
mod start;
mod trajectory;

pub use character::Character;
pub use closed_loop::{FRAME_RATE_HZ, Generator, GeneratorSnapshot, SteeredStep, StepOutput};
pub use config::{Dynamics, GeneratorConfig, PhaseFeedback};
pub use control::{ControlPlan, LiveControl, PathFile, Preset, Steering};
pub use error::GeneratorError;
pub use rollout::{ScheduledPush, record};
