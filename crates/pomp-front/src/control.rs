//! What a character is asked to do: a preset, a goal, a path file or the way of a clip.

use crate::{config_file, errors, motion_file};
use anyhow::{Context, Result};
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Goal, PathFile, Preset};
use pomp_preprocess::PreprocessConfig;
use std::path::Path;

/// A plan from a preset's name, a goal (`reach:X,Z,DEG`), a path file or a clip; a preset lasts `seconds`.
pub fn find(name: &str, seconds: f32) -> Result<ControlPlan> {
    if let Some(goal) = name.strip_prefix("reach:") {
        return Ok(ControlPlan::reach(&goal.parse::<Goal>()?, FRAME_RATE_HZ)?);
    }
    let path = Path::new(name);
    if motion_file::is_recording(path) || pomp_formats::is_motion_file(path) {
        let rigs = motion_file::rigs(&[])?;
        let clip = motion_file::read(path, &PreprocessConfig::default(), &rigs)?;
        return Ok(ControlPlan::of_recording(&clip, FRAME_RATE_HZ)?);
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => {
            let file: PathFile = config_file::read(path)?;
            ControlPlan::path(&file, FRAME_RATE_HZ).with_context(|| path.display().to_string())
        }
        _ => {
            let preset = name.parse::<Preset>().map_err(|_| {
                let presets = Preset::ALL.map(Preset::name);
                errors::unknown(
                    "--control takes a preset, reach:X,Z,DEG or a file (.toml, .bvh, .glb, .gltf, .npz): ",
                    "preset",
                    name,
                    presets,
                )
            })?;
            Ok(ControlPlan::preset(preset, seconds, FRAME_RATE_HZ))
        }
    }
}
