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
            model_sha256: crate::model::hash(model, self.settings.used_parts())?,
            start: plan.start_gait(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::is_misuse;
    use pomp_embedded::Device;

    fn request<'a>(terrain: &'a str, control: &'a str) -> RolloutRequest<'a> {
        let settings = GeneratorConfig::default();
        RolloutRequest { terrain, control, seconds: 2.0, seed: 3, settings, pushes: &[], throws: Vec::new() }
    }

    #[test]
    fn a_request_becomes_a_recipe_whose_ground_reaches_beyond_its_way() {
        let model = crate::model::load(&Device::flex()).expect("it is embedded");
        let recipe = request("hills", "jog").recipe(&model).expect("both are presets");
        assert_eq!((recipe.frames, recipe.seed), (120, 3));
        let reach_m = recipe.plan.reach_m() + TERRAIN_MARGIN_M;
        assert!(recipe.plan.reach_m() > 2.0 * 2.4 && recipe.terrain.bounds().max_z >= reach_m);
        assert_eq!(Some(&recipe.model_sha256), model.files_sha256.as_ref());
    }

    #[test]
    fn rejects_a_terrain_and_a_command_that_are_none_and_suggests_the_nearest() {
        let model = crate::model::load(&Device::flex()).expect("it is embedded");
        for (terrain, control, said) in [("hlils", "walk", "\"hills\""), ("hills", "wlak", "\"walk\"")] {
            let error = request(terrain, control).recipe(&model).expect_err("neither is a name");
            assert!(is_misuse(&error) && error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn rejects_a_model_that_was_never_a_file() {
        let mut model = crate::model::load(&Device::flex()).expect("it is embedded");
        model.files_sha256 = None;
        let error = request("flat", "walk").recipe(&model).expect_err("nothing names the model");
        assert!(error.to_string().contains("save it"), "{error}");
    }
}
