//! The program from end to end, as a person or a script runs it.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod bad_bvh;
mod bad_input;
mod bad_trials;
mod batch;
mod comparison;
mod data_path;
mod dataset;
mod disk;
mod export;
mod help;
mod inspect;
mod killed;
mod messages;
mod model;
mod performance;
mod program;
mod pushes;
mod resume;
mod retarget;
mod scene;
mod schema;
mod stopped;
mod styles;
mod tiny_model;
mod usage;
