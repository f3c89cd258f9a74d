//! Several characters in one world.

use crate::character::Character;
use crate::layers::stature::Stature;
use crate::{ControlPlan, Dynamics, Generator, GeneratorConfig, GeneratorError, StepOutput};
use glam::Vec2;
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_physics::{DynamicModule, Push};
use pomp_terrain::HeightMap;

/// Who a character of several is, and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// Its loop and body; what belongs to the world (frame rate, steps, gravity, friction, contacts) is the same for all.
    pub settings: GeneratorConfig,
    /// Gait of the start.
    pub start: Gait,
    /// Seed of its noise.
    pub seed: u64,
    /// Where it starts, world x and z, metres.
    pub position: Vec2,
    /// Which way it faces there, radians; 0 is +Z.
    pub yaw: f32,
}

/// What one character of several is to do in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its command, in the world.
    pub plan: &'a ControlPlan,
    /// Pushes during the frame.
    pub pushes: &'a [Push],
}

/// Characters in one physical world, each with a command of its own. Their bodies meet: what one does to another is
/// `simulated.character_impulse` of its step. They do not see each other: nobody gives way.
pub struct Ensemble {
    generators: Vec<Generator>,
}

/// Least distance between two starts, metres: arms hang beside the body.
const APART_M: f32 = 0.8;

impl Ensemble {
    /// Largest number of characters.
    pub const MOST: usize = 8;

    /// The characters of `cast` on `terrain`.
    ///
    /// # Errors
    /// None or too many of them, starts off the ground or within each other, one that is not simulated, settings of the world
    /// that differ, and what [`Generator::new`] says.
    pub fn new(model: &Model, terrain: &HeightMap, cast: &[Role]) -> Result<Self, GeneratorError> {
        check_cast(terrain, cast)?;
        let trained = &model.description.skeleton;
        let skeletons = cast
            .iter()
            .map(|role| Ok(Stature::of(role.settings.layers.stature, trained)?.skeleton(trained)))
            .collect::<Result<Vec<_>, GeneratorError>>()?;
        let parts: Vec<_> =
            skeletons.iter().zip(cast).map(|(skeleton, role)| (skeleton, &role.settings.dynamic)).collect();
        let bodies = DynamicModule::together(&parts, terrain.grid())?;
        let generators = cast
            .iter()
            .zip(bodies)
            .map(|(role, body)| Generator::with_body(model, terrain.clone(), role, Some(body)));
        Ok(Self { generators: generators.collect::<Result<_, _>>()? })
    }

    /// Moves all on by one frame; a part for each, in the order of the cast.
    ///
    /// # Errors
    /// Another number of parts than of characters, and what [`Generator::step`] says.
    pub fn step(&mut self, parts: &[Part<'_>]) -> Result<Vec<StepOutput>, GeneratorError> {
        if parts.len() != self.generators.len() {
            return Err(GeneratorError::BadControl {
                reason: format!("{} parts for {} characters", parts.len(), self.generators.len()),
            });
        }
        let mut controls = Vec::with_capacity(parts.len());
        for (generator, part) in self.generators.iter_mut().zip(parts) {
            controls.push(generator.set_target(part.plan)?);
        }
        let mut characters: Vec<&mut Character> =
            self.generators.iter_mut().map(Generator::character_mut).collect();
        let pushes: Vec<&[Push]> = parts.iter().map(|part| part.pushes).collect();
        let simulated = Character::simulate_together(&mut characters, &pushes)?;
        let steps = self.generators.iter_mut().zip(parts).zip(controls).zip(simulated);
        steps
            .map(|(((generator, part), control), simulated)| {
                generator.take_over(part.plan, control, simulated, !part.pushes.is_empty())
            })
            .collect()
    }

    /// The characters, in the order of the cast.
    pub fn characters(&self) -> &[Generator] {
        &self.generators
    }

    /// A character, to throw something at.
    pub(crate) fn character_mut(&mut self, index: usize) -> &mut Generator {
        &mut self.generators[index]
    }
}

fn check_cast(terrain: &HeightMap, cast: &[Role]) -> Result<(), GeneratorError> {
    let bad = |reason: String| Err(GeneratorError::BadScene { reason });
    if !(1..=Ensemble::MOST).contains(&cast.len()) {
        let (found, most) = (cast.len(), Ensemble::MOST);
        return bad(format!("it has {found} characters; a world holds 1 to {most}"));
    }
    let bounds = terrain.bounds();
    for (i, role) in cast.iter().enumerate() {
        role.settings.validate()?;
        let number = i + 1;
        let Vec2 { x, y: z } = role.position;
        if !(role.position.is_finite() && role.yaw.is_finite()) {
            return bad(format!("the start of character {number} is not finite"));
        }
        if !bounds.contains(x, z) {
            return bad(format!("character {number} starts at x {x}, z {z}, which is off the ground"));
        }
        if role.settings.ground_motion != cast[0].settings.ground_motion {
            return bad(format!(
                "character {number} has another ground_motion than character 1; they stand on one ground"
            ));
        }
        if role.settings.dynamics == Dynamics::KinematicOnly {
            return bad(format!(
                "character {number} has dynamics = \"kinematic_only\"; who shares a world is simulated"
            ));
        }
        let near = cast[..i].iter().position(|other| other.position.distance(role.position) < APART_M);
        if let Some(other) = near {
            return bad(format!(
                "characters {} and {number} start within {APART_M} m of each other; move one away",
                other + 1
            ));
        }
    }
    Ok(())
}
