//! Boxes that are thrown into the ragdoll's world: free rigid bodies that meet body, ground and each other.

use crate::PhysicsError;
use pomp_motion::glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

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
    /// Smallest and largest mass, kg.
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

/// The boxes of a world, those that wait for the next frame included.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Boxes {
    pub(crate) flying: Vec<Flying>,
    pub(crate) waiting: Vec<(u32, ThrownBox)>,
    pub(crate) thrown: u32,
}

/// A box that moves.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Flying {
    pub(crate) number: u32,
    pub(crate) size_m: Vec3,
    pub(crate) mass_kg: f32,
    /// Frame of the world in which it entered.
    pub(crate) since: u64,
}

impl Boxes {
    /// Those of a world that is begun again: none flies, some wait.
    pub(crate) fn waiting_again(waiting: Vec<(u32, ThrownBox)>, thrown: u32) -> Self {
        Self { flying: Vec::new(), waiting, thrown }
    }
}
