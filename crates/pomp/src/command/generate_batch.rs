//! `pomp generate --count N`.

use crate::cli::GenerateArguments;
use crate::command::{generate, pushes, terrain};
use crate::progress::Progress;
use crate::{errors, json};
use anyhow::{Result, anyhow};
use pomp_batch::{
    BEYOND_S, Batch, BatchError, BatchReport, ManifestRollout, Progress as BatchProgress, RandomScenes,
    Scene, TERRAIN_MARGIN_M,
};
use pomp_config::{Origin, resolve_whole};
use pomp_eval::{Comparison, Metrics, Summary, Track, evaluate};
use pomp_formats::write_atomically;
use pomp_front::control;
use pomp_front::pushes::PushRequest;
use pomp_generator::{ControlPlan, GeneratorConfig};
use pomp_model::Model;
use pomp_terrain::HeightMap;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// What is drawn where no file is given.
const RANDOM: &str = include_str!("../../configs/batch.toml");

/// Where the configuration of random rollouts comes from.
pub fn origin(path: Option<&Path>) -> Origin<'_> {
    path.map_or(Origin::BuiltIn { name: "configs/batch.toml", text: RANDOM }, Origin::File)
}

pub fn run(
    arguments: &GenerateArguments,
    model: &Model,
    settings: GeneratorConfig,
    count: usize,
) -> Result<ExitCode> {
    let threads =
        arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let scenes = Scenes::of(arguments, model)?;
    let seconds = arguments.seconds;
    if let Scenes::Given { terrain, plan, pushes, .. } = &scenes {
        if pomp_terrain::preset(terrain).is_none() {
            let ground = terrain::find(terrain, arguments.seed)?;
            terrain::warn_of_edge(terrain, &ground, plan, seconds, settings.dynamic.contact.border_m);
        }
        if !pushes::depend_on_seed(pushes) {
            terrain::say_what_a_seed_changes(terrain)?;
        }
    }
    let bodies = &model.description.body_names;
    let batch =
        Batch { model, settings, seconds, first_seed: arguments.seed, count, scenes: scenes.settings() };
    let progress = Progress::new("generate", "rollouts", count);
    let clock = Instant::now();
    let scene = |seed| scenes.scene(seed, seconds, bodies);
    let report = pomp_batch::run(&batch, &scene, &arguments.out, threads, &|event| {
        if let BatchProgress::Failed { failure } = event {
            tracing::warn!("{}: {}", failure.input, failure.error);
        }
        progress.step();
    })?;
    let wall_s = clock.elapsed().as_secs_f64();
    drop(progress);
    let measured = measure(arguments, &report, threads)?;
    tell(arguments, &report, &measured, threads.min(count), wall_s)?;
    Ok(errors::code_of(report.manifest.clips.len(), report.manifest.failures.len()))
}

/// Reads every rollout back, measures it and, where pictures are asked for and missing, draws it. The figures are also written
/// to OUT/metrics.json.
fn measure(arguments: &GenerateArguments, report: &BatchReport, threads: usize) -> Result<Vec<Metrics>> {
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
    write_atomically(&out.join("metrics.json"), |file| file.write_all(text.as_bytes()))?;
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
                "pushes": rollout.pushes, "metrics": metrics,
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
    println!("the rollouts{pictures}, metrics.json and manifest.json are in {}", arguments.out.display());
    Ok(())
}

/// Where scenes come from.
enum Scenes {
    /// Drawn from the seed.
    Random(RandomScenes),
    /// The same command for all, on the ground of the seed, with the pushes drawn from it.
    Given { terrain: String, control: String, push: Vec<String>, plan: ControlPlan, pushes: Vec<PushRequest> },
}

impl Scenes {
    fn of(arguments: &GenerateArguments, model: &Model) -> Result<Self> {
        let bodies = &model.description.body_names;
        if let Some(file) = &arguments.random {
            let scenes: RandomScenes = resolve_whole(origin(file.as_deref()), &[])?.checked()?;
            scenes.validate(bodies)?;
            return Ok(Self::Random(scenes));
        }
        Ok(Self::Given {
            terrain: arguments.terrain.clone(),
            control: arguments.control.clone(),
            push: arguments.push.clone(),
            plan: control::find(&arguments.control, arguments.seconds + BEYOND_S)?,
            pushes: pushes::pushes_of(&arguments.push, bodies, arguments.seconds)?,
        })
    }

    /// What decides them, for the manifest.
    fn settings(&self) -> Value {
        match self {
            Self::Random(scenes) => json!({ "random": scenes.to_json() }),
            Self::Given { terrain, control, push, .. } => {
                json!({ "terrain": terrain, "control": control, "push": push })
            }
        }
    }

    fn scene(&self, seed: u64, seconds: f32, bodies: &[String]) -> Result<Scene, BatchError> {
        match self {
            Self::Random(scenes) => scenes.draw(seed, seconds, bodies),
            Self::Given { terrain, control, plan, pushes, .. } => Ok(Scene {
                ground: name(terrain),
                terrain: terrain::find_reaching(terrain, seed, plan.reach_m() + TERRAIN_MARGIN_M)
                    .map_err(|error| BatchError::BadScene { seed, reason: errors::told(&error) })?,
                control: name(control),
                plan: plan.clone(),
                pushes: pushes::draw(pushes, plan, seed),
            }),
        }
    }
}

/// A preset's name, or a file's without its folder.
fn name(given: &str) -> String {
    Path::new(given).file_name().map_or_else(|| given.to_owned(), |name| name.to_string_lossy().into_owned())
}
