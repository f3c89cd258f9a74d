//! The rollouts of several recipes, made frame by frame together.

use crate::recipe::check_model;
use crate::rollout::{Recorder, pushes_at};
use crate::{CharacterInput, CharacterSetup, Generator, GeneratorError, Networks, RolloutRecipe, Worlds};
use glam::Vec2;
use pomp_model::Model;
use pomp_motion::Recording;
use pomp_physics::Push;

impl RolloutRecipe {
    /// Makes the rollouts of some recipes with their names, frame by frame together ([`Worlds`]); `networks` are those of
    /// `model`. Each is the same bytes as the one that [`Self::run`] makes, without frame times.
    ///
    /// # Errors
    /// Of each rollout what [`Self::run`] says, and [`GeneratorError::BadScene`] for settings that the networks were not made
    /// for.
    pub fn run_together(
        recipes: &[(&Self, &str)],
        model: &Model,
        networks: &Networks,
    ) -> Vec<Result<Recording, GeneratorError>> {
        let mut rollouts =
            Rollouts { model, worlds: Worlds::new(networks.clone()), running: Vec::new(), done: Vec::new() };
        for (index, (recipe, name)) in recipes.iter().enumerate() {
            match rollouts.enter(recipe) {
                Ok(recorder) => rollouts.running.push(Running { index, recipe, name, recorder }),
                Err(error) => rollouts.done.push((index, Err(error))),
            }
        }
        let mut frame = 0;
        while !rollouts.running.is_empty() {
            rollouts.step(frame);
            frame += 1;
        }
        rollouts.done.sort_by_key(|(index, _)| *index);
        rollouts.done.into_iter().map(|(_, outcome)| outcome).collect()
    }
}

/// Rollouts on their way.
struct Rollouts<'a> {
    model: &'a Model,
    worlds: Worlds,
    /// In the order of the characters.
    running: Vec<Running<'a>>,
    /// With their index among the recipes.
    done: Vec<(usize, Result<Recording, GeneratorError>)>,
}

struct Running<'a> {
    index: usize,
    recipe: &'a RolloutRecipe,
    name: &'a str,
    recorder: Recorder,
}

impl Rollouts<'_> {
    /// Adds the character of a recipe.
    fn enter(&mut self, recipe: &RolloutRecipe) -> Result<Recorder, GeneratorError> {
        check_model(&recipe.model_sha256, self.model, recipe.settings.used_parts())?;
        recipe.check_frames()?;
        let setup = CharacterSetup {
            settings: recipe.settings.clone(),
            start: recipe.start,
            seed: recipe.seed,
            position: Vec2::ZERO,
            yaw: 0.0,
        };
        self.worlds.add(self.model, recipe.terrain.clone(), &setup)?;
        let character = self.worlds.characters().last().expect("one was added");
        Ok(Recorder::new(character, recipe.frames))
    }

    /// Moves all on by one frame. Those that end or fail leave, the last one first.
    fn step(&mut self, frame: usize) {
        for place in (0..self.running.len()).rev() {
            let Running { recipe, recorder, .. } = &self.running[place];
            let character = &mut self.worlds.characters_mut()[place];
            if let Err(error) = throw_boxes(recipe, frame, character, recorder) {
                self.leave(place, Some(error));
            }
        }
        let pushes: Vec<Vec<Push>> =
            self.running.iter().map(|running| pushes_at(&running.recipe.pushes, frame)).collect();
        let inputs = self.running.iter().zip(&pushes);
        let inputs: Vec<CharacterInput<'_>> =
            inputs.map(|(running, pushes)| CharacterInput { plan: &running.recipe.plan, pushes }).collect();
        let steps = self.worlds.step(&inputs);
        for (place, (step, pushes)) in steps.into_iter().zip(&pushes).enumerate().rev() {
            let running = &mut self.running[place];
            match step {
                Ok(step) => running.recorder.add(frame, pushes, step, 0.0),
                Err(error) => {
                    self.leave(place, Some(error));
                    continue;
                }
            }
            if frame + 1 == running.recipe.frames {
                self.leave(place, None);
            }
        }
    }

    /// Ends the rollout of a character, which failed if there is an `error`.
    fn leave(&mut self, place: usize, error: Option<GeneratorError>) {
        let character = self.worlds.remove(place);
        let Running { index, recipe, name, recorder } = self.running.remove(place);
        let outcome = error.map_or_else(
            || {
                let mut recording = recipe.sign(recorder.finish(&character, name), self.model);
                if let Some(generation) = &mut recording.generation {
                    generation.frame_time_us = None;
                }
                Ok(recording)
            },
            Err,
        );
        self.done.push((index, outcome));
    }
}

fn throw_boxes(
    recipe: &RolloutRecipe,
    frame: usize,
    character: &mut Generator,
    recorder: &Recorder,
) -> Result<(), GeneratorError> {
    for throw in recipe.throws.iter().filter(|throw| throw.frame() == frame) {
        throw.throw(character, recorder.poses(), recipe.settings.dynamic.gravity_m_s2)?;
    }
    Ok(())
}
