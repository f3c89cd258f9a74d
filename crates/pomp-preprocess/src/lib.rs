//! Preprocessing (docs/method.md §6): from plain mocap to recordings with contacts, gaits, terrain and impulses.
//!
//! [`find_inputs`] lists motion files with their provenance; [`run`] makes one npz per clip, mirror image and terrain
//! variant, resumable and parallel over clips, and a [`Manifest`]; [`run_part`] does a share of them. [`preprocess_clip`] does one clip in memory, [`estimate_clip`] without its variants.
//!
//! The steps: [`load_clip`] reads a clip, repairs or refuses defects of its frames, and retargets it; [`labelled`] finds contacts and
//! gaits; `pomp-estimate` reconstructs the ground, replays the clip and estimates its contact impulses. [`validation`] compares
//! them with force plates, [`terrain_check`] the ground with known ones.
//!
//! `pomp-augment` makes the variants that the configuration asks for: clips on other ground, slower walks, walks in other styles, clips that are pushed, and
//! clips that fall, lie and get up.
//!
//! No network is involved.

mod clip_results;
mod config;
mod error;
mod get_up_clips;
mod given;
mod input;
mod journal;
mod load;
mod manifest;
mod own_ground;
mod part;
mod plate_error;
mod provenance;
mod run;
pub mod terrain_check;
pub mod validation;
mod variant;

pub use clip_results::preprocess_clip;
pub use config::PreprocessConfig;
pub use error::PreprocessError;
pub use input::{Input, find_inputs};
pub use journal::{GroundRecord, LeftOut, ManifestEntry};
pub use load::{LoadedClip, labelled, load_clip, load_with_source, read_motion};
pub use manifest::{Failure, Manifest, config_hash, hash_with_files};
pub use own_ground::{ClipEstimate, estimate_clip, on_own_ground};
pub use part::Part;
pub use provenance::{Provenance, ProvenanceIndex};
pub use run::{OnFailure, Progress, run, run_part};
