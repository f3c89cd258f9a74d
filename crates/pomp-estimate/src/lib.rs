//! Estimates from a mocap clip (docs/method.md §6): its defects, the ground under it, and the forces on it.
//!
//! [`defects`] finds frames that no body can have moved through; [`terrain_fit`] reconstructs the ground from the contacts;
//! [`replay()`] tracks the clip with the simulated ragdoll and records every contact impulse; [`mod@impulses`] estimates from it and
//! from the clip's own motion the impulses that a force plate would measure, and before the replay the feed-forward of the drives
//! ([`expectations`]). A [`Stage`] is the replay frame by frame, for variants of a clip that are simulated; [`tracking`] makes of it a task
//! for reinforcement learning.
//!
//! It reads no files and draws nothing at random but terrain patches and the candidates of a replay's plans.

pub mod airborne;
pub mod defects;
mod impulse_config;
pub mod impulses;
mod replay;
mod replay_config;
mod replay_planning;
mod replay_report;
mod replay_targets;
mod settings;
mod stage;
pub mod terrain_fit;
pub mod tracking;

pub use impulse_config::{ImpulseConfig, ImpulseEstimator};
pub use impulses::{ImpulseReport, expectations};
pub use replay::{Course, approach, replay, replay_on};
pub use replay_config::ReplayConfig;
pub use replay_planning::ReplayPlanningConfig;
pub use replay_report::ReplayReport;
pub use replay_targets::ReplayTargetsConfig;
pub use settings::PhysicsSettings;
pub use stage::Stage;
