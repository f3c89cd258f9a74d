//! `pomp generate --count N`.

use crate::cli::GenerateArguments;
use crate::command::{generate, pushes, terrain};
use crate::errors::misuse;
use crate::progress::Progress;
use crate::{errors, json};
use anyhow::{Result, anyhow};
use pomp_batch::{Batch, BatchReport, Loop, ManifestRollout, Progress as BatchProgress};
use pomp_eval::{Comparison, Metrics, Summary, Track, evaluate};
use pomp_formats::write_atomically;
use pomp_front::batch::{Scenes, with_share};
use pomp_front::support::Supports;
use pomp_preprocess::Part;
use pomp_terrain::HeightMap;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

pub fn run(
    arguments: &GenerateArguments,
    bodies: &[String],
    supports: &Supports<'_>,
    count: usize,
) -> Result<ExitCode> {
    let threads =
        arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let part = match (arguments.rank, arguments.ranks) {
        (Some(rank), Some(ranks)) => Part::new(rank, ranks).map_err(|error| misuse!("{error}"))?,
        _ => Part::WHOLE,
    };
    let seconds = arguments.seconds;
    let scenes = match &arguments.random {
        Some(file) => Scenes::random(file.as_deref(), bodies)?,
        None => Scenes::given(&arguments.terrain, &arguments.control, &arguments.push, seconds, bodies)?,
    };
    if let Scenes::Given { terrain, plan, pushes, .. } = &scenes {
        if pomp_terrain::preset(terrain).is_none() {
            let ground = terrain::find(terrain, arguments.seed)?;
            for Loop { settings, .. } in supports.loops.values() {
                terrain::warn_of_edge(terrain, &ground, plan, seconds, settings.dynamic.contact.border_m);
            }
        }
        if !pushes::depend_on_seed(pushes) {
            terrain::say_what_a_seed_changes(terrain)?;
        }
    }
    let loops = supports.loops.clone();
    let batch = Batch { loops, seconds, first_seed: arguments.seed, count, scenes: scenes.settings() };
    let progress = Progress::new("generate", "rollouts", count);
    let clock = Instant::now();
    let scene = |seed| scenes.scene(seed, seconds, bodies, supports);
    let told = |event: &BatchProgress<'_>| {
        if let BatchProgress::Failed { failure } = event {
            tracing::warn!("{}: {}", failure.input, failure.error);
        }
        progress.step();
        ControlFlow::Continue(())
    };
    let out = &arguments.out;
    let report = with_share(part, |share| pomp_batch::run(&batch, &scene, share, out, threads, &told))?;
    let wall_s = clock.elapsed().as_secs_f64();
    drop(progress);
    let measured = measure(arguments, &report, part, threads)?;
    tell(arguments, &report, &measured, part, threads.min(count), wall_s)?;
    Ok(errors::code_of(report.manifest.clips.len(), report.manifest.failures.len()))
}

/// Reads every rollout back, measures it and, where pictures are asked for and missing, draws it. The figures are also written
/// to OUT/metrics.json, those of a part to a file that is named after it.
fn measure(
    arguments: &GenerateArguments,
    report: &BatchReport,
    part: Part,
    threads: usize,
) -> Result<Vec<Metrics>> {
    let (out, clips) = (&arguments.out, &report.manifest.clips);
    let progress =
        Progress::new(if arguments.pictures { "pictures" } else { "metrics" }, "rollouts", clips.len());
    let measure = |rollout: &ManifestRollout| -> Result<Metrics> {
        let path = out.join(&rollout.file);
        let recording = pomp_formats::read_recording(&path)?;
        let ground = recording.terrain.clone().map(HeightMap::from_grid).transpose()?;
        let ground = ground.ok_or_else(|| anyhow!("{}: a rollout without its ground", path.display()))?;
        let metrics = evaluate(&recording, &ground, Track::Simulated)?;
        let [gif, sheet] = ["gif", "png"].map(|kind| path.with_extension(kind));
        if arguments.pictures && !(gif.is_file() && sheet.is_file()) {
            generate::pictures(&recording, &gif, &sheet)?;
        }
        progress.step();
        Ok(metrics)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let measured = pool.install(|| clips.par_iter().map(measure).collect::<Result<Vec<Metrics>>>())?;
    let text =
        format!("{:#}\n", json::with_schema("rollout-metrics", &figures(&report.manifest.clips, &measured))?);
    let file = format!("metrics{}.json", part.suffix());
    write_atomically(&out.join(file), |file| file.write_all(text.as_bytes()))?;
    Ok(measured)
}

/// Metrics per rollout, and their means.
fn figures(clips: &[ManifestRollout], measured: &[Metrics]) -> Value {
    let rollouts: Vec<Value> = clips
        .iter()
        .zip(measured)
        .map(|(rollout, metrics)| {
            json!({
                "file": rollout.file, "seed": rollout.seed, "ground": rollout.ground.kind, "control": rollout.control,
                "support": rollout.support, "pushes": rollout.pushes, "metrics": metrics,
            })
        })
        .collect();
    let summary = Summary::of(measured).map_or(Value::Null, |summary| json::of_summary(&summary));
    json!({ "rollouts": rollouts, "summary": summary })
}

/// Says what was made and how fast.
fn tell(
    arguments: &GenerateArguments,
    report: &BatchReport,
    measured: &[Metrics],
    part: Part,
    threads: usize,
    wall_s: f64,
) -> Result<()> {
    let manifest = &report.manifest;
    let (rollouts, failed) = (manifest.clips.len(), manifest.failures.len());
    let fell = manifest.clips.iter().filter(|rollout| rollout.first_fall_s.is_some()).count();
    let pushes: usize = manifest.clips.iter().map(|rollout| rollout.pushes).sum();
    let motion_s = report.made as f64 * f64::from(arguments.seconds);
    // How many characters one thread moves as fast as they move in the world.
    let characters = motion_s / (wall_s * threads as f64);
    if arguments.json {
        let mut told = figures(&manifest.clips, measured);
        told["batch"] = json!({
            "rollouts": rollouts,
            "made": report.made,
            "kept": rollouts - report.made,
            "failed": failed,
            "fell": fell,
            "pushes": pushes,
            "motion_s": motion_s,
            "wall_s": wall_s,
            "threads": threads,
            "characters_in_real_time_per_core": (report.made > 0).then_some(characters),
        });
        return json::print("generate-batch", &told);
    }
    if let Ok(summary) = Summary::of(measured) {
        println!("{}", Comparison::new().with("rollouts", summary));
    }
    println!(
        "{rollouts} rollouts of {} s with {pushes} pushes; {fell} fell: {} made, {} were there, {failed} failed",
        arguments.seconds,
        report.made,
        rollouts - report.made
    );
    if report.made > 0 {
        println!(
            "{motion_s:.0} s of motion in {wall_s:.1} s, {threads} at a time: {characters:.1} characters in real time per core"
        );
    }
    let pictures = if arguments.pictures { ", their pictures" } else { "" };
    let part = part.suffix();
    println!(
        "the rollouts{pictures}, metrics{part}.json and manifest{part}.json are in {}",
        arguments.out.display()
    );
    Ok(())
}
