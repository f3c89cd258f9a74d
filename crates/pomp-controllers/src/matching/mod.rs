//! Motion matching: the clip frame that fits best goes on, again and again. The baseline that learned models replace.
//!
//! A [`MatchingDatabase`] holds clips at 60 Hz and a feature vector for each of their frames: where the clip goes within the next
//! second, and either the feet and hips (Clavet, GDC 2016; Holden et al., "Learned Motion Matching", SIGGRAPH 2020) or the phases
//! (DeepPhase) of the frame. A [`MatchingController`] plays a clip, looks ten times a second, and when the command jumps, whether
//! another frame continues better towards what is asked for, and hides the seam by inertialisation (Bollo, GDC 2018): what the
//! pose lacks to the new clip decays. A [`MatchingModel`] is such clips as a file holds them.
//!
//! It is kinematic: it knows neither forces nor pushes, and follows the ground with its root only.

mod boxes;
mod clip;
mod controller;
mod database;
mod description;
mod features;
mod inertia;
mod playback;
mod stored;
mod vectors;

pub use clip::{ClipRoot, MatchingClip};
pub use controller::MatchingController;
pub use database::{MatchingDatabase, Place};
pub use description::{MatchingDescription, MatchingModel, StoredClip, StoredPhases};
pub use features::{AHEAD, Ahead, MatchedFeatures, MatchingWeights};
pub(crate) use features::{POSE_WIDTH, TRAJECTORY, pose_values, trajectory_values};
pub(crate) use playback::{FRAME_S, Moment, Playback, Played, asked_of};
