//! How rigs are inferred without names: every clip of the folders with its joints renamed, reordered, scaled and turned,
//! against what the named rig map gives.
//!
//! `cargo run --release -p pomp-formats --example infer_rigs -- [--clips N] [--change NAME] [--verbose] FOLDER…`
//!
//! Prints per folder and change of the file
//! - clips that are mapped, the share of the named map's joints that the inferred map has found as well, and clips with
//!   left and right exchanged;
//! - median and largest distance over the clips of the mean joint distance between the two results on the project
//!   skeleton, and the largest of one joint's mean over a clip, centimetres;
//! - the least confidence, and the median time of an inference.

#![expect(clippy::print_stdout, reason = "an example that prints a table")]

#[path = "../tests/disguise/mod.rs"]
mod disguise;

use disguise::{Disguise, disguised, disguises};
use pomp_formats::read_bvh;
use pomp_motion::retarget::{RetargetOptions, RigLibrary, infer, retarget};
use pomp_motion::{Clip, JointIndex, Skeleton, SourceMotion, humanoid};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What came of one clip.
struct Outcome {
    found: f32,
    wrong: Vec<String>,
    exchanged: bool,
    /// Mean distance of all joints, and of the worst joint, metres.
    distance: [f32; 2],
    worst: String,
    confidence: f32,
    seconds: f32,
}

fn clips(folder: &Path, most: usize) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "bvh"));
    files.sort();
    let step = files.len().div_ceil(most).max(1);
    Ok(files.into_iter().step_by(step).collect())
}

fn distances(a: &Clip, b: &Clip) -> ([f32; 2], usize) {
    let mut sums = [0.0_f32; humanoid::JOINTS];
    let (a, b) = (a.global_poses(), b.global_poses());
    let frames = a.len().min(b.len());
    for (a, b) in a.iter().rev().zip(b.iter().rev()) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.positions.iter().zip(&b.positions)) {
            *sum += a.distance(*b) / frames as f32;
        }
    }
    let worst = (0..sums.len()).max_by(|&i, &k| sums[i].total_cmp(&sums[k])).unwrap_or(0);
    ([sums.iter().sum::<f32>() / humanoid::JOINTS as f32, sums[worst]], worst)
}

fn outcome(source: &SourceMotion, change: &Disguise, seed: u64) -> Result<Outcome, String> {
    let library = RigLibrary::builtin();
    let (rig, named) = library.choose(&source.skeleton).map_err(|error| error.to_string())?;
    let options = RetargetOptions::default();
    let expected = retarget(source, rig, &options).map_err(|error| error.to_string())?.clip;
    let (motion, original) = disguised(source, change, seed);
    let start = Instant::now();
    let inference = infer(&motion).map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f32();
    let clip = retarget(&motion, &inference.rig, &options).map_err(|error| error.to_string())?.clip;
    let found = inference.joints.source_joints.map(|joint| joint.map(|joint| JointIndex(original[joint.0])));
    let project = Skeleton::humanoid(1.0);
    let name = |joint: Option<JointIndex>| joint.map_or("-", |j| source.skeleton.joints()[j.0].name.as_str());
    let roles = (0..humanoid::JOINTS).filter(|&i| named.source_joints[i].is_some());
    let wrong: Vec<String> = roles
        .clone()
        .filter(|&i| found[i] != named.source_joints[i])
        .map(|i| {
            format!("{}: {} not {}", project.joints()[i].name, name(found[i]), name(named.source_joints[i]))
        })
        .collect();
    let (distance, worst) = distances(&expected, &clip);
    let exchanged = found[humanoid::LEFT_LEG.0] == named.source_joints[humanoid::RIGHT_LEG.0];
    Ok(Outcome {
        found: 1.0 - wrong.len() as f32 / roles.count() as f32,
        wrong,
        exchanged,
        distance,
        worst: project.joints()[worst].name.clone(),
        confidence: inference.confidence,
        seconds,
    })
}

fn median(values: impl Iterator<Item = f32>) -> f32 {
    let mut values: Vec<f32> = values.collect();
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f32::NAN)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut most, mut verbose, mut only, mut folders) = (12, false, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--clips" => most = arguments.next().ok_or("--clips needs a number")?.parse()?,
            "--verbose" => verbose = true,
            "--change" => only = arguments.next(),
            _ => folders.push(PathBuf::from(argument)),
        }
    }
    println!(
        "folder | change | mapped | joints found | exchanged | median, largest, worst joint, cm | least confidence | ms"
    );
    for folder in folders {
        let files = clips(&folder, most)?;
        for change in
            disguises().into_iter().filter(|change| only.as_ref().is_none_or(|only| only == change.name))
        {
            let mut outcomes = Vec::new();
            for (seed, file) in files.iter().enumerate() {
                let source = read_bvh(file)?.motion;
                match outcome(&source, &change, seed as u64) {
                    Ok(outcome) => {
                        if verbose && (!outcome.wrong.is_empty() || outcome.distance[0] > 0.01) {
                            let cm = outcome.distance.map(|d| 100.0 * d);
                            let wrong = outcome.wrong.join("; ");
                            println!("  {}: {cm:.1?} cm ({}), {wrong}", source.name, outcome.worst);
                        }
                        outcomes.push(outcome);
                    }
                    Err(error) => println!("  {}, {}: {error}", source.name, change.name),
                }
            }
            let largest = |of: &dyn Fn(&Outcome) -> f32| outcomes.iter().map(of).fold(0.0, f32::max);
            println!(
                "{} | {} | {} of {} | {:.1} % | {} | {:.2}, {:.2}, {:.2} | {:.2} | {:.0}",
                folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
                change.name,
                outcomes.len(),
                files.len(),
                100.0 * outcomes.iter().map(|o| o.found).sum::<f32>() / outcomes.len().max(1) as f32,
                outcomes.iter().filter(|o| o.exchanged).count(),
                100.0 * median(outcomes.iter().map(|o| o.distance[0])),
                100.0 * largest(&|o| o.distance[0]),
                100.0 * largest(&|o| o.distance[1]),
                outcomes.iter().map(|o| o.confidence).fold(1.0, f32::min),
                1000.0 * median(outcomes.iter().map(|o| o.seconds)),
            );
        }
    }
    Ok(())
}
