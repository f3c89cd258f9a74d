use crate::cli::EvaluateArguments;
use crate::command::terrain;
use crate::motion_file;
use anyhow::{Context, Result};
use pomp_eval::{Comparison, Summary, Track, evaluate};
use pomp_preprocess::PreprocessConfig;
use pomp_terrain::HeightMap;
use std::process::ExitCode;

pub fn run(arguments: &EvaluateArguments) -> Result<ExitCode> {
    let rigs = motion_file::rigs(&arguments.rig)?;
    let config = PreprocessConfig::default();
    let given = arguments.terrain.as_deref().map(|name| terrain::find(name, 0)).transpose()?;
    let mut comparison = Comparison::new();
    let mut list = Vec::new();
    let mut without_clock = Vec::new();
    for path in &arguments.motions {
        let recording = motion_file::read(path, &config, &rigs)?;
        let ground = match (&recording.terrain, &given) {
            (Some(grid), _) => HeightMap::from_grid(grid.clone())?,
            (None, Some(map)) => map.clone(),
            (None, None) => HeightMap::flat(200.0, 1.0)?,
        };
        // What a rollout shows is its simulated side; a recording of mocap shows the clip.
        let track = if recording.generation.is_some() { Track::Simulated } else { Track::Character };
        let metrics = evaluate(&recording, &ground, track).with_context(|| path.display().to_string())?;
        let title = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        if recording.generation.as_ref().is_some_and(|generation| generation.frame_time_us.is_none()) {
            without_clock.push(path.display().to_string());
        }
        list.push(serde_json::json!({ "file": path, "track": track.name(), "metrics": metrics }));
        comparison = comparison.with(&title, Summary::from(&metrics));
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&list)?);
    } else {
        println!("{comparison}");
        if !without_clock.is_empty() {
            println!(
                "frame times: not recorded in {} (pomp generate --clock records them)",
                without_clock.join(", ")
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}
