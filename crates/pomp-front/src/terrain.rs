//! Ground by name or file.

use crate::errors;
use anyhow::{Context, Result};
use pomp_terrain::HeightMap;
use std::path::Path;

/// A terrain by preset name or file.
pub fn find(name: &str, seed: u64) -> Result<HeightMap> {
    if let Some(spec) = pomp_terrain::preset(name) {
        return Ok(pomp_terrain::generate(&spec, seed)?);
    }
    let path = Path::new(name);
    if path.extension().is_none() {
        let place = "a terrain is a preset or a file (.toml, .png, .npz): ";
        return Err(errors::unknown(place, "preset", name, pomp_terrain::PRESET_NAMES));
    }
    pomp_terrain::load(path, seed).with_context(|| {
        format!(
            "\"{name}\" is no preset ({}), so it was taken for a file",
            pomp_terrain::PRESET_NAMES.join(", ")
        )
    })
}

/// A terrain by preset name or file; a preset is made large enough to reach `reach_m` from the origin.
pub fn find_reaching(name: &str, seed: u64, reach_m: f32) -> Result<HeightMap> {
    match pomp_terrain::preset(name) {
        Some(spec) => Ok(pomp_terrain::generate(&spec.reaching(reach_m), seed)?),
        None => find(name, seed),
    }
}
