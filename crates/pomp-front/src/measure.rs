//! Metrics of motions, on the ground that they stand on.

use anyhow::{Context, Result, anyhow, bail};
use pomp_eval::{Metrics, Track, evaluate};
use pomp_motion::Recording;
use pomp_terrain::HeightMap;
use std::path::{Path, PathBuf};

/// Measures a motion on its own ground, else on the `given` one, else on level ground at y = 0; with `simulated` its physics replay
/// where it shows a clip.
///
/// # Errors
/// A ground that is none, and what the metrics refuse.
pub fn measure(
    recording: &Recording,
    given: Option<&HeightMap>,
    simulated: bool,
) -> Result<(Track, Metrics)> {
    let ground = match (&recording.terrain, given) {
        (Some(grid), _) => HeightMap::from_grid(grid.clone())?,
        (None, Some(map)) => map.clone(),
        (None, None) => HeightMap::flat(200.0, 1.0)?,
    };
    // What a rollout shows is its simulated side; a recording of mocap shows the clip.
    let simulated = simulated || recording.generation.is_some();
    let track = if simulated { Track::Simulated } else { Track::Character };
    Ok((track, evaluate(recording, &ground, track)?))
}

/// The motions that an argument names: a file itself; of a folder and the folders in it the recordings (.npz), or where there
/// are none the clips (.bvh, .glb, .gltf).
///
/// # Errors
/// No such file or folder, and a folder that holds none.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        if !path.exists() {
            bail!(
                "{}: there is no such file or folder; give a clip (.bvh, .glb, .gltf), a recording (.npz) or a folder of them",
                path.display()
            );
        }
        return Ok(vec![path.to_path_buf()]);
    }
    let mut all = Vec::new();
    walk(path, &mut all)?;
    all.sort();
    let of = |kinds: &[&str]| -> Vec<PathBuf> {
        let has = |path: &&PathBuf| {
            path.extension().is_some_and(|end| kinds.iter().any(|kind| end.eq_ignore_ascii_case(kind)))
        };
        all.iter().filter(has).cloned().collect()
    };
    let recordings = of(&["npz"]);
    let motions = if recordings.is_empty() { of(&pomp_formats::MOTION_FILES) } else { recordings };
    if motions.is_empty() {
        return Err(anyhow!(
            "{}: no recordings (.npz) and no clips (.bvh, .glb, .gltf) are in this folder",
            path.display()
        ));
    }
    Ok(motions)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in
        std::fs::read_dir(folder).with_context(|| format!("{}: cannot be listed", folder.display()))?
    {
        let path = entry.with_context(|| format!("{}: cannot be listed", folder.display()))?.path();
        if path.is_dir() { walk(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
