//! All that decides the rollouts of several characters in one world.

use crate::recipe::{check_model, plan_of_rows, rows_of_plan};
use crate::rollout::{Recorder, pushes_at};
use crate::{
    CharacterInput, CharacterSetup, ControlPlan, Ensemble, FRAME_RATE_HZ, GeneratorConfig, GeneratorError,
    ScheduledPush, ScheduledThrow,
};
use glam::{Vec2, Vec3};
use pomp_model::{Model, UsedParts};
use pomp_motion::{Gait, Recipe, Recording};
use pomp_terrain::HeightMap;
use serde::{Deserialize, Serialize};

/// One character of a scene and what happens to it.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterRecipe {
    /// Its settings, seed and start.
    pub setup: CharacterSetup,
    /// Its command, in the world.
    pub plan: ControlPlan,
    /// Pushes on it; those after the end are of no account.
    pub pushes: Vec<ScheduledPush>,
    /// Boxes that are thrown at it; those after the end are of no account.
    pub throws: Vec<ScheduledThrow>,
}

/// Everything that decides the rollouts of several characters in one world, to the bit.
///
/// [`Self::run`] makes one recording per character and stores the whole recipe in each, so that each can be made again alone.
#[derive(Clone, Debug, PartialEq)]
pub struct EnsembleRecipe {
    /// Hash of the model's files, `Model::files_sha256`.
    pub model_sha256: String,
    /// The characters.
    pub characters: Vec<CharacterRecipe>,
    /// The ground.
    pub terrain: HeightMap,
    /// Length, frames.
    pub frames: usize,
}

/// The text of a [`Recipe`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    made_by: String,
    model_sha256: String,
    /// Which character the recording is of, from 0.
    character: usize,
    characters: Vec<CharacterSettings>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CharacterSettings {
    /// As text: TOML's integers end where an i64 does.
    seed: String,
    start: Gait,
    position: [f32; 2],
    yaw: f32,
    /// Its rows of the recipe's plan, which holds all plans one after the other.
    plan_frames: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pushes: Vec<PushSettings>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    throws: Vec<ScheduledThrow>,
    generator: GeneratorConfig,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PushSettings {
    time_s: f32,
    body: usize,
    impulse_ns: [f32; 3],
}

impl EnsembleRecipe {
    /// What the rollouts use of their model.
    pub fn used_parts(&self) -> UsedParts {
        let balance_policy =
            self.characters.iter().any(|character| character.setup.settings.layers.balance_policy.enabled);
        let styles = self.characters.iter().any(|character| character.setup.settings.used_parts().styles);
        UsedParts { balance_policy, styles, ..UsedParts::default() }
    }

    /// Makes the rollouts, one recording per character with the names "character_1", "character_2", …. `after_step` is
    /// that of [`crate::record`], called once per frame of the world.
    ///
    /// # Errors
    /// What [`Ensemble::new`] and [`Ensemble::step`] say, no frames at all, and a model that is not the recipe's.
    pub fn run(
        &self,
        model: &Model,
        mut after_step: impl FnMut(usize) -> f32,
    ) -> Result<Vec<Recording>, GeneratorError> {
        check_model(&self.model_sha256, model, self.used_parts())?;
        if self.frames == 0 {
            return Err(GeneratorError::BadControl { reason: "a rollout of no frames is none".to_owned() });
        }
        let setups: Vec<CharacterSetup> =
            self.characters.iter().map(|character| character.setup.clone()).collect();
        let mut ensemble = Ensemble::new(model, &self.terrain, &setups)?;
        let mut recorders: Vec<Recorder> =
            ensemble.characters().iter().map(|character| Recorder::new(character, self.frames)).collect();
        for frame in 0..self.frames {
            for (i, character) in self.characters.iter().enumerate() {
                let gravity_m_s2 = character.setup.settings.dynamic.gravity_m_s2;
                for throw in character.throws.iter().filter(|throw| throw.frame() == frame) {
                    throw.throw(ensemble.character_mut(i), recorders[i].poses(), gravity_m_s2)?;
                }
            }
            let pushes: Vec<_> =
                self.characters.iter().map(|character| pushes_at(&character.pushes, frame)).collect();
            let inputs: Vec<CharacterInput<'_>> = self
                .characters
                .iter()
                .zip(&pushes)
                .map(|(character, pushes)| CharacterInput { plan: &character.plan, pushes })
                .collect();
            let steps = ensemble.step(&inputs)?;
            let time_us = after_step(frame);
            for ((recorder, step), pushes) in recorders.iter_mut().zip(steps).zip(&pushes) {
                recorder.add(frame, pushes, step, time_us);
            }
        }
        let description = &model.description;
        let recordings = recorders.into_iter().zip(ensemble.characters()).enumerate();
        let recordings = recordings.map(|(i, (recorder, character))| Recording {
            recipe: Some(self.to_record(i)),
            source: format!(
                "pomp {} generate; character {} of {}; model {} trained on data {}; seed {}",
                env!("CARGO_PKG_VERSION"),
                i + 1,
                setups.len(),
                description.config_name,
                description.data_hash,
                setups[i].seed
            ),
            license: "as the model's training data: see its model card".to_owned(),
            config_hash: setups[i].settings.hash(),
            ..recorder.finish(character, &format!("character_{}", i + 1))
        });
        Ok(recordings.collect())
    }

    /// The recording of one `character`, which is given a `name`.
    pub(crate) fn run_for(
        &self,
        model: &Model,
        name: &str,
        character: usize,
        after_step: impl FnMut(usize) -> f32,
    ) -> Result<Recording, GeneratorError> {
        let own = self.run(model, after_step)?.swap_remove(character);
        Ok(Recording { name: name.to_owned(), ..own })
    }

    /// What the recording of `character` holds of it besides ground.
    pub fn to_record(&self, character: usize) -> Recipe {
        let settings = self.text(format!("pomp {}", env!("CARGO_PKG_VERSION")), character);
        Recipe { settings, plan: self.characters.iter().flat_map(|one| rows_of_plan(&one.plan)).collect() }
    }

    fn text(&self, made_by: String, character: usize) -> String {
        let characters = self.characters.iter().map(|character| {
            let CharacterRecipe { setup, plan, pushes, throws } = character;
            let pushes = pushes.iter().map(|push| PushSettings {
                time_s: push.time_s,
                body: push.body,
                impulse_ns: push.impulse_ns.to_array(),
            });
            CharacterSettings {
                seed: setup.seed.to_string(),
                start: setup.start,
                position: setup.position.to_array(),
                yaw: setup.yaw,
                plan_frames: plan.frames(),
                pushes: pushes.collect(),
                throws: throws.clone(),
                generator: setup.settings.clone(),
            }
        });
        let model_sha256 = self.model_sha256.clone();
        let settings = Settings { made_by, model_sha256, character, characters: characters.collect() };
        toml::to_string(&settings).expect("settings are plain data")
    }

    /// Takes the recipe out of a recording, with the index of the character that it is of; `None` when it is no rollout of
    /// several characters.
    ///
    /// # Errors
    /// [`GeneratorError::BadRecipe`] for one that is damaged or whose settings are not those of this version.
    pub fn of_recording(recording: &Recording) -> Result<Option<(Self, usize)>, GeneratorError> {
        let bad = |reason: String| GeneratorError::BadRecipe { recording: recording.name.clone(), reason };
        let (Some(recipe), Some(terrain)) = (&recording.recipe, &recording.terrain) else { return Ok(None) };
        let is_of_several =
            recipe.settings.parse::<toml::Table>().is_ok_and(|table| table.contains_key("characters"));
        if !is_of_several {
            return Ok(None);
        }
        if recording.frame_rate_hz != FRAME_RATE_HZ {
            return Err(bad(format!(
                "it runs at {} Hz, the loop at {FRAME_RATE_HZ}",
                recording.frame_rate_hz
            )));
        }
        let settings: Settings = toml::from_str(&recipe.settings).map_err(|error| bad(error.to_string()))?;
        let (made_by, character) = (settings.made_by, settings.character);
        if character >= settings.characters.len() {
            return Err(bad(format!(
                "it is of character {character}, and there are {}",
                settings.characters.len()
            )));
        }
        let bodies = recording.simulation.as_ref().map_or(0, |simulation| simulation.body_names.len());
        let mut rows = &recipe.plan[..];
        let mut characters = Vec::with_capacity(settings.characters.len());
        for one in settings.characters {
            let Some((plan, rest)) = rows.split_at_checked(one.plan_frames) else {
                return Err(bad(format!(
                    "a plan of {} frames is cut off after {}",
                    one.plan_frames,
                    rows.len()
                )));
            };
            rows = rest;
            if let Some(throw) = one.throws.iter().find(|throw| throw.body >= bodies) {
                return Err(bad(format!("a box is thrown at body {}, and there are {bodies}", throw.body)));
            }
            let pushes = one.pushes.iter().map(|push| ScheduledPush {
                time_s: push.time_s,
                body: push.body,
                impulse_ns: Vec3::from_array(push.impulse_ns),
            });
            characters.push(CharacterRecipe {
                setup: CharacterSetup {
                    seed: one
                        .seed
                        .parse()
                        .map_err(|_| bad(format!("its seed \"{}\" is no number", one.seed)))?,
                    settings: one.generator,
                    start: one.start,
                    position: Vec2::from_array(one.position),
                    yaw: one.yaw,
                },
                plan: plan_of_rows(plan, &recording.name)?,
                pushes: pushes.collect(),
                throws: one.throws,
            });
        }
        if !rows.is_empty() {
            return Err(bad(format!("its plans have {} frames too many", rows.len())));
        }
        let found = Self {
            model_sha256: settings.model_sha256,
            characters,
            terrain: HeightMap::from_grid(terrain.clone()).map_err(|error| bad(error.to_string()))?,
            frames: recording.frames(),
        };
        // A setting that the text lacks has been given its default above, which is a guess.
        if found.text(made_by.clone(), character) != recipe.settings {
            return Err(bad(format!(
                "{made_by}, which made it, has other settings than this program, pomp {}; replay it with that version",
                env!("CARGO_PKG_VERSION")
            )));
        }
        Ok(Some((found, character)))
    }
}
