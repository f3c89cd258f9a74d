//! A rollout in the words in which it is asked for.

use crate::pushes::{self, PushRequest};
use crate::{control, terrain};
use anyhow::Result;
pub use pomp_batch::{BEYOND_S, LONGEST_S};

use pomp_batch::TERRAIN_MARGIN_M;
use pomp_generator::layers::StatureConfig;
use pomp_generator::{FRAME_RATE_HZ, GeneratorConfig, RolloutRecipe, ScheduledThrow};
use pomp_model::Model;

/// What one rollout of one character is asked to be.
#[derive(Clone, Debug)]
pub struct RolloutRequest<'a> {
    /// Ground: a preset or a file ([`terrain::find_reaching`]).
    pub terrain: &'a str,
    /// Command: a preset, a path file or a clip ([`control::find`]).
    pub control: &'a str,
    /// Length, seconds.
    pub seconds: f32,
    /// Seed of terrain, noise and drawn pushes.
    pub seed: u64,
    /// Settings of the loop.
    pub settings: GeneratorConfig,
    /// Pushes.
    pub pushes: &'a [PushRequest],
    /// Boxes.
    pub throws: Vec<ScheduledThrow>,
}

impl RolloutRequest<'_> {
    /// All that decides the rollout.
    ///
    /// # Errors
    /// A terrain or a command that is none, and a model that was never a file.
    pub fn recipe(&self, model: &Model) -> Result<RolloutRecipe> {
        let plan = control::find(self.control, self.seconds + BEYOND_S)?;
        let reach_m = plan.reach_m() + TERRAIN_MARGIN_M;
        Ok(RolloutRecipe {
            model_sha256: crate::model::hash(model)?.to_owned(),
            start: self.settings.start_gait(&plan, model),
            seed: self.seed,
            pushes: pushes::draw(self.pushes, &plan, self.seed),
            throws: self.throws.clone(),
            terrain: terrain::find_reaching(self.terrain, self.seed, reach_m)?,
            frames: (self.seconds * FRAME_RATE_HZ).round().max(1.0) as usize,
            settings: self.settings.clone(),
            plan,
        })
    }

    /// Where its recording says that it comes from.
    pub fn source(&self, model: &Model) -> String {
        format!(
            "pomp {} generate --terrain {} --control {} --seconds {} --seed {}; model {} trained on data {}",
            env!("CARGO_PKG_VERSION"),
            self.terrain,
            self.control,
            self.seconds,
            self.seed,
            model.description.config_name,
            model.description.data_hash
        )
    }
}

/// What is given of a body replaces what the settings say.
pub fn set_body(settings: &mut GeneratorConfig, stature_m: Option<f32>, mass_kg: Option<f32>) {
    if stature_m.is_some() {
        settings.layers.stature = StatureConfig::of_height(stature_m);
    }
    settings.dynamic.mass_kg = mass_kg.unwrap_or(settings.dynamic.mass_kg);
}
