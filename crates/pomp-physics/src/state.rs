use crate::boxes::Boxes;
use crate::ground::Ground;
use pomp_articulated::{LinkOf, State};
use pomp_motion::glam::DVec3;
use serde::{Deserialize, Serialize};

/// Everything of a world that a continuation of one of its ragdolls, without the others, depends on.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct WorldState {
    pub(crate) ragdoll: State,
    pub(crate) boxes: Boxes,
    /// Of the boxes that fly, in their order.
    pub(crate) flying: Vec<State>,
    pub(crate) held: Vec<HeldContact>,
    pub(crate) frame: u64,
    pub(crate) ground: Ground,
}

/// A contact of the last step, with which the next one begins.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct HeldContact {
    pub(crate) on: LinkOf,
    pub(crate) from: Option<LinkOf>,
    /// World, metres.
    pub(crate) point: DVec3,
    /// On `on`, N·s, world, in each [`Pass`].
    pub(crate) impulses: [DVec3; 2],
}

/// What a step is solved for. A body that balances is solved twice, and loads its feet quite differently: each pass begins with what it
/// found in the step before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// The motion that happens.
    Real,
    /// That with the roots of bodies that balance held as is wanted, to learn what this takes.
    RootsHeld,
}
