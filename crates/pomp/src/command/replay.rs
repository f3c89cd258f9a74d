use crate::cli::ReplayArguments;
use crate::errors::misuse;
use crate::progress::Progress;
use crate::{default_model, json};
use anyhow::{Context, Result, ensure};
use burn::tensor::Device;
use pomp_formats::{read_recording, write_recording};
use pomp_generator::{GeneratorError, Replay};
use pomp_model::Model;
use pomp_motion::Recording;
use pomp_studio::StudioError;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

pub fn run(arguments: &ReplayArguments) -> Result<ExitCode> {
    ensure!(
        arguments.out.is_none() || arguments.rollouts.len() == 1,
        misuse!("--out takes the result of a single rollout, but {} are given", arguments.rollouts.len())
    );
    let device = Device::flex();
    let mut models = vec![Arc::new(default_model::find(arguments.model.as_deref(), &device)?)];
    if arguments.model.is_none() {
        models.push(Arc::new(pomp_front::model::load_unrolled(&device)?));
    }
    let mut told: Vec<Value> = Vec::new();
    for path in &arguments.rollouts {
        let recorded = read_recording(path)?;
        let progress = Progress::new("replay", "frames", recorded.frames());
        let replay = replayed(&recorded, &models, &progress).with_context(|| path.display().to_string())?;
        drop(progress);
        if let Some(out) = &arguments.out {
            write_recording(out, &replay.recording)?;
        }
        let differences: Vec<Value> = replay
            .differences
            .iter()
            .map(|d| {
                json!({ "array": d.array, "frame": d.row, "number": d.column, "recorded": d.first, "replayed": d.second })
            })
            .collect();
        if !arguments.json {
            let (name, frames) = (path.display(), recorded.frames());
            match replay.differences.first() {
                None => println!("{name}: {frames} frames, every number the same bit for bit"),
                Some(first) => println!(
                    "{name}: {} arrays differ, from frame {} of {frames} on: {first} (recorded and replayed)",
                    differences.len(),
                    first.row
                ),
            }
        }
        told.push(json!({
            "rollout": path.display().to_string(),
            "frames": recorded.frames(),
            "same": differences.is_empty(),
            "differences": differences,
        }));
    }
    if arguments.json {
        json::print("replay", &json!({ "rollouts": told }))?;
    }
    let same = told.iter().all(|rollout| rollout["same"] == true);
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A recording made again by that one of `models` which made it.
fn replayed(recorded: &Recording, models: &[Arc<Model>], progress: &Progress) -> Result<Replay, StudioError> {
    let mut refused = None;
    for model in models {
        let of_studio = pomp_studio::world::replay(recorded, Arc::clone(model), || progress.step());
        let replay = match of_studio {
            Ok(None) => pomp_generator::replay(recorded, model, |_| {
                progress.step();
                0.0
            })
            .map_err(StudioError::from),
            Ok(Some(replay)) => Ok(replay),
            Err(error) => Err(error),
        };
        match replay {
            Err(StudioError::Generator(error @ GeneratorError::OtherModel { .. })) => {
                refused.get_or_insert(StudioError::from(error));
            }
            replay => return replay,
        }
    }
    Err(refused.expect("there is at least one model"))
}
