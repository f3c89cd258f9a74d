//! Motion matching: the clip frame that fits best goes on, again and again. The baseline that learned models replace.
//!
//! A [`MatchingDatabase`] holds clips and, for every few of their frames, a feature vector: where the clip goes within the
//! next second, and either the feet (Clavet, GDC 2016) or the phases (DeepPhase) of the frame. A
//! [`MatchedCharacter`] plays a clip, looks ten times a second whether another frame continues better towards what
//! is asked for, and hides the seam by inertialisation (Bollo, GDC 2018): what the pose lacks to the new clip decays.
//!
//! It is kinematic: it knows neither forces nor pushes, and follows the ground with its root only.

mod character;
mod database;
mod inertia;

pub use character::MatchedCharacter;
pub use database::{MatchingClip, MatchingDatabase};
