use crate::cli::TerrainMakeArguments;
use anyhow::{Context, Result};
use pomp_terrain::{HeightMap, Shape};
use std::path::Path;
use std::process::ExitCode;

pub fn make(arguments: &TerrainMakeArguments) -> Result<ExitCode> {
    let map = find(&arguments.terrain, arguments.seed)?;
    pomp_terrain::save(&map, &arguments.out)?;
    let (low, high) = map.min_max();
    println!(
        "{}: {} × {} heights, {} m apart, from {low:.2} to {high:.2} m",
        arguments.out.display(),
        map.rows(),
        map.columns(),
        map.cell_m()
    );
    Ok(ExitCode::SUCCESS)
}

/// Distance between heights of large level ground, metres.
const FLAT_CELL_M: f32 = 1.0;

/// A terrain by preset name or file; a preset is made large enough to reach `reach_m` from the origin.
pub fn find_reaching(name: &str, seed: u64, reach_m: f32) -> Result<HeightMap> {
    match pomp_terrain::preset(name) {
        Some(mut spec) if spec.size_m < 2.0 * reach_m => {
            spec.size_m = 2.0 * reach_m;
            if matches!(spec.shape, Shape::Flat { .. }) {
                spec.cell_m = FLAT_CELL_M;
            }
            Ok(pomp_terrain::generate(&spec, seed)?)
        }
        _ => find(name, seed),
    }
}

/// A terrain by preset name or file.
pub fn find(name: &str, seed: u64) -> Result<HeightMap> {
    if let Some(spec) = pomp_terrain::preset(name) {
        return Ok(pomp_terrain::generate(&spec, seed)?);
    }
    pomp_terrain::load(Path::new(name), seed).with_context(|| {
        format!(
            "\"{name}\" is no preset (flat, slope, stairs, hills, rough, gaps), so it was taken for a file"
        )
    })
}
