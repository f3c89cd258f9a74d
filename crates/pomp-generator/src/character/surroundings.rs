//! What is around a character and may change while it moves: the ground, and boxes that fly.

use super::Character;
use crate::{Dynamics, GeneratorError};
use pomp_motion::glam::Vec3;
use pomp_physics::ThrownBox;
use pomp_terrain::HeightMap;
use std::sync::Arc;

impl Character {
    /// Throws a box; `frame` names the place in an error.
    pub(crate) fn throw(&mut self, thrown: &ThrownBox, frame: usize) -> Result<u32, GeneratorError> {
        match self.dynamics {
            Dynamics::Simulated => Ok(self.dynamic.throw(thrown)?),
            Dynamics::KinematicOnly => Err(GeneratorError::NothingToPush { frame }),
        }
    }

    /// Lets the ground accelerate, m/s², until it is told otherwise.
    pub(crate) fn accelerate_ground(&mut self, acceleration_m_s2: Vec3) -> Result<(), GeneratorError> {
        Ok(self.dynamic.accelerate_ground(acceleration_m_s2)?)
    }

    /// Exchanges the ground under the character.
    pub(crate) fn set_terrain(&mut self, terrain: HeightMap) -> Result<(), GeneratorError> {
        self.dynamic.set_terrain(terrain.grid())?;
        self.terrain = Arc::new(terrain);
        self.motion.adaptation.set_terrain(&self.layers, &self.terrain);
        Ok(())
    }
}
