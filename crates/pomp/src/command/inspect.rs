use crate::cli::InspectArguments;
use crate::command::inspect_dataset;
use crate::{config_file, motion_file, terminal};
use anyhow::{Context, Result};
use pomp_motion::retarget::RetargetReport;
use pomp_motion::{Gait, Recording};
use pomp_preprocess::{LoadedClip, PreprocessConfig, labelled, load_clip};
use std::path::Path;
use std::process::ExitCode;

/// What a clip is.
struct Inspected {
    recording: Recording,
    mapping: Option<RetargetReport>,
    warnings: Vec<String>,
}

pub fn run(arguments: &InspectArguments) -> Result<ExitCode> {
    let config = config_file::over_defaults::<PreprocessConfig>(arguments.config.as_deref(), &arguments.set)?
        .checked()?;
    let rigs = motion_file::rigs(&arguments.rig)?;
    let mut list = Vec::new();
    let mut failed = 0;
    for path in &arguments.clips {
        if path.is_dir() {
            match inspect_dataset::count(path) {
                Err(error) => {
                    failed += 1;
                    eprintln!("error: {}", terminal::told(&error));
                }
                Ok(counted) if arguments.json => {
                    list.push(serde_json::json!({ "folder": path, "dataset": counted }));
                }
                Ok(counted) => inspect_dataset::print(path, &counted),
            }
            continue;
        }
        let inspected = if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz")) {
            motion_file::read(path, &config, &rigs).map(|recording| Inspected {
                recording,
                mapping: None,
                warnings: Vec::new(),
            })
        } else {
            inspect_bvh(path, &config, &rigs)
        };
        match inspected {
            Err(error) => {
                failed += 1;
                eprintln!("error: {}", terminal::told(&error));
            }
            Ok(inspected) if arguments.json => list.push(json(path, &inspected)),
            Ok(inspected) => print(path, &inspected),
        }
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&list)?);
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn inspect_bvh(
    path: &Path,
    config: &PreprocessConfig,
    rigs: &pomp_motion::retarget::RigLibrary,
) -> Result<Inspected> {
    let LoadedClip { clip, report, warnings } = load_clip(path, config, rigs)?;
    let recording = labelled(&clip, config).with_context(|| path.display().to_string())?;
    Ok(Inspected { recording, mapping: Some(report), warnings })
}

/// Share of frames per gait, above one percent.
fn gaits(recording: &Recording) -> Vec<(&'static str, f32)> {
    let frames = recording.frames() as f32;
    Gait::ALL
        .into_iter()
        .map(|gait| {
            let count = recording.gait.iter().filter(|weights| Gait::dominant(weights) == gait).count();
            (gait.name(), count as f32 / frames)
        })
        .filter(|(_, share)| *share > 0.01)
        .collect()
}

/// Share of frames with contact: left heel, left toe, right heel, right toe.
fn contacts(recording: &Recording) -> [f32; 4] {
    let frames = recording.frames() as f32;
    std::array::from_fn(|point| {
        recording.foot_contact.iter().filter(|contact| contact[point]).count() as f32 / frames
    })
}

fn mean_speed_mps(recording: &Recording) -> f32 {
    recording.velocities.rows().map(|row| row[0].x.hypot(row[0].z)).sum::<f32>() / recording.frames() as f32
}

fn json(path: &Path, inspected: &Inspected) -> serde_json::Value {
    let recording = &inspected.recording;
    let gaits: serde_json::Map<String, serde_json::Value> =
        gaits(recording).into_iter().map(|(name, share)| (name.to_owned(), share.into())).collect();
    serde_json::json!({
        "file": path,
        "frames": recording.frames(),
        "frame_rate_hz": recording.frame_rate_hz,
        "joints": recording.skeleton.len(),
        "mean_root_speed_mps": mean_speed_mps(recording),
        "gaits": gaits,
        "contact_share": contacts(recording),
        "has_physics_replay": recording.simulation.is_some(),
        "has_terrain": recording.terrain.is_some(),
        "has_phases": recording.phase.is_some(),
        "source": recording.source,
        "license": recording.license,
        "mapping": inspected.mapping,
        "warnings": inspected.warnings,
    })
}

fn print(path: &Path, inspected: &Inspected) {
    let recording = &inspected.recording;
    println!("{}", path.display());
    println!(
        "  {} frames at {:.0} Hz, {:.1} s, mean root speed {:.2} m/s",
        recording.frames(),
        recording.frame_rate_hz,
        recording.frames() as f32 / recording.frame_rate_hz,
        mean_speed_mps(recording)
    );
    if let Some(mapping) = &inspected.mapping {
        println!(
            "  rig {}, scale {:.3}, ground offset {:+.3} m; joints are {:.1} cm from the source on average, {:.1} cm limb by limb",
            mapping.rig,
            mapping.scale,
            mapping.ground_offset_m,
            100.0 * mapping.mean_scaled_error_m(),
            100.0 * mapping.mean_limb_scaled_error_m()
        );
        for reason in [&mapping.source_frame.unit_reason, &mapping.source_frame.up_axis_reason] {
            println!("  {reason}");
        }
        if !mapping.missing.is_empty() {
            println!("  filled in, because the file lacks them: {}", mapping.missing.join(", "));
        }
        for repair in &mapping.repairs {
            println!("  repaired: {repair}");
        }
    }
    let gaits: Vec<String> =
        gaits(recording).iter().map(|(name, share)| format!("{name} {:.0} %", 100.0 * share)).collect();
    println!("  gaits: {}", gaits.join(", "));
    let [left_heel, left_toe, right_heel, right_toe] = contacts(recording).map(|share| 100.0 * share);
    println!(
        "  in contact: left heel {left_heel:.0} %, left toe {left_toe:.0} %, right heel {right_heel:.0} %, right toe {right_toe:.0} %"
    );
    if let Some(simulation) = &recording.simulation {
        println!("  physics replay with {} bodies", simulation.body_names.len());
    }
    if let Some(phase) = &recording.phase {
        println!("  phases, {} numbers per frame", phase.columns());
    }
    for warning in &inspected.warnings {
        println!("  warning: {warning}");
    }
}
