//! From runs to figures: means, shares and distances with 95 % intervals.

use crate::BenchError;
use crate::bench::{NotRun, Runs};
use crate::config::{BenchConfig, Method, Scenario};
use crate::measure::RunResult;
use crate::phase_space::Reference;
use crate::world::World;
use pomp_eval::{FeatureSums, Metrics, Summary, bootstrap_95, wilson_95};
use pomp_motion::Gait;
use pomp_motion::statistics::mean;
use serde::Serialize;
use std::collections::BTreeMap;

/// Resamples of a bootstrap: enough for two digits of an interval.
const RESAMPLES: usize = 200;
/// Seed of every bootstrap.
const BOOTSTRAP_SEED: u64 = 20_250_611;

/// A value and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The value.
    pub value: f64,
    /// Ends of the interval; `None` for fewer than two runs.
    pub interval_95: Option<[f64; 2]>,
}

/// A share of runs and its 95 % interval by Wilson.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Runs that did.
    pub hits: usize,
    /// Runs.
    pub of: usize,
    /// Ends of the interval of the probability.
    pub interval_95: Option<[f64; 2]>,
}

/// A metric in the first and in the last minute of long runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// The metric.
    pub metric: &'static str,
    /// Its mean over runs in the first minute.
    pub first: f64,
    /// Its mean over runs in the last minute.
    pub last: f64,
    /// Mean over runs of the difference over the mean of the first minute, with its interval.
    pub relative_change: Interval,
}

/// One method in one scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The method.
    pub method: String,
    /// The scenario.
    pub scenario: String,
    /// Number of runs.
    pub runs: usize,
    /// What went wrong in runs that gave no motion.
    pub failures: Vec<String>,
    /// Runs that gave motion and did not fall.
    pub without_fall: Share,
    /// Pushed runs that recovered.
    pub recovered: Option<Share>,
    /// Mean of every metric over runs, with half the width of its interval by Student's t.
    pub metrics: Option<Summary>,
    /// Fréchet distance, squared, of phase features to held-out mocap; bootstrap over runs.
    pub frechet: Option<Interval>,
    /// Root mean square distance of phase features between runs, in standard deviations of held-out mocap; bootstrap over
    /// runs.
    pub diversity: Option<Interval>,
    /// How metrics change from the first minute to the last, in long runs without a fall.
    pub drift: Vec<Drift>,
}

/// The mocap that a scenario is compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Floor {
    /// Gaits of the mocap.
    pub gaits: Vec<Gait>,
    /// Windows of held-out clips.
    pub held_out_windows: usize,
    /// Windows of training clips.
    pub training_windows: usize,
    /// Fréchet distance, squared, of training clips to held-out ones.
    pub frechet: f64,
}

/// A whole bench in figures. It holds no clock readings: the same runs give the same bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Program and version.
    pub made_by: String,
    /// Hash of the model's files.
    pub model: String,
    /// Name of its training configuration.
    pub model_name: String,
    /// Hash of the data that it was trained on.
    pub model_data: String,
    /// Hash of the dataset of the bench, if there was one.
    pub data: Option<String>,
    /// Whether clips called held out are so.
    pub data_held_out: bool,
    /// What was run.
    pub config: BenchConfig,
    /// Floors by scenario, where there is enough mocap.
    pub floors: BTreeMap<String, Floor>,
    /// Figures in the order of scenarios and methods.
    pub cells: Vec<Cell>,
    /// What was not run.
    pub not_run: Vec<NotRun>,
}

impl Report {
    /// The figures of `runs`.
    ///
    /// # Errors
    /// Mocap that cannot be read into phase space.
    pub fn new(world: &World, config: &BenchConfig, runs: &Runs) -> Result<Self, BenchError> {
        let mut references: Vec<(&[Gait], Option<Reference>)> = Vec::new();
        let mut floors = BTreeMap::new();
        let mut cells = Vec::new();
        for scenario in &config.scenario {
            let reference = match references.iter().find(|(gaits, _)| *gaits == scenario.gaits.as_slice()) {
                Some((_, reference)) => reference.clone(),
                None => {
                    let made = match &world.mocap {
                        Some(mocap) => world.space.reference(mocap, &scenario.gaits)?,
                        None => None,
                    };
                    references.push((&scenario.gaits, made.clone()));
                    made
                }
            };
            if let Some(floor) = reference.as_ref().and_then(|reference| floor(reference, scenario)) {
                floors.insert(scenario.name.clone(), floor);
            }
            for method in &config.method {
                let of_cell: Vec<&RunResult> = runs
                    .results
                    .iter()
                    .filter(|result| result.scenario == scenario.name && result.method == method.name)
                    .collect();
                if !of_cell.is_empty() {
                    cells.push(cell(method, scenario, &of_cell, reference.as_ref()));
                }
            }
        }
        let description = &world.model.description;
        Ok(Self {
            made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
            model: world.model_id.clone(),
            model_name: description.config_name.clone(),
            model_data: description.data_hash.clone(),
            data: world.mocap.as_ref().map(|mocap| mocap.hash().to_owned()),
            data_held_out: world.mocap.as_ref().is_some_and(crate::Mocap::has_held_out),
            config: config.clone(),
            floors,
            cells,
            not_run: runs.not_run.clone(),
        })
    }

    /// The cells of a scenario, in the order of methods.
    pub fn of_scenario<'a>(&'a self, scenario: &'a str) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| cell.scenario == scenario)
    }
}

fn floor(reference: &Reference, scenario: &Scenario) -> Option<Floor> {
    Some(Floor {
        gaits: scenario.gaits.clone(),
        held_out_windows: reference.held_out.count,
        training_windows: reference.training.count,
        frechet: reference.training.frechet(&reference.held_out, &reference.scale)?,
    })
}

fn cell(method: &Method, scenario: &Scenario, runs: &[&RunResult], reference: Option<&Reference>) -> Cell {
    let sound: Vec<&RunResult> = runs.iter().copied().filter(|run| run.failure.is_none()).collect();
    let upright = sound.iter().filter(|run| run.metrics.falls == Some(0.0)).count();
    let pushed: Vec<f64> = sound.iter().filter_map(|run| run.metrics.push_recovered_percent).collect();
    let recovered = pushed.iter().filter(|percent| **percent == 100.0).count();
    let metrics: Vec<Metrics> = sound.iter().map(|run| run.metrics.clone()).collect();
    let features: Vec<&FeatureSums> = sound.iter().map(|run| &run.features).collect();
    Cell {
        method: method.name.clone(),
        scenario: scenario.name.clone(),
        runs: runs.len(),
        failures: runs.iter().filter_map(|run| run.failure.clone()).collect(),
        without_fall: share(upright, runs.len()),
        recovered: scenario.push.is_some().then(|| share(recovered, pushed.len())),
        metrics: Summary::of(&metrics).ok(),
        frechet: reference.and_then(|reference| frechet(&features, reference)),
        diversity: reference.and_then(|reference| diversity(&features, &reference.scale)),
        drift: drift(&sound),
    }
}

fn share(hits: usize, of: usize) -> Share {
    Share { hits, of, interval_95: wilson_95(hits, of) }
}

fn frechet(features: &[&FeatureSums], reference: &Reference) -> Option<Interval> {
    let of = |sample: &[usize]| {
        let pool = FeatureSums::pooled(sample.iter().map(|&run| features[run]))?;
        pool.frechet(&reference.held_out, &reference.scale)
    };
    let all: Vec<usize> = (0..features.len()).collect();
    let value = of(&all)?;
    Some(Interval { value, interval_95: bootstrap_95(features.len(), RESAMPLES, BOOTSTRAP_SEED, of) })
}

fn diversity(features: &[&FeatureSums], scale: &[f64]) -> Option<Interval> {
    let of = |sample: &[usize]| {
        let mut squares = Vec::new();
        for (i, &a) in sample.iter().enumerate() {
            // A run drawn twice is no pair of runs.
            squares.extend(
                sample[i + 1..]
                    .iter()
                    .filter(|&&b| b != a)
                    .filter_map(|&b| features[a].mean_square_distance(features[b], scale)),
            );
        }
        mean(&squares).map(f64::sqrt)
    };
    let all: Vec<usize> = (0..features.len()).collect();
    let value = of(&all)?;
    Some(Interval { value, interval_95: bootstrap_95(features.len(), RESAMPLES, BOOTSTRAP_SEED, of) })
}

/// Metrics whose drift is told.
const DRIFTING: [&str; 8] = [
    "foot_sliding_cm_per_frame",
    "penetration_p95_mm",
    "jerk_mean_m_s3",
    "joint_rotation_deg_s",
    "root_speed_m_s",
    "path_error_mean_m",
    "assist_force_mean_bw",
    "contact_force_peak_bw",
];

fn drift(runs: &[&RunResult]) -> Vec<Drift> {
    let minutes: Vec<&(Metrics, Metrics)> =
        runs.iter().filter_map(|run| run.first_and_last_minute.as_ref()).collect();
    DRIFTING
        .iter()
        .filter_map(|&metric| {
            let pairs: Vec<(f64, f64)> = minutes
                .iter()
                .filter_map(|(first, last)| first.value(metric).zip(last.value(metric)))
                .collect();
            let first = mean(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>())?;
            let last = mean(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>())?;
            if first == 0.0 {
                return None;
            }
            let changes: Vec<f64> = pairs.iter().map(|(a, b)| (b - a) / first).collect();
            let value = mean(&changes)?;
            let half = pomp_eval::half_interval_95(&changes);
            let interval_95 = half.map(|half| [value - half, value + half]);
            Some(Drift { metric, first, last, relative_change: Interval { value, interval_95 } })
        })
        .collect()
}
