//! Learned motion matching (Holden et al., SIGGRAPH 2020): three small networks in place of the clips of motion matching.
//!
//! A frame of a clip is its matching features, normalised, and a code of what they leave open. The *decompressor* gives the pose and the
//! motion of a frame; the *stepper* moves features and code on by a frame; the *projector* gives features and code of the frame that is
//! nearest to a query. A [`LearnedController`] plays them as motion matching plays clips, with the same searches, seams and lead of
//! the root. The compressor, which finds the codes, is needed in training alone.

mod controller;
mod model;
mod pose;

pub use controller::LearnedController;
pub use model::{LearnedDescription, LearnedModel, LearnedSizes, Scales, plain_network};
pub use pose::{DecodedPose, PoseLayout};
