//! The scenes of a batch of rollouts, in the words in which they are asked for.

use crate::pushes::{self, PushRequest};
use crate::support::Supports;
use crate::{control, errors, terrain};
use anyhow::Result;
use pomp_batch::{BEYOND_S, BatchError, RandomScenes, Scene, Share, TERRAIN_MARGIN_M};
use pomp_config::{Origin, resolve_whole};
use pomp_generator::ControlPlan;
use pomp_preprocess::Part;
use serde_json::{Value, json};
use std::path::Path;

/// What is drawn where no file is given.
const RANDOM: &str = include_str!("../configs/batch.toml");

/// Where the configuration of random rollouts comes from.
pub fn origin(path: Option<&Path>) -> Origin<'_> {
    path.map_or(Origin::BuiltIn { name: "configs/batch.toml", text: RANDOM }, Origin::File)
}

/// Where scenes come from.
#[derive(Clone, Debug)]
pub enum Scenes {
    /// Drawn from the seed.
    Random(RandomScenes),
    /// The same command for all, on the ground of the seed, with the pushes drawn from it.
    Given {
        /// Ground: a preset or a file.
        terrain: String,
        /// Command: a preset or a file.
        control: String,
        /// Pushes as they were given.
        push: Vec<String>,
        /// The command.
        plan: ControlPlan,
        /// The pushes.
        pushes: Vec<PushRequest>,
    },
}

impl Scenes {
    /// Drawn as `file` says, or as `configs/batch.toml` does; `bodies` are the ragdoll's.
    ///
    /// # Errors
    /// A file that is none.
    pub fn random(file: Option<&Path>, bodies: &[String]) -> Result<Self> {
        let scenes: RandomScenes = resolve_whole(origin(file), &[])?.checked()?;
        scenes.validate(bodies)?;
        Ok(Self::Random(scenes))
    }

    /// One command, kind of ground and list of pushes for all; a rollout takes `seconds`.
    ///
    /// # Errors
    /// A command or a push that is none. The ground is looked for with the first scene.
    pub fn given(
        terrain: &str,
        control: &str,
        push: &[String],
        seconds: f32,
        bodies: &[String],
    ) -> Result<Self> {
        Ok(Self::Given {
            terrain: terrain.to_owned(),
            control: control.to_owned(),
            push: push.to_vec(),
            plan: control::find(control, seconds + BEYOND_S)?,
            pushes: pushes::pushes_of(push, bodies, seconds)?,
        })
    }

    /// What decides them, for the manifest.
    pub fn settings(&self) -> Value {
        match self {
            Self::Random(scenes) => json!({ "random": scenes.to_json() }),
            Self::Given { terrain, control, push, .. } => {
                json!({ "terrain": terrain, "control": control, "push": push })
            }
        }
    }

    /// The scene of a seed, with one of `supports`.
    ///
    /// # Errors
    /// A ground that is none.
    pub fn scene(
        &self,
        seed: u64,
        seconds: f32,
        bodies: &[String],
        supports: &Supports<'_>,
    ) -> Result<Scene, BatchError> {
        let support = |ground: &str, plan: &ControlPlan| supports.name_for(ground, plan).to_owned();
        match self {
            Self::Random(scenes) => scenes.draw(seed, seconds, bodies, &support),
            Self::Given { terrain, control, plan, pushes, .. } => Ok(Scene {
                support: support(terrain, plan),
                ground: name(terrain),
                terrain: terrain::find_reaching(terrain, seed, plan.reach_m() + TERRAIN_MARGIN_M)
                    .map_err(|error| BatchError::BadScene { seed, reason: errors::told(&error) })?,
                control: name(control),
                plan: plan.clone(),
                pushes: pushes::draw(pushes, plan, seed),
            }),
        }
    }
}

/// Runs `work` with the share of a batch that belongs to `part`: rollouts are shared by hash of their names, as clips are.
pub fn with_share<T>(part: Part, work: impl FnOnce(&Share<'_>) -> T) -> T {
    work(&Share { suffix: part.suffix(), holds: &|name| part.holds_name(name) })
}

/// A preset's name, or a file's without its folder.
fn name(given: &str) -> String {
    Path::new(given).file_name().map_or_else(|| given.to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rollout_belongs_to_exactly_one_part() {
        let mut sizes = [0; 3];
        for index in 0..300 {
            let name = format!("rollout_{index:04}");
            let holding: Vec<usize> = (0..3)
                .filter(|rank| {
                    let part = Part::new(*rank, 3).expect("there are three");
                    with_share(part, |share| (share.holds)(&name))
                })
                .collect();
            assert_eq!(holding.len(), 1);
            sizes[holding[0]] += 1;
        }
        assert!(sizes.iter().all(|size| (70..130).contains(size)), "{sizes:?}");
    }

    #[test]
    fn rejects_a_file_of_random_scenes_that_is_not_there() {
        let error = Scenes::random(Some(Path::new("nowhere.toml")), &[]).expect_err("there is none");
        assert!(errors::told(&error).contains("nowhere.toml"), "{error}");
    }
}
