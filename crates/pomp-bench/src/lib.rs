//! The closed loop judged against mocap and baselines.
//!
//! A [`BenchConfig`] names methods and scenarios; [`run`] makes every run of every method in every scenario, each result a
//! file of its own, so that a bench that was stopped goes on where it was; [`Report`] is what the runs say, with
//! 95 % intervals; `pomp-report` lays it out as Markdown and as one HTML page.
//!
//! Methods are the closed loop with any settings, motion matching over the training clips ([`MatchedCharacter`]), clips tracked by
//! the ragdoll, and held-out mocap as it is. All are measured by `pomp-eval`, which sees recordings only, and by their
//! distance from held-out mocap in the [`PhaseSpace`] of the clean periodic autoencoder.
//!
//! Same model, data and configuration, same bytes, with any number of threads. Clock readings go into files of their own.
//!
//! [`performance`] measures what a frame costs instead: times, growth and the limits of the machine.
//!
//! It chooses nothing: it has no pass marks, and trains no model.

mod bench;
mod config;
mod cut;
mod error;
mod grid;
mod matched_character;
mod measure;
mod mocap;
pub mod performance;
mod phase_space;
mod pictures;
mod rollout;
mod summary;
mod world;

pub use bench::{FrameTimes, NotRun, Progress, Runs, read_times, run};
pub use config::{
    BenchConfig, GoalDesign, Method, MethodKind, PlannedPush, PushDesign, Scenario, ScenarioControl,
};
pub use error::BenchError;
pub use grid::{Grid, GridAxis};
pub use matched_character::MatchedCharacter;
pub use measure::RunResult;
pub use mocap::Mocap;
pub use phase_space::{PhaseSpace, Reference};
pub use pomp_controllers::matching::MatchedFeatures;
pub use summary::{Cell, Drift, Floor, Interval, Report, Share};
pub use world::World;
