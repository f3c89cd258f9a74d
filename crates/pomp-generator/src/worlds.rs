//! Characters in worlds of their own, moved on together.

use crate::networks::Networks;
use crate::{CharacterInput, CharacterSetup, Generator, GeneratorError, StepOutput};
use pomp_model::Model;
use pomp_physics::Frame;
use pomp_terrain::HeightMap;

/// Characters of one model, each in a world of its own, that take their frames together: the networks read every weight once
/// for all of them, which large networks spend most of a frame on. What a character does is the same bytes in any company.
///
/// ```
/// use pomp_generator::{
///     CharacterInput, CharacterSetup, ControlPlan, FRAME_RATE_HZ, GeneratorConfig, Networks, Preset, Worlds,
/// };
/// use pomp_motion::Gait;
/// use pomp_motion::glam::Vec2;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = pomp_embedded::load(&pomp_embedded::Device::flex())?;
/// let settings = GeneratorConfig::default();
/// let mut worlds = Worlds::new(Networks::new(&model, &settings)?);
/// for seed in 0..4 {
///     let ground = pomp_terrain::HeightMap::flat(20.0, 1.0)?;
///     let settings = settings.clone();
///     let setup = CharacterSetup { settings, start: Gait::Walk, seed, position: Vec2::ZERO, yaw: 0.0 };
///     worlds.add(&model, ground, &setup)?;
/// }
/// let plan = ControlPlan::preset(Preset::Walk, 5.0, FRAME_RATE_HZ);
/// for _ in 0..30 {
///     let inputs = [CharacterInput { plan: &plan, pushes: &[] }; 4];
///     for step in worlds.step(&inputs) {
///         assert!(!step?.fallen);
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Worlds {
    networks: Networks,
    generators: Vec<Generator>,
}

impl Worlds {
    /// No characters yet, for those whose networks are these.
    pub fn new(networks: Networks) -> Self {
        Self { networks, generators: Vec::new() }
    }

    /// Adds a character on a `terrain` of its own, as the last one. `model` is the one of the networks.
    ///
    /// # Errors
    /// As [`Generator::with_networks`].
    pub fn add(
        &mut self,
        model: &Model,
        terrain: HeightMap,
        setup: &CharacterSetup,
    ) -> Result<(), GeneratorError> {
        self.generators.push(Generator::with_networks(model, &self.networks, terrain, setup)?);
        Ok(())
    }

    /// Takes a character out; those after it move up.
    ///
    /// # Panics
    /// When there is no such character.
    pub fn remove(&mut self, index: usize) -> Generator {
        self.generators.remove(index)
    }

    /// Puts another character, on a `terrain` of its own, in the place of one. `model` is the one of the networks.
    ///
    /// # Errors
    /// As [`Generator::with_networks`]; nothing is changed then.
    ///
    /// # Panics
    /// When there is no such character.
    pub fn replace(
        &mut self,
        index: usize,
        model: &Model,
        terrain: HeightMap,
        setup: &CharacterSetup,
    ) -> Result<(), GeneratorError> {
        self.generators[index] = Generator::with_networks(model, &self.networks, terrain, setup)?;
        Ok(())
    }

    /// The characters, in the order in which they were added.
    pub fn characters(&self) -> &[Generator] {
        &self.generators
    }

    /// The same, to throw something at them or to change them between two frames.
    pub fn characters_mut(&mut self) -> &mut [Generator] {
        &mut self.generators
    }

    /// Moves all on by one frame; an input for each. What stops one character stops no other; one that was stopped is to be
    /// removed.
    ///
    /// # Errors
    /// Of each character what [`Generator::step`] says.
    ///
    /// # Panics
    /// When there are not as many inputs as characters.
    pub fn step(&mut self, inputs: &[CharacterInput<'_>]) -> Vec<Result<StepOutput, GeneratorError>> {
        let Self { networks, generators } = self;
        assert_eq!(inputs.len(), generators.len(), "an input for each character");
        networks.begin();
        let windows = generators.iter_mut().zip(inputs);
        let windows: Vec<Result<(), GeneratorError>> = windows
            .map(|(generator, input)| generator.inner_mut().fill_window(input.plan, networks))
            .collect();
        networks.kinematic.run();
        let characters = generators.iter_mut().zip(inputs).zip(windows);
        let simulated: Vec<Result<Frame, GeneratorError>> = characters
            .map(|((generator, input), window)| {
                window?;
                let inner = generator.inner_mut();
                inner.set_target(networks)?;
                let simulated = inner.simulate(input.pushes)?;
                inner.observe(&simulated, networks)?;
                Ok(simulated)
            })
            .collect();
        networks.phase.decode();
        let characters = generators.iter_mut().zip(simulated);
        let simulated: Vec<Result<Frame, GeneratorError>> = characters
            .map(|(generator, simulated)| {
                let simulated = simulated?;
                generator.inner_mut().stitch(networks)?;
                Ok(simulated)
            })
            .collect();
        networks.phase.encode();
        let characters = generators.iter_mut().zip(inputs).zip(simulated);
        characters
            .map(|((generator, input), simulated)| {
                generator.inner_mut().take_over(input.plan, simulated?, !input.pushes.is_empty(), networks)
            })
            .collect()
    }
}
