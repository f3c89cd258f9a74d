//! All that decides a rollout: what is asked for before it, and what makes it again afterwards.

use crate::control::ControlSample;
use crate::rollout::{push_frame, record_with_throws};
use crate::{
    ControlPlan, EnsembleRecipe, FRAME_RATE_HZ, Generator, GeneratorConfig, GeneratorError, ScheduledPush,
    ScheduledThrow,
};
use glam::Vec2;
use pomp_files::Digest;
use pomp_model::{Model, UsedParts};
use pomp_motion::{Difference, Gait, GenerationTrack, Recipe, Recording, differences};
use pomp_terrain::HeightMap;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Everything that decides a rollout, to the bit.
///
/// [`Self::run`] makes the rollout and stores in it what it was made of; [`Self::of_recording`] takes it out again. On one
/// machine the same recipe gives the same numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutRecipe {
    /// Hash of the model's files, `Model::sha256_with` of what the settings use.
    pub model_sha256: String,
    /// Settings of the loop.
    pub settings: GeneratorConfig,
    /// Gait of the start.
    pub start: Gait,
    /// Seed of the noise.
    pub seed: u64,
    /// The command.
    pub plan: ControlPlan,
    /// The pushes; those after the end are of no account.
    pub pushes: Vec<ScheduledPush>,
    /// The boxes; those after the end are of no account.
    pub throws: Vec<ScheduledThrow>,
    /// The ground.
    pub terrain: HeightMap,
    /// Length, frames.
    pub frames: usize,
}

/// A rollout made again from its record.
#[derive(Clone, Debug)]
pub struct Replay {
    /// What came out now, with the names and provenance of the first.
    pub recording: Recording,
    /// Where it differs from the record (first) bit for bit; empty when it does not.
    pub differences: Vec<Difference>,
}

/// The text of a [`Recipe`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    made_by: String,
    model_sha256: String,
    /// As text: TOML's integers end where an i64 does.
    seed: String,
    start: Gait,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    throws: Vec<ScheduledThrow>,
    generator: GeneratorConfig,
}

impl RolloutRecipe {
    /// Makes the rollout. `after_step` is that of [`crate::record`].
    ///
    /// # Errors
    /// What [`Generator::new`] and [`Generator::step`] say, no frames at all, and a model that is not the recipe's.
    pub fn run(
        &self,
        model: &Model,
        name: &str,
        mut after_step: impl FnMut(usize) -> f32,
    ) -> Result<Recording, GeneratorError> {
        self.run_while(model, name, |frame| ControlFlow::Continue(after_step(frame)))
    }

    /// [`Self::run`], which `after_step` stops with `Break`.
    ///
    /// # Errors
    /// What [`Self::run`] says, and [`GeneratorError::Stopped`].
    pub fn run_while(
        &self,
        model: &Model,
        name: &str,
        after_step: impl FnMut(usize) -> ControlFlow<(), f32>,
    ) -> Result<Recording, GeneratorError> {
        check_model(&self.model_sha256, model, self.settings.used_parts())?;
        self.check_frames()?;
        let terrain = self.terrain.clone();
        let mut generator = Generator::new(model, terrain, &self.settings, self.start, self.seed)?;
        let acting = (&self.pushes[..], &self.throws[..], self.settings.dynamic.gravity_m_s2);
        let recording =
            record_with_throws(&mut generator, name, &self.plan, acting, self.frames, after_step)?;
        Ok(self.sign(recording, model))
    }

    /// A rollout of no frames is none.
    pub(crate) fn check_frames(&self) -> Result<(), GeneratorError> {
        if self.frames == 0 {
            return Err(GeneratorError::BadControl { reason: "a rollout of no frames is none".to_owned() });
        }
        Ok(())
    }

    /// Writes into a rollout what it was made of.
    pub(crate) fn sign(&self, recording: Recording, model: &Model) -> Recording {
        let description = &model.description;
        Recording {
            recipe: Some(self.to_record()),
            source: format!(
                "pomp {} generate; model {} trained on data {}; seed {}",
                env!("CARGO_PKG_VERSION"),
                description.config_name,
                description.data_hash,
                self.seed
            ),
            license: "as the model's training data: see its model card".to_owned(),
            config_hash: self.settings.hash(),
            ..recording
        }
    }

    /// What a recording holds of it besides ground and pushes.
    pub fn to_record(&self) -> Recipe {
        let settings = self.text(format!("pomp {}", env!("CARGO_PKG_VERSION")));
        Recipe { settings, plan: rows_of_plan(&self.plan).collect() }
    }

    fn text(&self, made_by: String) -> String {
        let settings = Settings {
            made_by,
            model_sha256: self.model_sha256.clone(),
            seed: self.seed.to_string(),
            start: self.start,
            throws: self.throws.clone(),
            generator: self.settings.clone(),
        };
        toml::to_string(&settings).expect("settings are plain data")
    }

    /// Takes the recipe out of a rollout.
    ///
    /// # Errors
    /// [`GeneratorError::NoRecipe`] for other motions and rollouts of older versions; [`GeneratorError::BadRecipe`] for one
    /// that is damaged or whose settings are not those of this version.
    pub fn of_recording(recording: &Recording) -> Result<Self, GeneratorError> {
        let bad = |reason: String| GeneratorError::BadRecipe { recording: recording.name.clone(), reason };
        let parts = (&recording.recipe, &recording.generation, &recording.terrain);
        let (Some(recipe), Some(GenerationTrack { pushes, .. }), Some(terrain)) = parts else {
            return Err(GeneratorError::NoRecipe { recording: recording.name.clone() });
        };
        if recording.frame_rate_hz != FRAME_RATE_HZ {
            return Err(bad(format!(
                "it runs at {} Hz, the loop at {FRAME_RATE_HZ}",
                recording.frame_rate_hz
            )));
        }
        let settings: Settings = toml::from_str(&recipe.settings).map_err(|error| bad(error.to_string()))?;
        let made_by = settings.made_by.clone();
        let bodies = recording.simulation.as_ref().map_or(0, |simulation| simulation.body_names.len());
        if let Some(throw) = settings.throws.iter().find(|throw| throw.body >= bodies) {
            return Err(bad(format!("a box is thrown at body {}, and there are {bodies}", throw.body)));
        }
        let found = Self {
            model_sha256: settings.model_sha256,
            start: settings.start,
            seed: settings
                .seed
                .parse()
                .map_err(|_| bad(format!("its seed \"{}\" is no number", settings.seed)))?,
            settings: settings.generator,
            throws: settings.throws,
            plan: plan_of_rows(&recipe.plan, &recording.name)?,
            pushes: pushes
                .iter()
                .map(|push| ScheduledPush {
                    time_s: push.time_s,
                    body: push.body,
                    impulse_ns: push.impulse_ns,
                })
                .collect(),
            terrain: HeightMap::from_grid(terrain.clone()).map_err(|error| bad(error.to_string()))?,
            frames: recording.frames(),
        };
        // A setting that the text lacks has been given its default above, which is a guess.
        if found.text(made_by.clone()) != recipe.settings {
            return Err(bad(format!(
                "{made_by}, which made it, has other settings than this program, pomp {}; replay it with that version",
                env!("CARGO_PKG_VERSION")
            )));
        }
        Ok(found)
    }

    /// Whether `recording` was made by this recipe, so far as it says.
    pub fn made(&self, recording: &Recording) -> bool {
        let pushes = |pushes: &mut dyn Iterator<Item = (f32, usize, glam::Vec3)>| -> Vec<_> {
            let mut applied: Vec<_> = pushes
                .map(|(time_s, body, impulse_ns)| (push_frame(time_s), body, impulse_ns))
                .filter(|(frame, ..)| *frame < self.frames)
                .collect();
            applied.sort_by_key(|(frame, ..)| *frame);
            applied
        };
        let wanted = pushes(&mut self.pushes.iter().map(|push| (push.time_s, push.body, push.impulse_ns)));
        let found = recording.generation.as_ref().map(|generation| {
            pushes(&mut generation.pushes.iter().map(|push| (push.time_s, push.body, push.impulse_ns)))
        });
        recording.recipe.as_ref() == Some(&self.to_record())
            && recording.terrain.as_ref() == Some(self.terrain.grid())
            && recording.frames() == self.frames
            && found == Some(wanted)
    }
}

/// That a recipe is of `model`.
pub(crate) fn check_model(recorded: &str, model: &Model, used: UsedParts) -> Result<(), GeneratorError> {
    let given = model.sha256_with(used).unwrap_or_else(|| "a model that was never a file".to_owned());
    if given == recorded {
        return Ok(());
    }
    Err(GeneratorError::OtherModel { recorded: recorded.to_owned(), given })
}

/// A plan as a [`Recipe`] holds it.
pub(crate) fn rows_of_plan(plan: &ControlPlan) -> impl Iterator<Item = [f32; 5]> + '_ {
    plan.samples().iter().map(|sample| {
        let ControlSample { position, yaw, speed_mps, gait } = *sample;
        [position.x, position.y, yaw, speed_mps, gait.index() as f32]
    })
}

/// The plan of [`rows_of_plan`]; `recording` names the place of an error.
pub(crate) fn plan_of_rows(rows: &[[f32; 5]], recording: &str) -> Result<ControlPlan, GeneratorError> {
    let samples = rows.iter().map(|&[x, z, yaw, speed_mps, gait]| {
        let gait = *Gait::ALL.get(gait as usize).ok_or_else(|| GeneratorError::BadRecipe {
            recording: recording.to_owned(),
            reason: format!("its plan has the gait {gait}, and there are {}", Gait::COUNT),
        })?;
        Ok(ControlSample { position: Vec2::new(x, z), yaw, speed_mps, gait })
    });
    ControlPlan::of_samples(samples.collect::<Result<_, GeneratorError>>()?, FRAME_RATE_HZ)
}

/// Makes a rollout again from its record alone and `model`, and compares every number; that of one of several characters with
/// the others, whom its record holds too.
///
/// # Errors
/// What [`RolloutRecipe::of_recording`] and [`RolloutRecipe::run`] or their like of [`EnsembleRecipe`] say.
pub fn replay(
    recording: &Recording,
    model: &Model,
    after_step: impl FnMut(usize) -> f32,
) -> Result<Replay, GeneratorError> {
    let again = match EnsembleRecipe::of_recording(recording)? {
        Some((scene, character)) => scene.run_for(model, &recording.name, character, after_step)?,
        None => RolloutRecipe::of_recording(recording)?.run(model, &recording.name, after_step)?,
    };
    let mut again = Recording {
        recipe: recording.recipe.clone(),
        source: recording.source.clone(),
        license: recording.license.clone(),
        config_hash: recording.config_hash.clone(),
        ..again
    };
    if let Some(generation) = &mut again.generation {
        generation.frame_time_us = None;
    }
    Ok(Replay { differences: differences(recording, &again), recording: again })
}

impl GeneratorConfig {
    /// Hash of the resolved settings, 16 hexadecimal digits.
    pub fn hash(&self) -> String {
        let json = serde_json::to_vec(self).expect("settings are plain data");
        Digest::of(json).short()
    }
}
