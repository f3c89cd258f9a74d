//! All runs of a bench: in parallel, resumable, each result a file of its own.

use crate::BenchError;
use crate::config::{BenchConfig, Method, MethodKind, Scenario};
use crate::measure::{RunResult, measure};
use crate::mocap::Mocap;
use crate::pictures::{draw_moving, draw_stills, stack_stills};
use crate::rollout::{rollout, runs, subject};
use crate::world::World;
use pomp_files::Digest;
use pomp_formats::write_atomically;
use pomp_motion::statistics::percentile;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Raised when the meaning of results changes, so that old ones are made again.
const RESULT_VERSION: u32 = 5;

/// What happens while a bench goes on.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// So many runs there are in all.
    Planned {
        /// Runs.
        runs: usize,
    },
    /// A run is finished, or was already.
    Done {
        /// The run.
        result: &'a RunResult,
    },
}

/// A method that was not run, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotRun {
    /// The method.
    pub method: String,
    /// The scenario.
    pub scenario: String,
    /// Why not.
    pub reason: String,
}

/// All that was run.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Results in the order of scenarios, methods and runs.
    pub results: Vec<RunResult>,
    /// What was not run.
    pub not_run: Vec<NotRun>,
}

/// What frames cost: a file beside the result, since no two runs give the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameTimes {
    /// Median wall time of a frame, ms.
    pub p50_ms: f64,
    /// 99th percentile, ms.
    pub p99_ms: f64,
}

/// One run to do.
#[derive(Clone, Copy)]
struct Job<'a> {
    scenario: &'a Scenario,
    method: &'a Method,
    run: usize,
    seed: u64,
}

/// Runs every method in every scenario, on `threads` threads, with results in `out`. Results that are there, made by the
/// same version from the same model, data and settings, are not made again.
///
/// # Errors
/// The configuration is out of range or the folder cannot be written. A run that fails is a result, not an error.
pub fn run(
    world: &World,
    config: &BenchConfig,
    out: &Path,
    threads: usize,
    progress: &(dyn Fn(&Progress<'_>) + Sync),
) -> Result<Runs, BenchError> {
    config.validate()?;
    let (jobs, not_run) = plan(world, config);
    progress(&Progress::Planned { runs: jobs.len() });
    for job in &jobs {
        let folder = out.join("runs").join(&job.scenario.name).join(&job.method.name);
        std::fs::create_dir_all(&folder).map_err(|source| BenchError::Io {
            action: "creating the folder",
            path: folder.clone(),
            source,
            remedy: "give a folder that can be written with --out",
        })?;
    }
    // Long runs first, so that no thread is left alone with one at the end.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|&a, &b| jobs[b].scenario.seconds.total_cmp(&jobs[a].scenario.seconds));
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let problem = Mutex::new(None);
    // Plain threads: in a pool that also serves the networks, a frame would wait for whole runs that it has picked up.
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    match do_job(world, config, out, &jobs[index]) {
                        Ok(result) => progress(&Progress::Done { result: &result }),
                        Err(error) => {
                            stop.store(true, Ordering::Relaxed);
                            *problem.lock().expect("no thread panics while it stores") = Some(error);
                        }
                    }
                }
            });
        }
    });
    if let Some(error) = problem.into_inner().expect("all threads have joined") {
        return Err(error);
    }
    // Read back from the files, so that a resumed bench reports what one in one go does, to the last digit.
    let results = jobs
        .iter()
        .map(|job| {
            let path = result_path(out, job);
            read_result(&path)?.ok_or_else(|| BenchError::Io {
                action: "reading the result back",
                source: std::io::ErrorKind::InvalidData.into(),
                path,
                remedy: "remove it and run the same command again",
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    stack_stills(config, &results, out, |run| {
        run_path(out, &run.scenario, &run.method, run.run, "stills.png")
    })?;
    Ok(Runs { results, not_run })
}

fn plan<'a>(world: &World, config: &'a BenchConfig) -> (Vec<Job<'a>>, Vec<NotRun>) {
    let (mut jobs, mut not_run) = (Vec::new(), Vec::new());
    for scenario in &config.scenario {
        for method in config.method.iter().filter(|method| scenario.wants(method)) {
            let mut skip = |reason: &str| {
                not_run.push(NotRun {
                    method: method.name.clone(),
                    scenario: scenario.name.clone(),
                    reason: reason.to_owned(),
                });
            };
            if method.needs_data() && world.mocap.is_none() {
                skip("it needs a dataset");
                continue;
            }
            let runs = runs(world, method, scenario);
            if runs == 0 {
                skip("the dataset has no clip that is long enough and of these gaits");
            }
            jobs.extend((0..runs).map(|run| Job {
                scenario,
                method,
                run,
                seed: config.first_seed.wrapping_add(run as u64),
            }));
        }
    }
    (jobs, not_run)
}

fn do_job(world: &World, config: &BenchConfig, out: &Path, job: &Job<'_>) -> Result<RunResult, BenchError> {
    let _run =
        tracing::info_span!("run", scenario = job.scenario.name, method = job.method.name, run = job.run)
            .entered();
    let path = result_path(out, job);
    let key = key(world, config, job);
    let previews = (job.scenario.preview && job.run == 0 && config.preview_s > 0.0)
        .then(|| [path.with_extension("gif"), path.with_extension("stills.png")]);
    if let Some(result) = read_result(&path)?
        && result.key == key
        && previews.iter().flatten().all(|preview| preview.is_file())
    {
        return Ok(result);
    }
    let mut result = RunResult {
        key,
        scenario: job.scenario.name.clone(),
        method: job.method.name.clone(),
        run: job.run,
        seed: job.seed,
        clip: subject(world, job.method, job.scenario, job.run),
        failure: None,
        metrics: pomp_eval::Metrics::default(),
        features: pomp_eval::FeatureSums::new(world.space.dimensions()),
        first_and_last_minute: None,
    };
    let made = rollout(world, job.method, job.scenario, job.run, job.seed)
        .and_then(|made| Ok((measure(&made, job.method, &world.space)?, made)));
    match made {
        Ok((measured, made)) => {
            result.metrics = measured.metrics;
            result.features = measured.features;
            result.first_and_last_minute = measured.first_and_last_minute;
            if let Some([moving, stills]) = &previews {
                draw_moving(&made.recording, result.metrics.first_fall_s, config.preview_s, moving)?;
                draw_stills(&made.recording, job.scenario, config.preview_s, stills)?;
            }
            write_times(&path.with_extension("timing.json"), &made.frame_us)?;
        }
        Err(error @ BenchError::TooLittleData { .. }) => return Err(error),
        Err(error) => result.failure = Some(error.to_string()),
    }
    let json = serde_json::to_string_pretty(&result).expect("a result is plain data");
    write_atomically(&path, |file| file.write_all(json.as_bytes()))?;
    tracing::debug!(failed = result.failure.is_some(), "measured");
    Ok(result)
}

fn result_path(out: &Path, job: &Job<'_>) -> PathBuf {
    run_path(out, &job.scenario.name, &job.method.name, job.run, "json")
}

/// A file of a run.
fn run_path(out: &Path, scenario: &str, method: &str, run: usize, kind: &str) -> PathBuf {
    out.join("runs").join(scenario).join(method).join(format!("{run:04}.{kind}"))
}

/// A result, or `None` where there is none that this version understands.
fn read_result(path: &Path) -> Result<Option<RunResult>, BenchError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(BenchError::Io {
            action: "reading the result",
            path: path.to_path_buf(),
            source,
            remedy: "remove it and run the same command again",
        }),
    }
}

/// Frame times of a run, if it was timed.
pub fn read_times(out: &Path, result: &RunResult) -> Option<FrameTimes> {
    let path = run_path(out, &result.scenario, &result.method, result.run, "timing.json");
    let bytes = std::fs::read(path).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn write_times(path: &Path, frame_us: &[f32]) -> Result<(), BenchError> {
    let times: Vec<f64> = frame_us.iter().map(|&us| f64::from(us) / 1e3).collect();
    let (Some(p50_ms), Some(p99_ms)) = (percentile(&times, 0.5), percentile(&times, 0.99)) else {
        return Ok(());
    };
    let json = serde_json::to_string(&FrameTimes { p50_ms, p99_ms }).expect("two numbers are plain data");
    Ok(write_atomically(path, |file| file.write_all(json.as_bytes()))?)
}

/// Hash of everything that decides a result.
fn key(world: &World, config: &BenchConfig, job: &Job<'_>) -> String {
    let scenario = Scenario {
        about: String::new(),
        runs: 0,
        methods: Vec::new(),
        preview: false,
        ..job.scenario.clone()
    };
    let data = world.mocap.as_ref().filter(|_| job.method.needs_data()).map(Mocap::hash);
    // Controllers and the balance policy have files of their own beside those that the model's hash is of.
    let model = match &job.method.kind {
        MethodKind::ClosedLoop(config)
            if world.model.controllers.contains_key(&config.controller)
                || config.layers.balance_policy.enabled =>
        {
            world.model.sha256_with(config.used_parts()).unwrap_or_else(|| world.model_id.clone())
        }
        _ => world.model_id.clone(),
    };
    let parts = serde_json::json!({
        "result_version": RESULT_VERSION,
        "version": env!("CARGO_PKG_VERSION"),
        "model": model,
        "data": data,
        "method": job.method.kind,
        "scenario": scenario,
        "run": job.run,
        "seed": job.seed,
        "preview_s": if job.scenario.preview { config.preview_s } else { 0.0 },
    });
    Digest::of(parts.to_string()).to_string()[..32].to_owned()
}
