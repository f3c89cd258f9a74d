//! Boxes that are thrown into the ragdoll's world: free rigid bodies that meet body, ground and each other.

use crate::PhysicsError;
use crate::world::{World, WorldState};
use pomp_motion::glam::{Quat, Vec3};
use rapier3d::math::Pose as Placement;
use rapier3d::parry::query::intersection_test;
use rapier3d::prelude::{
    ColliderBuilder, Cuboid, Group, InteractionGroups, InteractionTestMode, RigidBodyBuilder, RigidBodyHandle,
};
use serde::{Deserialize, Serialize};

/// Group of the boxes' colliders.
pub(crate) const BOXES: Group = Group::GROUP_3;
/// Marks a box's collider; bodies carry their index, which is smaller.
pub(crate) const BOX: u128 = u128::MAX - 1;

/// A fast box is seen coming from this far, metres, so that it does not pass through an arm in one step.
const FAST_BOX_PREDICTION_M: f32 = 0.5;
/// A box this far below the pelvis has fallen off the ground, metres.
const FALLEN_OFF_M: f32 = 100.0;

/// A box to be thrown: where it begins, and how it moves then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThrownBox {
    /// Lengths of its sides, metres, each in [`ThrownBox::SIDE_M`].
    pub size_m: Vec3,
    /// Mass, kg, in [`ThrownBox::MASS_KG`], spread evenly.
    pub mass_kg: f32,
    /// Its centre, world, metres.
    pub position: Vec3,
    /// Its sides in the world.
    pub rotation: Quat,
    /// Velocity of its centre, m/s, at most [`ThrownBox::LARGEST_SPEED_M_S`].
    pub velocity: Vec3,
    /// Angular velocity, rad/s, world, at most [`ThrownBox::LARGEST_SPIN_RAD_S`].
    pub spin: Vec3,
}

impl ThrownBox {
    /// Boxes that may be in a world at once.
    pub const MOST: usize = 16;
    /// Shortest and longest side, metres.
    pub const SIDE_M: [f32; 2] = [0.05, 1.0];
    /// Smallest and largest mass, kg. Much beyond the body's the solver's single iteration gets soft.
    pub const MASS_KG: [f32; 2] = [0.05, 100.0];
    /// Largest speed, m/s.
    pub const LARGEST_SPEED_M_S: f32 = 30.0;
    /// Largest rate of turning, rad/s.
    pub const LARGEST_SPIN_RAD_S: f32 = 50.0;
    /// How long a box stays, seconds.
    pub const LIFETIME_S: f32 = 20.0;
    /// How far from the nearest pelvis it may be, metres, along the ground; farther off it is taken away.
    pub const REACH_M: f32 = 40.0;

    /// Checks every number against its range.
    ///
    /// # Errors
    /// [`PhysicsError::BadBox`] with the first field out of range.
    pub fn validate(&self) -> Result<(), PhysicsError> {
        let between = |field, value: f32, low: f32, high: f32| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(PhysicsError::BadBox { field, value, low, high })
            }
        };
        for side in self.size_m.to_array() {
            between("size_m", side, Self::SIDE_M[0], Self::SIDE_M[1])?;
        }
        between("mass_kg", self.mass_kg, Self::MASS_KG[0], Self::MASS_KG[1])?;
        between("speed of its velocity", self.velocity.length(), 0.0, Self::LARGEST_SPEED_M_S)?;
        between("rate of its spin", self.spin.length(), 0.0, Self::LARGEST_SPIN_RAD_S)?;
        for coordinate in self.position.to_array() {
            between("position", coordinate, -1e5, 1e5)?;
        }
        between("length of its rotation", self.rotation.length(), 0.99, 1.01)
    }
}

/// A box in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxState {
    /// Its number: boxes are counted as they are thrown.
    pub number: u32,
    /// Lengths of its sides, metres.
    pub size_m: Vec3,
    /// Mass, kg.
    pub mass_kg: f32,
    /// Centre, world, metres.
    pub position: Vec3,
    /// Its sides in the world.
    pub rotation: Quat,
    /// Velocity of its centre, m/s.
    pub velocity: Vec3,
    /// Angular velocity, rad/s, world.
    pub spin: Vec3,
}

/// The boxes of a world, those that wait for the next frame included: a box enters the engine at the start of a frame, so
/// that nothing between two frames is half registered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Boxes {
    flying: Vec<Flying>,
    pub(crate) waiting: Vec<(u32, ThrownBox)>,
    pub(crate) thrown: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Flying {
    number: u32,
    handle: RigidBodyHandle,
    size_m: Vec3,
    mass_kg: f32,
    /// Frame of the world in which it entered.
    since: u64,
}

impl Boxes {
    /// Those of a world that is begun again: none flies, some wait.
    pub(crate) fn waiting_again(waiting: Vec<(u32, ThrownBox)>, thrown: u32) -> Self {
        Self { flying: Vec::new(), waiting, thrown }
    }

    /// Boxes in the engine.
    pub(crate) fn flying(&self) -> usize {
        self.flying.len()
    }

    fn are_in(&self, state: &WorldState) -> bool {
        self.flying.iter().all(|flying| state.bodies.get(flying.handle).is_some())
    }
}

impl WorldState {
    /// Whether it holds `others` bodies besides its boxes, and all of these.
    pub(crate) fn holds_besides_boxes(&self, others: usize) -> bool {
        let all = others + self.boxes.flying();
        self.bodies.len() == all && self.colliders.len() == all && self.boxes.are_in(self)
    }
}

impl World {
    /// Takes a box in; it begins to fly with the next frame. Gives its number.
    pub(crate) fn throw(&mut self, thrown: &ThrownBox) -> Result<u32, PhysicsError> {
        thrown.validate()?;
        let boxes = &self.state.boxes;
        let there = boxes.flying.len() + boxes.waiting.len();
        if there >= ThrownBox::MOST {
            return Err(PhysicsError::TooManyBoxes { most: ThrownBox::MOST });
        }
        if let Some((ragdoll, body)) = self.body_within(thrown) {
            return Err(PhysicsError::BoxInBody { ragdoll, body });
        }
        let boxes = &mut self.state.boxes;
        let number = boxes.thrown;
        boxes.thrown = boxes.thrown.wrapping_add(1);
        boxes.waiting.push((number, *thrown));
        Ok(number)
    }

    /// The first body that a box would begin in, after the index of its ragdoll.
    fn body_within(&self, thrown: &ThrownBox) -> Option<(usize, usize)> {
        let cuboid = Cuboid::new(thrown.size_m * 0.5);
        let at = Placement::from_parts(thrown.position, thrown.rotation.normalize());
        self.ragdolls.iter().enumerate().find_map(|(i, ragdoll)| {
            let pose = ragdoll.motion(&self.state).pose;
            let body = ragdoll.bodies(&self.state).position(|(body, collider)| {
                let joint = Placement::from_parts(pose.positions[body], pose.rotations[body]);
                let within = collider.position_wrt_parent().map_or(joint, |shape| joint * *shape);
                intersection_test(&at, &cuboid, &within, collider.shape())
                    .is_ok_and(|found| found.intersecting)
            })?;
            Some((i, body))
        })
    }

    /// Takes away what is old or far, and lets fly what waits.
    pub(crate) fn renew_boxes(&mut self, frame_s: f32) {
        if self.state.boxes.flying.is_empty() && self.state.boxes.waiting.is_empty() {
            return;
        }
        let pelvises: Vec<Vec3> =
            self.ragdolls.iter().map(|ragdoll| ragdoll.motion(&self.state).pose.positions[0]).collect();
        let friction = self.friction();
        let frame = self.state.frame;
        let most_frames = (ThrownBox::LIFETIME_S / frame_s) as u64;
        let mut kept = Vec::new();
        for flying in std::mem::take(&mut self.state.boxes.flying) {
            let body = self.state.bodies.get(flying.handle);
            let near = pelvises.iter().any(|pelvis| {
                let away = body.map_or(Vec3::INFINITY, |body| body.translation() - pelvis);
                away.x.hypot(away.z) <= ThrownBox::REACH_M && away.y >= -FALLEN_OFF_M
            });
            if near && frame.saturating_sub(flying.since) < most_frames {
                self.lay_on_ground(&flying);
                kept.push(flying);
            } else {
                self.remove_body(flying.handle);
            }
        }
        let s = &mut self.state;
        for (number, thrown) in std::mem::take(&mut s.boxes.waiting) {
            let body = RigidBodyBuilder::dynamic()
                .pose(Placement::from_parts(thrown.position, thrown.rotation.normalize()))
                .linvel(thrown.velocity)
                .angvel(thrown.spin)
                .can_sleep(false)
                .soft_ccd_prediction(FAST_BOX_PREDICTION_M);
            let handle = s.bodies.insert(body);
            let half = thrown.size_m * 0.5;
            let collider = ColliderBuilder::cuboid(half.x, half.y, half.z)
                .mass(thrown.mass_kg)
                .friction(friction)
                .collision_groups(InteractionGroups::new(BOXES, Group::ALL, InteractionTestMode::And))
                .user_data(BOX);
            s.colliders.insert_with_parent(collider, handle, &mut s.bodies);
            let ThrownBox { size_m, mass_kg, .. } = thrown;
            kept.push(Flying { number, handle, size_m, mass_kg, since: frame });
        }
        s.boxes.flying = kept;
    }

    /// Lays a box whose middle has got under the ground on it: the contacts are as soft as feet, so that a small fast box
    /// sinks through, and the ground may have been raised over a box.
    fn lay_on_ground(&mut self, flying: &Flying) {
        let Some(body) = self.state.bodies.get(flying.handle) else { return };
        let (at, velocity) = (body.translation(), body.linvel());
        let Some(height) = self.ground_height(at.x, at.z) else { return };
        if at.y < height {
            let body = &mut self.state.bodies[flying.handle];
            body.set_translation(Vec3::new(at.x, height + 0.5 * flying.size_m.min_element(), at.z), true);
            body.set_linvel(Vec3::new(velocity.x, velocity.y.max(0.0), velocity.z), true);
        }
    }

    /// The boxes, as they were thrown; those that wait are where they begin.
    pub(crate) fn boxes(&self) -> Vec<BoxState> {
        let boxes = &self.state.boxes;
        let flying = boxes.flying.iter().filter_map(|flying| {
            let body = self.state.bodies.get(flying.handle)?;
            Some(BoxState {
                number: flying.number,
                size_m: flying.size_m,
                mass_kg: flying.mass_kg,
                position: body.translation(),
                rotation: *body.rotation(),
                velocity: body.linvel(),
                spin: body.angvel(),
            })
        });
        let waiting = boxes.waiting.iter().map(|(number, thrown)| BoxState {
            number: *number,
            size_m: thrown.size_m,
            mass_kg: thrown.mass_kg,
            position: thrown.position,
            rotation: thrown.rotation,
            velocity: thrown.velocity,
            spin: thrown.spin,
        });
        flying.chain(waiting).collect()
    }
}
