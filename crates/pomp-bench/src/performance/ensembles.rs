//! Frames a second of many rollouts, as `pomp generate --count` makes them.

use super::frames::BEYOND_S;
use super::report::{EnsembleRate, Spread};
use super::{Case, PerformanceConfig};
use crate::BenchError;
use crate::rollout::ground;
use pomp_batch::{Batch, BatchError, Loop, Scene, Share};
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Preset};
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Numbers of threads whose rates are compared.
const THREADS: [usize; 2] = [1, 2];
/// What holds the characters up, as their batch names it.
const SUPPORT: &str = "assist";

/// A folder that goes with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("pomp-performance-{}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder of the system for temporary files: what is left there harms nothing.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Measures the rates of each case.
pub(super) fn measure(
    cases: &[Case<'_>],
    config: &PerformanceConfig,
    progress: &dyn Fn(&str),
) -> Result<Vec<Vec<EnsembleRate>>, BenchError> {
    let mut rates = vec![[Vec::new(), Vec::new()]; cases.len()];
    for repetition in 0..config.repetitions {
        progress(&format!("ensembles, {} of {}", repetition + 1, config.repetitions));
        for (case, rates) in cases.iter().zip(&mut rates) {
            for (threads, rates) in THREADS.into_iter().zip(rates) {
                let scratch = Scratch::new();
                rates.push(rate(case, config, threads, &scratch.0)?);
            }
        }
    }
    let of_case = |rates: [Vec<f64>; 2]| {
        let rates = THREADS.into_iter().zip(rates);
        rates.map(|(threads, rates)| EnsembleRate { threads, frames_per_s: Spread::of(&rates) }).collect()
    };
    Ok(rates.into_iter().map(of_case).collect())
}

/// Frames a second of a batch of walks on level ground, files included.
fn rate(case: &Case<'_>, config: &PerformanceConfig, threads: usize, out: &Path) -> Result<f64, BenchError> {
    let seconds = config.ensemble_s;
    let plan = ControlPlan::preset(Preset::Walk, seconds + BEYOND_S, FRAME_RATE_HZ);
    let spec = pomp_terrain::preset("flat").expect("a preset");
    let scene = |seed: u64| {
        let terrain = ground(&spec, plan.reach_m(), seed);
        Ok(Scene {
            ground: "flat".to_owned(),
            terrain: terrain.map_err(|error| BatchError::BadScene { seed, reason: error.to_string() })?,
            control: "walk".to_owned(),
            plan: plan.clone(),
            pushes: Vec::new(),
            support: SUPPORT.to_owned(),
        })
    };
    let batch = Batch {
        loops: BTreeMap::from([(
            SUPPORT.to_owned(),
            Loop { model: case.model, settings: case.settings.clone() },
        )]),
        seconds,
        first_seed: 61,
        count: config.ensemble_rollouts,
        scenes: json!({ "terrain": "flat", "control": "walk" }),
    };
    let begun = Instant::now();
    let report =
        pomp_batch::run(&batch, &scene, &Share::whole(), out, threads, &|_| ControlFlow::Continue(()))?;
    let wall_s = begun.elapsed().as_secs_f64();
    match report.manifest.failures.first() {
        Some(failure) => Err(BenchError::EnsembleFailed { reason: failure.error.clone() }),
        None => Ok(report.made as f64 * f64::from(seconds * FRAME_RATE_HZ) / wall_s),
    }
}
