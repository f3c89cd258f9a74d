//! What of the engine a continuation depends on, and how its colliders are grouped and marked.

use crate::boxes::Boxes;
use rapier3d::prelude::{
    BroadPhaseBvh, ColliderSet, Group, IslandManager, MultibodyJointSet, NarrowPhase, RigidBodySet,
};
use serde::{Deserialize, Serialize};

/// Group of the ground's collider.
pub(crate) const GROUND_GROUP: Group = Group::GROUP_1;
/// Group of the ragdolls' colliders.
pub(crate) const BODIES: Group = Group::GROUP_2;
/// Group of the boxes' colliders.
pub(crate) const BOXES: Group = Group::GROUP_3;

/// Marks the ground's collider; bodies carry the mark of their ragdoll and index ([`mark`]), which is smaller.
pub(crate) const GROUND: u128 = u128::MAX;
/// Marks a box's collider.
pub(crate) const BOX: u128 = u128::MAX - 1;

/// Marks the collider of a body of ragdoll `member`.
pub(crate) fn mark(member: usize, body: usize) -> u128 {
    (member as u128) << 32 | body as u128
}

/// The ragdoll and the body that a mark of [`mark`] names.
pub(crate) fn marked(mark: u128) -> (usize, usize) {
    ((mark >> 32) as usize, (mark & 0xffff_ffff) as usize)
}

/// Everything of the engine that a continuation depends on.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct WorldState {
    pub(crate) islands: IslandManager,
    pub(crate) broad_phase: BroadPhaseBvh,
    pub(crate) narrow_phase: NarrowPhase,
    pub(crate) bodies: RigidBodySet,
    pub(crate) colliders: ColliderSet,
    pub(crate) multibody_joints: MultibodyJointSet,
    pub(crate) frame: u64,
    pub(crate) boxes: Boxes,
    /// Of the ground, metres.
    pub(crate) lowest_ground: f32,
    /// The ground has changed, and the engine has not been told: it would forget that in a snapshot.
    pub(crate) ground_is_new: bool,
}

impl WorldState {
    /// Whether it holds `others` bodies besides its boxes, and all of these.
    pub(crate) fn holds_besides_boxes(&self, others: usize) -> bool {
        let all = others + self.boxes.flying();
        self.bodies.len() == all && self.colliders.len() == all && self.boxes.are_in(&self.bodies)
    }
}
