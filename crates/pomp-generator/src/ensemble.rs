//! Several characters in one world.

use crate::character::Character;
use crate::layers::stature::Stature;
use crate::networks::Networks;
use crate::{ControlPlan, Dynamics, Generator, GeneratorConfig, GeneratorError, StepOutput};
use glam::Vec2;
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_physics::{DynamicModule, Push};
use pomp_terrain::HeightMap;

/// The settings, seed and start of one of several characters.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterSetup {
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
pub struct CharacterInput<'a> {
    /// Its command, in the world.
    pub plan: &'a ControlPlan,
    /// Pushes during the frame.
    pub pushes: &'a [Push],
}

/// Characters in one physical world, each with a command of its own. Their bodies meet: what one does to another is
/// `simulated.character_impulse` of its step. They do not see each other and do not give way, and plans are tried in worlds without the others.
pub struct Ensemble {
    /// Where all characters sample and read phases alike, as they usually do: the networks run for all of them together.
    networks: Option<Networks>,
    generators: Vec<Generator>,
}

/// Least distance between two starts, metres: arms hang beside the body.
const APART_M: f32 = 0.8;

impl Ensemble {
    /// Largest number of characters.
    pub const MOST: usize = 8;

    /// The characters of `setups` on `terrain`.
    ///
    /// # Errors
    /// None or too many of them, starts off the ground or within each other, one that is not simulated, settings of the world
    /// that differ, and what [`Generator::new`] says.
    pub fn new(
        model: &Model,
        terrain: &HeightMap,
        setups: &[CharacterSetup],
    ) -> Result<Self, GeneratorError> {
        check_setups(terrain, setups)?;
        let trained = &model.description.skeleton;
        let skeletons = setups
            .iter()
            .map(|setup| Ok(Stature::of(setup.settings.layers.stature, trained)?.skeleton(trained)))
            .collect::<Result<Vec<_>, GeneratorError>>()?;
        let inputs: Vec<_> = skeletons
            .iter()
            .zip(setups)
            .map(|(skeleton, setup)| (skeleton, &setup.settings.dynamic))
            .collect();
        let bodies = DynamicModule::together(&inputs, terrain.grid())?;
        let mut generators: Vec<Generator> = Vec::with_capacity(setups.len());
        for (setup, body) in setups.iter().zip(bodies) {
            let like = generators.iter().find_map(|other| other.networks_for(model, &setup.settings));
            let networks = like.map_or_else(|| Networks::new(model, &setup.settings), Ok)?;
            generators.push(Generator::with_body(model, &networks, terrain.clone(), setup, Some(body))?);
        }
        let first = generators[0].networks_for(model, &setups[0].settings);
        let alike =
            |networks: &Networks| setups.iter().all(|setup| networks.check(model, &setup.settings).is_ok());
        Ok(Self { networks: first.filter(alike), generators })
    }

    /// Moves all on by one frame; an input for each, in the order of the setups.
    ///
    /// # Errors
    /// Another number of inputs than of characters, and what [`Generator::step`] says.
    pub fn step(&mut self, inputs: &[CharacterInput<'_>]) -> Result<Vec<StepOutput>, GeneratorError> {
        if inputs.len() != self.generators.len() {
            return Err(GeneratorError::BadControl {
                reason: format!("{} inputs for {} characters", inputs.len(), self.generators.len()),
            });
        }
        let Self { networks, generators } = self;
        run(networks, generators, Networks::begin);
        for (generator, input) in generators.iter_mut().zip(inputs) {
            let (own, inner) = generator.parts_mut();
            inner.fill_window(input.plan, networks.as_mut().unwrap_or(own))?;
        }
        run(networks, generators, |networks| networks.kinematic.run());
        for generator in generators.iter_mut() {
            let (own, inner) = generator.parts_mut();
            inner.set_target(networks.as_ref().unwrap_or(own))?;
        }
        let mut characters: Vec<&mut Character> =
            generators.iter_mut().map(|generator| generator.inner_mut().character_mut()).collect();
        let pushes: Vec<&[Push]> = inputs.iter().map(|input| input.pushes).collect();
        let simulated = Character::simulate_together(&mut characters, &pushes)?;
        for (generator, simulated) in generators.iter_mut().zip(&simulated) {
            let (own, inner) = generator.parts_mut();
            inner.observe(simulated, networks.as_mut().unwrap_or(own))?;
        }
        run(networks, generators, |networks| networks.phase.decode());
        for generator in generators.iter_mut() {
            let (own, inner) = generator.parts_mut();
            inner.stitch(networks.as_mut().unwrap_or(own))?;
        }
        run(networks, generators, |networks| networks.phase.encode());
        let steps = generators.iter_mut().zip(inputs).zip(simulated);
        steps
            .map(|((generator, input), simulated)| {
                let (own, inner) = generator.parts_mut();
                let networks = networks.as_ref().unwrap_or(own);
                inner.take_over(input.plan, simulated, !input.pushes.is_empty(), networks)
            })
            .collect()
    }

    /// The characters, in the order of the setups.
    pub fn characters(&self) -> &[Generator] {
        &self.generators
    }

    /// A character, to throw something at.
    pub(crate) fn character_mut(&mut self, index: usize) -> &mut Generator {
        &mut self.generators[index]
    }
}

/// Lets the networks do something: the common ones, or each character's own.
fn run(common: &mut Option<Networks>, generators: &mut [Generator], mut act: impl FnMut(&mut Networks)) {
    match common {
        Some(networks) => act(networks),
        None => generators.iter_mut().for_each(|generator| act(generator.parts_mut().0)),
    }
}

fn check_setups(terrain: &HeightMap, setups: &[CharacterSetup]) -> Result<(), GeneratorError> {
    let bad = |reason: String| Err(GeneratorError::BadScene { reason });
    if !(1..=Ensemble::MOST).contains(&setups.len()) {
        let (found, most) = (setups.len(), Ensemble::MOST);
        return bad(format!("it has {found} characters; a world holds 1 to {most}"));
    }
    let bounds = terrain.bounds();
    for (i, setup) in setups.iter().enumerate() {
        setup.settings.validate()?;
        let number = i + 1;
        let Vec2 { x, y: z } = setup.position;
        if !(setup.position.is_finite() && setup.yaw.is_finite()) {
            return bad(format!("the start of character {number} is not finite"));
        }
        if !bounds.contains(x, z) {
            return bad(format!("character {number} starts at x {x}, z {z}, which is off the ground"));
        }
        if setup.settings.ground_motion != setups[0].settings.ground_motion {
            return bad(format!(
                "character {number} has another ground_motion than character 1; they stand on one ground"
            ));
        }
        if setup.settings.dynamics == Dynamics::KinematicOnly {
            return bad(format!(
                "character {number} has dynamics = \"kinematic_only\"; characters that share a world are simulated"
            ));
        }
        let near = setups[..i].iter().position(|other| other.position.distance(setup.position) < APART_M);
        if let Some(other) = near {
            return bad(format!(
                "characters {} and {number} start within {APART_M} m of each other; move one away",
                other + 1
            ));
        }
    }
    Ok(())
}
