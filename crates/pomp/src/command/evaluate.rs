//! `pomp evaluate`: a column of metrics per file or folder.

use crate::cli::EvaluateArguments;
use crate::command::terrain;
use crate::progress::Progress;
use crate::{errors, json, motion_file};
use anyhow::{Context, Result};
use pomp_eval::{Comparison, Metrics, Summary, Track};
use pomp_front::measure::{files, measure};
use pomp_preprocess::PreprocessConfig;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// A motion and what was measured on it.
struct Measured {
    path: PathBuf,
    track: Track,
    metrics: Metrics,
    /// A rollout whose frames have no wall time.
    without_clock: bool,
}

pub fn run(arguments: &EvaluateArguments) -> Result<ExitCode> {
    let rigs = motion_file::rigs(&arguments.rig)?;
    let config = PreprocessConfig::default();
    let given = arguments.terrain.as_deref().map(|name| terrain::find(name, 0)).transpose()?;
    let columns = arguments.motions.iter().map(|path| files(path)).collect::<Result<Vec<_>>>()?;
    let progress = Progress::new("evaluate", "motions", columns.iter().map(Vec::len).sum());
    let measured = |path: &PathBuf| -> Option<Measured> {
        let measured = motion_file::read(path, &config, &rigs).and_then(|recording| {
            let (track, metrics) = measure(&recording, given.as_ref(), arguments.simulated)
                .with_context(|| path.display().to_string())?;
            let without_clock =
                recording.generation.is_some_and(|generation| generation.frame_time_us.is_none());
            Ok(Measured { path: path.clone(), track, metrics, without_clock })
        });
        progress.step();
        measured.map_err(|error| tracing::error!("{}", errors::told(&error))).ok()
    };
    let measured: Vec<Vec<Measured>> =
        columns.par_iter().map(|files| files.par_iter().filter_map(&measured).collect()).collect();
    drop(progress);
    let done = measured.iter().map(Vec::len).sum();
    let failed = columns.iter().map(Vec::len).sum::<usize>() - done;
    if done > 0 {
        tell(arguments, &titles(&arguments.motions), &measured)?;
    }
    Ok(errors::code_of(done, failed))
}

fn tell(arguments: &EvaluateArguments, titles: &[String], columns: &[Vec<Measured>]) -> Result<()> {
    let mut comparison = Comparison::new();
    let mut list = Vec::new();
    for ((given, title), motions) in arguments.motions.iter().zip(titles).zip(columns) {
        let metrics: Vec<Metrics> = motions.iter().map(|measured| measured.metrics.clone()).collect();
        let Ok(summary) = Summary::of(&metrics) else { continue };
        let motions: Vec<Value> = motions
            .iter()
            .map(|measured| {
                json!({ "file": measured.path, "track": measured.track.name(), "metrics": measured.metrics })
            })
            .collect();
        list.push(json!({
            "title": title, "path": given, "motions": motions, "summary": json::of_summary(&summary),
        }));
        comparison = comparison.with(title, summary);
    }
    if arguments.json {
        return json::print("evaluate", &json!({ "columns": list }));
    }
    println!("{comparison}");
    if columns
        .iter()
        .flatten()
        .any(|measured| measured.metrics.frame_time_p50_ms.is_none() && measured.without_clock)
    {
        println!("frame times: not recorded in every rollout (pomp generate --clock records them)");
    }
    Ok(())
}

/// A title per argument: the end of its path that tells it from the others, numbered where even whole paths are the same.
fn titles(paths: &[PathBuf]) -> Vec<String> {
    let parts: Vec<Vec<String>> = paths
        .iter()
        .map(|path| {
            let plain = if path.is_dir() { path.clone() } else { path.with_extension("") };
            plain.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
        })
        .collect();
    let end = |parts: &[String], count: usize| parts[parts.len().saturating_sub(count)..].join("/");
    let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
    let mut titles: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(index, own)| {
            let is_own = |count: &usize| {
                parts
                    .iter()
                    .enumerate()
                    .all(|(other, parts)| other == index || end(parts, *count) != end(own, *count))
            };
            end(own, (1..=longest).find(is_own).unwrap_or(longest))
        })
        .collect();
    let plain = titles.clone();
    for index in 0..titles.len() {
        let before = plain[..index].iter().filter(|title| **title == plain[index]).count();
        if before > 0 {
            titles[index] = format!("{} ({})", plain[index], before + 1);
        }
    }
    titles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> Vec<String> {
        titles(&paths.iter().map(PathBuf::from).collect::<Vec<_>>())
    }

    #[test]
    fn columns_of_one_name_are_told_apart_by_their_folders() {
        assert_eq!(of(&["out/a/rollout.npz", "out/b/rollout.npz"]), ["a/rollout", "b/rollout"]);
        assert_eq!(of(&["walk.bvh", "jog.bvh"]), ["walk", "jog"]);
        assert_eq!(of(&["x/a/r.npz", "y/a/r.npz", "y/b/r.npz"]), ["x/a/r", "y/a/r", "b/r"]);
        assert_eq!(of(&["a.npz", "a.npz", "a.bvh"]), ["a", "a (2)", "a (3)"]);
    }
}
