use crate::cli::InspectArguments;
use crate::command::inspect_source::Source;
use crate::command::{inspect_dataset, rig, terrain};
use crate::progress::{self, Progress};
use crate::{config_file, errors, json, motion_file};
use anyhow::{Context, Result, bail};
use pomp_dataset::Census;
use pomp_formats::{FormatError, write_atomically};
use pomp_motion::retarget::{Inference, RetargetReport, RigLibrary};
use pomp_motion::{Gait, Recording};
use pomp_preprocess::{LoadedClip, PreprocessConfig, labelled, load_clip, load_with_source};
use pomp_terrain::HeightMap;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// A recording, or a clip on the project skeleton.
struct Inspected {
    recording: Recording,
    mapping: Option<RetargetReport>,
    /// How the rig map was inferred, where no known one fits.
    inference: Option<Box<Inference>>,
    warnings: Vec<String>,
}

/// What was found at a path.
enum Found {
    Clip(Box<Inspected>),
    /// A motion that cannot be brought onto the project skeleton.
    Source(Source),
    Ground(HeightMap),
    Dataset(Box<Census>),
}

pub fn run(arguments: &InspectArguments) -> Result<ExitCode> {
    let reading = &arguments.reading;
    let config =
        config_file::over_defaults::<PreprocessConfig>(reading.config.as_deref(), &reading.set)?.checked()?;
    let rigs = motion_file::rigs(&reading.rig)?;
    if let Some(html) = &arguments.html {
        let [clip] = &arguments.clips[..] else {
            bail!("--html shows one motion file, and {} are given", arguments.clips.len());
        };
        write_beside(clip, html, &config, &rigs)?;
    }
    let mut list = Vec::new();
    let (mut done, mut failed) = (0, 0);
    let progress =
        (arguments.clips.len() > 1).then(|| Progress::new("inspect", "files", arguments.clips.len()));
    for path in &arguments.clips {
        match inspect(path, &config, &rigs) {
            Err(error) => {
                failed += 1;
                tracing::error!("{}", errors::told(&error));
            }
            Ok(found) => {
                done += 1;
                if arguments.json {
                    list.push(described(path, &found)?);
                } else {
                    progress::between(|| show(path, &found));
                }
            }
        }
        if let Some(progress) = &progress {
            progress.step();
        }
    }
    drop(progress);
    if arguments.json {
        json::print("inspect", &json!({ "files": list }))?;
    }
    Ok(errors::code_of(done, failed))
}

/// Writes a page with the motion of a file, on its own skeleton, beside what it becomes on the project skeleton.
fn write_beside(path: &Path, html: &Path, config: &PreprocessConfig, rigs: &RigLibrary) -> Result<()> {
    if path.is_dir() || path.extension().is_some_and(|kind| kind == "npz" || kind == "png") {
        bail!(
            "{}: --html shows a motion file (.bvh, .glb, .gltf) beside its mapping; `pomp render` shows a recording",
            path.display()
        );
    }
    let (loaded, source) = load_with_source(path, config, rigs)?;
    let named = |mut recording: Recording, side: &str| {
        recording.name = format!("{}, {side}", loaded.clip.name);
        recording
    };
    let result = named(labelled(&loaded.clip, config)?, "project skeleton");
    let source = named(loaded.report.source_beside(&source)?, "as in the file");
    let page = pomp_studio::standalone_html(&result, Some(&source))?;
    write_atomically(html, |file| file.write_all(&page))?;
    tracing::info!("wrote {}", html.display());
    Ok(())
}

fn inspect(path: &Path, config: &PreprocessConfig, rigs: &RigLibrary) -> Result<Found> {
    if path.is_dir() {
        return Ok(Found::Dataset(Box::new(inspect_dataset::count(path)?)));
    }
    let kind = path.extension().map_or_else(String::new, |kind| kind.to_string_lossy().to_ascii_lowercase());
    if kind == "png" {
        return Ok(Found::Ground(pomp_terrain::load(path, 0)?));
    }
    if kind == "npz" {
        return match motion_file::read(path, config, rigs) {
            Ok(recording) => {
                let (mapping, inference, warnings) = (None, None, Vec::new());
                Ok(Found::Clip(Box::new(Inspected { recording, mapping, inference, warnings })))
            }
            Err(error) => match ground_alone(path, &error) {
                Some(map) => Ok(Found::Ground(map)),
                None => Err(error),
            },
        };
    }
    let mapped = load_clip(path, config, rigs).map_err(anyhow::Error::from).and_then(|loaded| {
        let LoadedClip { clip, report, inference, warnings } = loaded;
        let recording = labelled(&clip, config).with_context(|| path.display().to_string())?;
        Ok(Inspected { recording, mapping: Some(report), inference, warnings })
    });
    match mapped {
        Ok(inspected) => Ok(Found::Clip(Box::new(inspected))),
        // A file that itself cannot be read is refused with the first error.
        Err(error) => Source::read(path, rigs, errors::told(&error)).map(Found::Source).map_err(|_| error),
    }
}

/// The ground of an npz that `pomp terrain make` or numpy has written, where it is refused as a recording because it names no
/// joints.
fn ground_alone(path: &Path, refusal: &anyhow::Error) -> Option<HeightMap> {
    match refusal.downcast_ref() {
        Some(FormatError::Npz { array, .. }) if array == "bone_names" => pomp_terrain::load(path, 0).ok(),
        _ => None,
    }
}

fn described(path: &Path, found: &Found) -> Result<Value> {
    let mut value = match found {
        Found::Clip(inspected) => clip_json(inspected),
        Found::Source(source) => json::plain(source)?,
        Found::Dataset(counted) => json!({ "dataset": json::plain(counted)? }),
        Found::Ground(map) => {
            let (low, high) = map.min_max();
            json!({ "rows": map.rows(), "columns": map.columns(), "cell_m": map.cell_m(), "lowest_m": low, "highest_m": high })
        }
    };
    let kind = match found {
        Found::Clip(inspected) if inspected.mapping.is_some() => "clip",
        Found::Clip(_) => "recording",
        Found::Source(_) => "clip_without_rig",
        Found::Dataset(_) => "dataset",
        Found::Ground(_) => "terrain",
    };
    value["path"] = json!(path);
    value["kind"] = kind.into();
    Ok(value)
}

fn show(path: &Path, found: &Found) {
    match found {
        Found::Clip(inspected) => print(path, inspected),
        Found::Source(source) => source.print(path),
        Found::Dataset(counted) => inspect_dataset::print(path, counted),
        Found::Ground(map) => println!("{}", terrain::described(path, map)),
    }
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

fn clip_json(inspected: &Inspected) -> Value {
    let recording = &inspected.recording;
    let gaits: serde_json::Map<String, Value> =
        gaits(recording).into_iter().map(|(name, share)| (name.to_owned(), share.into())).collect();
    json!({
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
        "inference": inspected.inference,
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
        // An inference says its own.
        if inspected.inference.is_none() {
            println!("  {}\n  {}", mapping.source_frame.unit_reason, mapping.source_frame.up_axis_reason);
        }
        if !mapping.missing.is_empty() {
            println!("  filled in, because the file lacks them: {}", mapping.missing.join(", "));
        }
        for repair in &mapping.repairs {
            println!("  repaired: {repair}");
        }
    }
    if let Some(inference) = &inspected.inference {
        rig::print(inference);
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
    // The inference has said its own warnings.
    let said = |warning: &String| inspected.inference.as_ref().is_some_and(|i| i.warnings.contains(warning));
    for warning in inspected.warnings.iter().filter(|warning| !said(warning)) {
        println!("  warning: {warning}");
    }
}
