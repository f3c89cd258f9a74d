//! The balance policy: a small network that reacts where balance by the legs alone falls short.
//!
//! The dynamic module's balance (`pomp_physics::BalanceConfig`) follows a target with forces that the feet can exert. It cannot take a
//! step that the target does not take. The policy sees the body, its target and the ground ([`observe`]) and adds to the balance, 30
//! times per second: displacements of the feet, accelerations of the centre of mass and of the pelvis, and rotations of trunk and
//! shoulders ([`Action`]). Nothing acts on the body from outside.
//!
//! [`BalancePolicy`] is the trained network as one file; [`PackedPolicy`] runs it. `pomp-train` trains it by reinforcement learning.

mod action;
mod error;
mod mirror;
mod model;
mod observation;
mod packed;

pub use action::{ACTIONS, Action};
pub use error::PolicyError;
pub use mirror::Mirror;
pub use model::{BalancePolicy, PolicyDescription, PolicyNetwork, PolicySizes};
pub use observation::{OBSERVATIONS, Observed, SeenBody, SeenTarget, heading, observe};
pub use packed::PackedPolicy;

/// Frames between two decisions of the policy, at 60 Hz.
pub const FRAMES_PER_DECISION: usize = 2;
