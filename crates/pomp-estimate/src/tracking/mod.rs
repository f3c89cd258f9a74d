//! Tracking a clip as a task for reinforcement learning: a ragdoll, actions on its joints, observations and a reward.
//!
//! A [`Reference`] is the clip with its ground, made once; a [`Tracker`] is one ragdoll that tracks it. A step is
//! [`FRAMES_PER_STEP`] frames. The reward is that of example-guided learning of physics-based characters (Peng et al., SIGGRAPH 2018,
//! §5.2), with constants of our own ([`reward`]).

mod observation;
mod reference;
mod reward;
mod tracker;

pub use observation::{BLOCKS, OBSERVATION};
pub use reference::Reference;
pub use reward::{Errors, reward};
pub use tracker::{ActionKind, StepResult, Tracker, TrackingConfig};

/// Frames of the simulator per step: thirty steps a second.
pub const FRAMES_PER_STEP: usize = 2;

/// Numbers of an action: three for each joint but the root.
pub const ACTION: usize = 3 * (pomp_motion::humanoid::JOINTS - 1);
