//! Motion from one skeleton to another by networks that learn it without pairs: skeleton-aware networks (Aberman, Li, Lischinski,
//! Sorkine-Hornung, Cohen-Or and Chen, "Skeleton-Aware Networks for Deep Motion Retargeting", SIGGRAPH 2020).
//!
//! - A [`Corpus`] holds motions of one skeleton, on bodies of any proportions, as features: per joint a quaternion, per frame the
//!   motion of the root. Its [`Structure`] knows the tree, and which limb is which, from topology and motion alone: no name is read.
//! - Small limbs that branch off, such as fingers and eyes, are no part of it: [`Seen`] says which joints are.
//! - [`match_structures`] pairs the limbs of two skeletons. Both are pooled to one primal skeleton ([`tree`]), whose nodes are the
//!   chains between branches; skeletons that branch otherwise are refused.
//! - [`SkeletalNetworks`] are an encoder to the features of the primal skeleton, a decoder from them and a discriminator per skeleton,
//!   made of [`layers`] whose nodes see their neighbourhood in the tree; [`loss()`] is what they are trained by.
//! - [`SkeletalModel`] is a trained pair as a file; [`SkeletalModel::retarget`] puts a motion of either skeleton on a body of either.
//!
//! What they do not do: a skeleton with another joint is another skeleton, and needs another training. Feet are not planted, and
//! bodies have no surface.

mod config;
mod corpus;
mod decoding;
mod error;
mod homeomorphism;
pub mod kinematics;
pub mod layers;
mod losses;
mod model;
mod networks;
mod seen;
mod structure;
pub mod tree;

pub use config::{LeaveOut, SkeletalConfig, SkeletalSizes, SkeletalTraining, SkeletalWeights, UpAxes};
pub use corpus::{Corpus, SkeletalClip, at_rate, read_motion, read_motions};
pub use error::SkeletalError;
pub use homeomorphism::match_structures;
pub use losses::{Loss, Windows, loss, reaches};
pub use model::{SkeletalDescription, SkeletalModel};
pub use networks::{Discriminator, FRAMES_PER_CODE, Layer, SkeletalNetworks, SkeletonNetworks, Statics};
pub use seen::Seen;
pub use structure::{Body, Path, Structure};

/// Frames per second of motion that the networks see.
pub const RATE_HZ: f32 = 30.0;
