//! Several characters in one world: each leads its own target, and one engine moves them all.

use super::Character;
use crate::{Dynamics, GeneratorError};
use pomp_physics::{DynamicModule, Frame, MemberStep, Push};

impl Character {
    /// Simulates one frame of all `characters` of one world towards their targets; `frame` names the place.
    ///
    /// # Errors
    /// A push that is refused, a character that nothing simulates, or characters of several worlds.
    pub(crate) fn simulate_together(
        characters: &mut [&mut Self],
        pushes: &[&[Push]],
        frame: usize,
    ) -> Result<Vec<Frame>, GeneratorError> {
        for character in characters.iter_mut() {
            if character.dynamics == Dynamics::KinematicOnly {
                return Err(GeneratorError::NothingToPush { frame });
            }
            character.begin()?;
        }
        let mut bodies = Vec::with_capacity(characters.len());
        let mut steps = Vec::with_capacity(characters.len());
        for (character, pushes) in characters.iter_mut().zip(pushes) {
            let Self { dynamic, from, target_pose, .. } = &mut **character;
            bodies.push(dynamic);
            steps.push(MemberStep { from, to: target_pose, pushes, expected: None });
        }
        Ok(DynamicModule::step_together(&mut bodies, &steps)?)
    }
}
