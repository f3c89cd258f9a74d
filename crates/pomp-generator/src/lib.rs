//! The closed loop (docs/method.md §1): a simulated character that follows a command frame by frame.
//!
//! [`Generator`] chains the kinematic module, the dynamic module and the phase encoding module. A
//! [`ControlPlan`] says where to go; [`Generator::step`] moves on by one frame and takes pushes; [`record`] runs a
//! whole rollout into a `Recording`. [`LiveControl`] and [`Generator::step_steered`] take commands while it moves, and
//! [`Generator::save`] and [`Generator::restore`] go back in time.
//!
//! A [`RolloutRecipe`] holds all that decides a rollout; [`RolloutRecipe::run`] makes it, and [`replay`] makes it again, bit for
//! bit, from its record alone.
//!
//! [`Worlds`] moves many characters, each in a world of its own, whose networks run together; [`RolloutRecipe::run_together`]
//! makes their rollouts.
//!
//! An [`Ensemble`] moves several characters in one world, in which they bump into each other; an [`EnsembleRecipe`] makes and
//! repeats their rollouts.
//!
//! It reads no files: models come from `pomp-model`, terrain from `pomp-terrain`.

mod character;
mod closed_loop;
mod config;
pub mod control;
mod efforts;
mod ensemble;
mod ensemble_recipe;
mod error;
mod ground_motion;
mod kinematic_module;
pub mod layers;
mod loop_state;
mod networks;
mod phase_feedback;
mod predicted_motion;
mod recipe;
mod recipes_together;
mod rollout;
mod scheduled_throw;
mod start;
mod unhindered;
mod worlds;

pub use character::{Character, Tracking};
pub use closed_loop::{Generator, GeneratorSnapshot, Stage, SteeredStep, StepOutput};
pub use config::{Dynamics, GeneratorConfig, PhaseFeedback};
pub use control::{ControlPlan, ControlSample, Goal, LiveControl, PathFile, Preset, Steering};
pub use efforts::efforts;
pub use ensemble::{CharacterInput, CharacterSetup, Ensemble};
pub use ensemble_recipe::{CharacterRecipe, EnsembleRecipe};
pub use error::GeneratorError;
pub use ground_motion::{GroundMotion, GroundMove};
pub use layers::LayersConfig;
// For the training of the policy.
#[doc(hidden)]
pub use networks::Networks;
pub use phase_feedback::PhaseReader;
pub use pomp_kinematic::Precision;
pub use pomp_motion::FRAME_RATE_HZ;
pub use pomp_physics::GetUpConfig;
pub use predicted_motion::PredictedMotion;
pub use recipe::{Replay, RolloutRecipe, replay};
pub use rollout::{ScheduledPush, label_contacts, record, record_while};
pub use scheduled_throw::ScheduledThrow;
pub use unhindered::unhindered;
pub use worlds::Worlds;

/// The example of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
