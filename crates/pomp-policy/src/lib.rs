//! Policies: small networks that act where following a target by the legs alone falls short.
//!
//! The dynamic module's balance (`pomp_physics::BalanceConfig`) follows a target with forces that the feet can exert. It cannot take a
//! step that the target does not take. The balance policy sees the body, its target and the ground ([`observe`]) and adds to the balance, 30
//! times per second: displacements of the feet, accelerations of the centre of mass and of the pelvis, and rotations of trunk and
//! shoulders ([`Action`]). Nothing acts on the body from outside.
//!
//! The get-up policy sees a fallen body on its way over key postures ([`observe_get_up`]), and turns limbs and spine of its target
//! ([`GetUpAction`]).
//!
//! [`Policy`] is the trained network as one file; [`PackedPolicy`] runs it. `pomp-train` trains it by reinforcement learning.

mod action;
mod error;
mod get_up;
mod mirror;
mod model;
mod observation;
mod packed;

pub use action::{ACTIONS, Action};
pub use error::PolicyError;
pub use get_up::{GET_UP_ACTIONS, GET_UP_OBSERVATIONS, GetUpAction, RisingBody, observe_get_up};
pub use mirror::Mirror;
pub use model::{Policy, PolicyDescription, PolicyKind, PolicyNetwork, PolicySizes};
pub use observation::{OBSERVATIONS, Observed, SeenBody, SeenTarget, heading, observe};
pub use packed::PackedPolicy;

/// Frames between two decisions of the policy, at 60 Hz.
pub const FRAMES_PER_DECISION: usize = 2;
