//! Preprocessing (docs/method.md §6): from plain mocap to recordings with contacts, gaits, terrain and impulses.
//!
//! [`find_inputs`] lists motion files with their provenance; [`run`] makes one npz per clip, mirror image and terrain
//! variant, resumable and parallel over clips, and a [`Manifest`]; [`run_part`] does a share of them. [`preprocess_clip`] does one clip in memory.
//!
//! The steps: [`load_clip`] reads, mends or refuses what is wrong with frames ([`defects`]), and retargets; [`labelled`] finds contacts and gaits; [`terrain_fit`] reconstructs the
//! ground; [`replay()`] tracks the clip with the simulated ragdoll and records every contact impulse;
//! [`mod@impulses`] makes of it and of the clip's own motion the impulses that a force plate would measure.
//! [`validation`] compares them with real plates.
//!
//! What mocap lacks is made from what it has, when the configuration asks for it: clips on other ground
//! ([`WarpConfig`]), clips that are pushed ([`BumpConfig`]) and clips that are struck down, lie and get up
//! ([`FallConfig`]).
//!
//! It trains nothing and knows no network.

mod airborne;
mod bumps;
mod config;
pub mod defects;
mod draws;
mod error;
mod falls;
pub mod impulses;
mod journal;
mod own_ground;
mod pace;
mod part;
mod pipeline;
mod provenance;
mod replay;
mod stage;
pub mod terrain_check;
pub mod terrain_fit;
pub mod validation;
mod variant;
mod warp;

pub use bumps::BumpConfig;
pub use config::PreprocessConfig;
pub use error::PreprocessError;
pub use falls::{FallConfig, WayUp};
pub use impulses::{ImpulseConfig, ImpulseEstimator, ImpulseReport};
pub use journal::{GroundRecord, LeftOut, ManifestEntry};
pub use pace::PaceConfig;
pub use part::Part;
pub use pipeline::{
    Failure, Input, LoadedClip, Manifest, OnFailure, Progress, config_hash, find_inputs, labelled, load_clip,
    preprocess_clip, run, run_part,
};
pub use provenance::{Provenance, ProvenanceIndex};
pub use replay::{ReplayConfig, ReplayReport, replay};
pub use warp::{ReliefKind, WarpConfig};
