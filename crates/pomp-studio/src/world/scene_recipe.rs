//! What makes a recording of the studio again, to the bit.

use super::{SceneRequest, World, WorldLimits};
use crate::StudioError;
use pomp_generator::{FRAME_RATE_HZ, GeneratorConfig, GeneratorError, Replay};
use pomp_model::Model;
use pomp_motion::{Recipe, Recording, differences};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The text of a recording's [`Recipe`]: JSON, where that of `pomp generate` is TOML. Steering is among the events of the
/// scene, so that there is no plan.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    made_by: String,
    model_sha256: String,
    /// Frames of the scene before the first that is recorded: a long scene's beginning is forgotten.
    frames_before: u32,
    scene: SceneRequest,
    generator: GeneratorConfig,
}

/// The recipe of a world that has recorded `frames` of its latest frames; `None` when the model was never a file, or so much
/// happened that it is not all remembered.
pub(super) fn recipe_of(world: &World, frames: usize) -> Option<Recipe> {
    let scene = world.scene_with_events()?;
    let settings = Settings {
        made_by: format!("pomp {} studio", env!("CARGO_PKG_VERSION")),
        model_sha256: world.model().sha256_with(scene.used_parts(&world.config))?,
        frames_before: world.frame() - frames as u32,
        scene,
        generator: world.config.clone(),
    };
    Some(Recipe { settings: text(&settings), plan: Vec::new() })
}

fn text(settings: &Settings) -> String {
    serde_json::to_string(settings).expect("settings are plain data")
}

/// Makes a recording of the studio again from its record alone and `model`, and compares every number; `None` for one that is
/// not of the studio. `after_step` is called after every frame.
///
/// # Errors
/// [`GeneratorError::BadRecipe`] for a recipe that is damaged or of another version, [`GeneratorError::OtherModel`], and
/// what [`World::new`] and [`World::step`] say.
pub fn replay(
    recording: &Recording,
    model: Arc<Model>,
    mut after_step: impl FnMut(),
) -> Result<Option<Replay>, StudioError> {
    let Some(recipe) = recording.recipe.as_ref().filter(|recipe| recipe.settings.starts_with('{')) else {
        return Ok(None);
    };
    let bad = |reason: String| GeneratorError::BadRecipe { recording: recording.name.clone(), reason };
    let settings: Settings =
        serde_json::from_str(&recipe.settings).map_err(|error| bad(error.to_string()))?;
    // A setting that the text lacks has been given its default, which is a guess.
    if text(&settings) != recipe.settings {
        return Err(bad(format!(
            "{}, which made it, has other settings than this program, pomp {}; replay it with that version",
            settings.made_by,
            env!("CARGO_PKG_VERSION")
        ))
        .into());
    }
    let given = model.sha256_with(settings.scene.used_parts(&settings.generator));
    let given = given.unwrap_or_else(|| "a model that was never a file".to_owned());
    if given != settings.model_sha256 {
        let recorded = settings.model_sha256;
        return Err(GeneratorError::OtherModel { recorded, given }.into());
    }
    let frames = recording.frames();
    let recording_s = frames as f32 / FRAME_RATE_HZ;
    let limits = WorldLimits { recording_s, rewind_s: 1.0 };
    let mut world = World::new(model, &settings.generator, settings.scene, limits)?;
    for _ in 0..settings.frames_before as usize + frames {
        world.step()?;
        after_step();
    }
    let mut again = Recording {
        name: recording.name.clone(),
        recipe: recording.recipe.clone(),
        source: recording.source.clone(),
        license: recording.license.clone(),
        config_hash: recording.config_hash.clone(),
        ..world.recording()?
    };
    if let Some(generation) = &mut again.generation {
        generation.frame_time_us = None;
    }
    Ok(Some(Replay { differences: differences(recording, &again), recording: again }))
}
