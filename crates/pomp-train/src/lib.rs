//! Training loops, checkpoints and run records.
//!
//! [`Dataset`] holds recordings made by preprocessing; [`train`] runs the stages of docs/method.md §7 on it: the
//! periodic autoencoder, the aligned encoder, the kinematic module. Every stage writes the model folder, appends to
//! `metrics.csv` and keeps a checkpoint from which it goes on. [`annotate_phases`] writes a trained model's phases into
//! the recordings.
//!
//! Batches depend on the seed and the step alone, so a run that was stopped and resumed equals one that was not. What receives
//! the reports may ask a training to stop after any step; a kinematic stage that is stopped between two of its checkpoints
//! goes on with new rollouts, and so differs from one that ran through. A resumed stage may have more steps than it began with.
//! [`Windows`] gives the examples of the kinematic stage to trainings elsewhere.
//! [`report_kinematic`] measures a trained kinematic module on clips that it has not seen.
//! [`rehearse`] says beforehand how large the networks are and how long it will take.

mod adamw;
mod aligned_stage;
mod annotate;
mod balance_config;
mod balance_stage;
mod balance_walker;
mod checkpoint;
mod config;
mod controller_config;
mod controller_place;
mod controller_stage;
mod controller_view;
mod dataset;
mod differentiable_body;
mod early_stopping;
mod epochs;
mod error;
mod example;
mod finite;
mod gait_direction;
mod gait_starts;
mod held_out;
mod kinematic_config;
mod kinematic_report;
mod kinematic_stage;
mod learned_config;
mod learned_frames;
mod learned_part;
mod learned_queries;
mod learned_stage;
mod learner;
mod loss_record;
mod matching_stage;
mod own_window;
mod phase_stage;
mod phaseless;
mod practice_ground;
mod progress;
#[cfg(test)]
mod recorded_walk;
mod rehearsal;
mod retarget_stage;
mod rollout_pool;
mod rollout_starts;
mod rows;
mod run;
mod sampler;
mod shards;
mod split;
mod stable_ids;
mod step_rng;
mod style_clips;
mod style_config;
mod style_neutral;
mod style_stage;
mod unroll;
mod unrolling_config;
mod windows;

// For this crate's bench.
#[doc(hidden)]
pub use adamw::adamw;
pub use annotate::{Annotated, annotate_phases, count_recordings};
pub use balance_config::{BalanceLearning, BalancePushes, BalanceReward, BalanceScene, BalanceTraining};
pub use balance_stage::train_balance;
pub use config::{AlignedStage, PhaseStage, TrainConfig};
pub use controller_config::ControllerConfig;
pub use controller_stage::train_controller;
pub use dataset::{Dataset, FRAME_RATE_HZ, TrainingClip};
pub use early_stopping::EarlyStopping;
pub use error::TrainError;
pub use example::{LedBody, OwnState, StateSource, write_example};
pub use held_out::HorizonErrors;
pub use kinematic_config::{
    BlockWeights, DiffusionChoice, KinematicStage, KinematicTraining, LayoutChoice, NetworkSizes, Phases,
    SimulatedRollouts, TrainingStates,
};
pub use kinematic_report::{
    GaitBlend, KinematicReport, KinematicReportConfig, SamplerFigures, report_kinematic,
};
pub use learned_config::{LearnedConfig, LearnedTraining};
pub use learned_stage::train_learned_matching;
pub use matching_stage::{MatchingConfig, build_matching, train_matching};
pub use pomp_tensors::join_thread_pool;
pub use progress::{OnEvent, Stage, TrainEvent};
pub use rehearsal::{Rehearsal, StageRehearsal, rehearse};
pub use retarget_stage::train_retargeting;
pub use run::{Start, is_fine_tuning_begun, train};
pub use split::Split;
pub use style_config::{StyleClips, StyleTraining};
pub use style_stage::train_styles;
pub use unrolling_config::Unrolling;
pub use windows::{WindowStates, Windows};
