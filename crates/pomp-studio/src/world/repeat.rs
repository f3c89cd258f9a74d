use super::{SceneRequest, World, WorldLimits};
use crate::StudioError;
use pomp_generator::{FRAME_RATE_HZ, GeneratorConfig};
use pomp_model::Model;
use pomp_motion::Recording;
use std::sync::Arc;

/// Most seconds that a scene is repeated for.
const MOST_S: f32 = 60.0;

/// `frames` of a scene with its events, moved by `model` and the scene's controller: what another model or controller makes of the same ground, steering and pushes.
///
/// # Errors
/// A scene out of range, one longer than a minute, or what the loop refuses.
pub fn repeated(
    model: Arc<Model>,
    config: &GeneratorConfig,
    scene: SceneRequest,
    frames: u32,
) -> Result<Recording, StudioError> {
    let recording_s = frames as f32 / FRAME_RATE_HZ;
    if recording_s > MOST_S {
        let (value, range) =
            (format!("{recording_s:.0} s"), format!("0 to {MOST_S} s: reset, and keep it shorter"));
        return Err(StudioError::BadScene { field: "length of the scene", value, range });
    }
    let mut world = World::new(model, config, scene, WorldLimits { recording_s, rewind_s: 1.0 })?;
    for _ in 0..frames {
        world.step()?;
    }
    world.recording()
}
