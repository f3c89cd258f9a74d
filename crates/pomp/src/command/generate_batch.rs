//! `pomp generate --count N`.

use crate::cli::GenerateArguments;
use crate::command::{generate, terrain};
use crate::terminal;
use anyhow::{Result, bail};
use pomp_batch::{BEYOND_S, Batch, BatchError, BatchReport, Progress, RandomScenes, Scene, TERRAIN_MARGIN_M};
use pomp_config::{Origin, resolve_whole};
use pomp_generator::{ControlPlan, GeneratorConfig, ScheduledPush};
use pomp_model::Model;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// What is drawn where no file is given.
const RANDOM: &str = include_str!("../../../../configs/batch.toml");

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
    let threads = match arguments.threads {
        Some(0) => bail!("--threads 0: give at least one"),
        Some(threads) => threads,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    if count == 0 {
        bail!("--count 0: give at least one");
    }
    let scenes = Scenes::of(arguments, model)?;
    let seconds = arguments.seconds;
    if let Scenes::Given { terrain, plan, .. } = &scenes
        && pomp_terrain::preset(terrain).is_none()
    {
        let ground = terrain::find(terrain, arguments.seed)?;
        terrain::warn_of_edge(terrain, &ground, plan, seconds, settings.dynamic.contact.border_m);
    }
    let bodies = &model.description.body_names;
    let batch =
        Batch { model, settings, seconds, first_seed: arguments.seed, count, scenes: scenes.settings() };
    let bar = terminal::bar(count as u64, "rollouts");
    let clock = Instant::now();
    let scene = |seed| scenes.scene(seed, seconds, bodies);
    let report = pomp_batch::run(&batch, &scene, &arguments.out, threads, &|progress| {
        if let Progress::Failed { failure } = progress {
            bar.suspend(|| eprintln!("{}: {}", failure.input, failure.error));
        }
        bar.inc(1);
    })?;
    let wall_s = clock.elapsed().as_secs_f64();
    bar.finish_and_clear();
    tell(arguments, &report, threads.min(count), wall_s);
    Ok(if report.manifest.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Says what was made and how fast.
fn tell(arguments: &GenerateArguments, report: &BatchReport, threads: usize, wall_s: f64) {
    let manifest = &report.manifest;
    let (rollouts, failed) = (manifest.clips.len(), manifest.failures.len());
    let fell = manifest.clips.iter().filter(|rollout| rollout.first_fall_s.is_some()).count();
    let pushes: usize = manifest.clips.iter().map(|rollout| rollout.pushes).sum();
    let motion_s = report.made as f64 * f64::from(arguments.seconds);
    // How many characters one thread moves as fast as they move in the world.
    let characters = motion_s / (wall_s * threads as f64);
    if arguments.json {
        let told = json!({
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
        println!("{told:#}");
        return;
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
    println!("the rollouts and manifest.json are in {}", arguments.out.display());
}

/// Where scenes come from.
enum Scenes {
    /// Drawn from the seed.
    Random(RandomScenes),
    /// The same command and pushes for all, on the ground of the seed.
    Given {
        terrain: String,
        control: String,
        push: Vec<String>,
        plan: ControlPlan,
        pushes: Vec<ScheduledPush>,
    },
}

impl Scenes {
    fn of(arguments: &GenerateArguments, model: &Model) -> Result<Self> {
        let bodies = &model.description.body_names;
        if let Some(file) = &arguments.random {
            let scenes: RandomScenes = resolve_whole(origin(file.as_deref()), &[])?.config;
            scenes.validate(bodies)?;
            return Ok(Self::Random(scenes));
        }
        Ok(Self::Given {
            terrain: arguments.terrain.clone(),
            control: arguments.control.clone(),
            push: arguments.push.clone(),
            plan: generate::control(&arguments.control, arguments.seconds + BEYOND_S)?,
            pushes: generate::pushes_of(&arguments.push, bodies)?,
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
                    .map_err(|error| BatchError::BadScene { seed, reason: terminal::told(&error) })?,
                control: name(control),
                plan: plan.clone(),
                pushes: pushes.clone(),
            }),
        }
    }
}

/// A preset's name, or a file's without its folder.
fn name(given: &str) -> String {
    Path::new(given).file_name().map_or_else(|| given.to_owned(), |name| name.to_string_lossy().into_owned())
}
