//! Many rollouts of the closed loop at once.
//!
//! A [`Batch`] says what all of them share; [`run`] makes rollout i with the seed `first_seed` + i, as many at a time as there
//! are threads, each in a world of its own, each as `rollout_0000.npz` and so on, and a `manifest.json` of the whole. What a
//! rollout does is a [`Scene`] of its seed: a given one, or one that [`RandomScenes`] draws (ground, command, pushes).
//!
//! The same batch gives the same bytes with any number of threads, in one go or in several: a batch that was interrupted
//! goes on where it was, and one of other settings is refused in the same folder. Several processes share one with a
//! [`Share`] each; [`Manifest::merged`] is the manifest of the whole.
//!
//! It measures nothing: `pomp-eval` does, from the files.

mod batch;
mod error;
mod manifest;
mod random;
mod scene;

pub use batch::{Batch, BatchReport, Loop, Progress, Share, rollout_name, run};
pub use error::BatchError;
pub use manifest::{Manifest, ManifestFailure, ManifestGround, ManifestRollout};
pub use random::{DirectionFrom, GroundShape, RandomGround, RandomPushes, RandomScenes};
pub use scene::{BEYOND_S, LONGEST_S, Scene, TERRAIN_MARGIN_M};
