use crate::cli::TerrainMakeArguments;
use crate::errors::misuse;
use anyhow::Result;
use glam::Vec2;
pub use pomp_front::terrain::{find, find_reaching};
use pomp_generator::ControlPlan;
use pomp_terrain::{Bounds, HeightMap};
use std::path::Path;
use std::process::ExitCode;

pub fn make(arguments: &TerrainMakeArguments) -> Result<ExitCode> {
    let ending = arguments.out.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    if !matches!(ending.as_deref(), Some("png" | "npz")) {
        return Err(misuse!(
            "--out {}: name the map .png (16 bit, with a .toml beside it) or .npz",
            arguments.out.display()
        ));
    }
    let map = find(&arguments.terrain, arguments.seed)?;
    pomp_terrain::save(&map, &arguments.out)?;
    println!("{}", described(&arguments.out, &map));
    Ok(ExitCode::SUCCESS)
}

/// A height map in one line.
pub fn described(path: &Path, map: &HeightMap) -> String {
    let ((low, high), Bounds { min_x, max_x, min_z, max_z }) = (map.min_max(), map.bounds());
    format!(
        "{}: {} × {} heights, {} m apart, from {low:.2} to {high:.2} m; x {min_x} to {max_x} m, z {min_z} to {max_z} m",
        path.display(),
        map.rows(),
        map.columns(),
        map.cell_m()
    )
}

/// Warns when a plan leads off the ground `name` within `seconds`. The ground goes on for `border_m` beyond its edge.
pub fn warn_of_edge(name: &str, ground: &HeightMap, plan: &ControlPlan, seconds: f32, border_m: f32) {
    let Bounds { min_x, max_x, min_z, max_z } = ground.bounds();
    let on_it = |at: Vec2| {
        let beyond = (at - Vec2::new(max_x, max_z)).max(Vec2::new(min_x, min_z) - at);
        beyond.max_element() <= border_m
    };
    let frames = ((seconds * plan.frame_rate_hz()) as usize).saturating_add(1);
    let off = plan.samples().iter().take(frames).position(|sample| !on_it(sample.position));
    if let Some(frame) = off {
        tracing::warn!(
            "the path leads off the ground of \"{name}\", {min_x} to {max_x} m along x and {min_z} to {max_z} m along z with \
             {border_m} m beyond, after {:.1} s: a character that gets there falls off. Make the ground larger, give a path that stays on it \
             (--control), or stop sooner (--seconds)",
            frame as f32 / plan.frame_rate_hz(),
        );
    }
}

/// Says so where a seed changes neither ground nor path, which explains rollouts that differ little.
pub fn say_what_a_seed_changes(name: &str) -> Result<()> {
    let spec = match pomp_terrain::preset(name) {
        None if Path::new(name).extension().is_some_and(|kind| kind.eq_ignore_ascii_case("toml")) => {
            Some(pomp_terrain::file::load_spec(name)?)
        }
        spec => spec,
    };
    if !spec.is_some_and(|spec| spec.shape.depends_on_seed()) {
        tracing::info!(
            "note: the ground \"{name}\", the path and the pushes are the same for every seed; a seed changes the noise of the \
             kinematic module alone"
        );
    }
    Ok(())
}
