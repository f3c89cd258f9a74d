//! Several characters in one world: each leads its own target, and one engine moves them all.

use super::Character;
use crate::GeneratorError;
use pomp_physics::{DynamicModule, Frame, MemberStep, Push};

impl Character {
    /// Simulates one frame of all `characters`, which one world must hold, towards their targets.
    ///
    /// # Errors
    /// A push that is refused, or characters of several worlds.
    pub(crate) fn simulate_together(
        characters: &mut [&mut Self],
        pushes: &[&[Push]],
    ) -> Result<Vec<Frame>, GeneratorError> {
        for character in characters.iter_mut() {
            character.begin()?;
            character.react();
        }
        let expected: Vec<_> = characters.iter().map(|character| character.expected()).collect();
        let mut bodies = Vec::with_capacity(characters.len());
        let mut steps = Vec::with_capacity(characters.len());
        for ((character, pushes), expected) in characters.iter_mut().zip(pushes).zip(&expected) {
            let Self { dynamic, motion, .. } = &mut **character;
            bodies.push(dynamic);
            let (from, to) = motion.driven();
            steps.push(MemberStep { from, to, pushes, expected: expected.as_ref() });
        }
        Ok(DynamicModule::step_together(&mut bodies, &steps)?)
    }
}
