//! Times of frames on several grounds, and of their stages.

use super::report::{GroundTimes, Spread, StageTime, stage_name};
use super::{Case, PerformanceConfig};
use crate::BenchError;
use crate::rollout::{ground, timed_record};
use glam::Vec2;
use pomp_generator::{
    CharacterSetup, ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, LayersConfig, Networks, Preset,
    Stage,
};
use pomp_model::Model;
use pomp_motion::statistics::{mean, percentile};
use std::time::Instant;

/// Frames at the beginning that are not timed: until a second of simulated motion is there, no phases are read.
pub(super) const WARM_UP: usize = 90;
/// A command goes on beyond the frames that are timed, so that the character does not slow down before the end.
pub(super) const BEYOND_S: f32 = 3.0;
/// Frames of a loop before it is the other one's turn.
const TURN: usize = 10;
/// Frames after which a walk whose stages are timed begins again: without layers it may fall, and then it goes nowhere.
const WALK: usize = 600;
/// Share of the frames, the quickest ones, whose stages are averaged: what other programs disturb is left out.
const QUICKEST: f64 = 0.9;

/// Times on all grounds of the configuration.
type Grounds = Vec<GroundTimes>;
/// Work by stage: products, and bytes of weights.
type Work = Vec<(String, u64, u64)>;

/// Measures the frames of each case on each ground, and the work of its networks.
pub(super) fn measure(
    cases: &[Case<'_>],
    config: &PerformanceConfig,
    progress: &dyn Fn(&str),
) -> Result<Vec<(Grounds, Work)>, BenchError> {
    // Cases and grounds take turns, so that a machine whose speed changes slows all of them.
    let cells = cases.len() * config.grounds.len();
    let (mut p50_ms, mut p99_ms) = (vec![Vec::new(); cells], vec![Vec::new(); cells]);
    for repetition in 0..config.repetitions {
        progress(&format!("frames, {} of {}", repetition + 1, config.repetitions));
        for (index, name) in config.grounds.iter().enumerate() {
            for (index_of_case, case) in cases.iter().enumerate() {
                let cell = index_of_case * config.grounds.len() + index;
                let times = frame_times(case, config, name, repetition as u64)?;
                p50_ms[cell].extend(percentile(&times, 0.5));
                p99_ms[cell].extend(percentile(&times, 0.99));
            }
        }
    }
    let mut spreads = p50_ms.into_iter().zip(p99_ms);
    cases
        .iter()
        .map(|case| {
            progress(&format!("stages of {}", case.name));
            let mut work = Vec::new();
            let mut grounds = Vec::new();
            for name in &config.grounds {
                let (p50_ms, p99_ms) = spreads.next().expect("a pair for each case and ground");
                let (stages, found) = stages(case, config, name)?;
                if work.is_empty() {
                    work = found;
                }
                let [p50_ms, p99_ms] = [p50_ms, p99_ms].map(|values| Spread::of(&values));
                grounds.push(GroundTimes { ground: name.clone(), p50_ms, p99_ms, stages });
            }
            Ok((grounds, work))
        })
        .collect()
}

/// A character that walks straight ahead on a ground of `seed`, large enough for its `plan`.
fn walk(
    (model, networks): (&Model, &Networks),
    settings: &GeneratorConfig,
    name: &str,
    plan: &ControlPlan,
    seed: u64,
) -> Result<Generator, BenchError> {
    let spec = pomp_terrain::preset(name).expect("validation found the preset");
    let terrain = ground(&spec, plan.reach_m(), seed)?;
    let start = plan.start_gait();
    let setup = CharacterSetup { settings: settings.clone(), start, seed, position: Vec2::ZERO, yaw: 0.0 };
    Ok(Generator::with_networks(model, networks, terrain, &setup)?)
}

/// Times of the frames of a rollout, ms, as `pomp generate --clock` records them.
fn frame_times(
    case: &Case<'_>,
    config: &PerformanceConfig,
    name: &str,
    seed: u64,
) -> Result<Vec<f64>, BenchError> {
    let frames = (config.frame_s * FRAME_RATE_HZ) as usize;
    let plan = ControlPlan::preset(Preset::Walk, config.frame_s + BEYOND_S, FRAME_RATE_HZ);
    let Case { model, settings, .. } = case;
    let networks = Networks::new(model, settings)?;
    let mut generator = walk((model, &networks), settings, name, &plan, seed)?;
    let (_, frame_us) = timed_record(&mut generator, name, &plan, &[], frames)?;
    Ok(frame_us[WARM_UP..].iter().map(|&us| f64::from(us) / 1e3).collect())
}

/// Time of each stage of a frame, µs.
type Frame = [f64; Stage::ALL.len()];

/// A walk that begins again where its plan ends.
struct Timed<'a> {
    model: &'a Model,
    networks: &'a Networks,
    settings: GeneratorConfig,
    ground: &'a str,
    plan: ControlPlan,
    generator: Generator,
    frames: Vec<Frame>,
}

impl<'a> Timed<'a> {
    fn new(
        (model, networks): (&'a Model, &'a Networks),
        settings: GeneratorConfig,
        ground: &'a str,
    ) -> Result<Self, BenchError> {
        let seconds = WALK as f32 / FRAME_RATE_HZ;
        let plan = ControlPlan::preset(Preset::Walk, seconds + BEYOND_S, FRAME_RATE_HZ);
        let generator = walk((model, networks), &settings, ground, &plan, 0)?;
        Ok(Self { model, networks, settings, ground, plan, generator, frames: Vec::new() })
    }

    fn turn(&mut self) -> Result<(), BenchError> {
        if self.generator.frames() >= WALK {
            let networks = (self.model, self.networks);
            self.generator = walk(networks, &self.settings, self.ground, &self.plan, 0)?;
        }
        for _ in 0..TURN {
            let mut frame = [0.0; Stage::ALL.len()];
            let mut last = Instant::now();
            self.generator.step_in_stages(&self.plan, &[], |stage| {
                let now = Instant::now();
                frame[stage as usize] += 1e6 * (now - last).as_secs_f64();
                last = now;
            })?;
            if self.generator.frames() > WARM_UP {
                self.frames.push(frame);
            }
        }
        Ok(())
    }

    /// Means over the quickest frames.
    fn means(&self) -> Frame {
        let totals: Vec<f64> = self.frames.iter().map(|frame| frame.iter().sum()).collect();
        let limit = percentile(&totals, QUICKEST).expect("frames were timed");
        let quickest = || self.frames.iter().zip(&totals).filter(|(_, total)| **total <= limit);
        std::array::from_fn(|stage| {
            let times: Vec<f64> = quickest().map(|(frame, _)| frame[stage]).collect();
            mean(&times).expect("some frames are the quickest")
        })
    }
}

/// Times of the stages with all default layers and without any, whose loops take turns, and the work of the networks.
fn stages(
    case: &Case<'_>,
    config: &PerformanceConfig,
    name: &str,
) -> Result<(Vec<StageTime>, Work), BenchError> {
    let Case { model, settings, .. } = case;
    let bare = GeneratorConfig { layers: LayersConfig::off(), ..settings.clone() };
    // Both read the same weights, as one would.
    let networks = Networks::new(model, settings)?;
    let begin = |settings| Timed::new((model, &networks), settings, name);
    let mut walks = [begin(settings.clone())?, begin(bare)?];
    let frames = ((config.frame_s * FRAME_RATE_HZ) as usize).max(WARM_UP + TURN);
    for turn in 0..frames.div_ceil(TURN) {
        // Either goes first as often.
        for walk in [turn % 2, 1 - turn % 2] {
            walks[walk].turn()?;
        }
    }
    let work = walks[0].generator.work();
    let work =
        work.map(|(stage, work)| (stage_name(stage).to_owned(), work.multiply_adds, work.weight_bytes));
    let [with, without] = walks.each_ref().map(Timed::means);
    let stages = Stage::ALL.map(|stage| StageTime {
        stage: stage_name(stage).to_owned(),
        us: with[stage as usize],
        without_layers_us: without[stage as usize],
    });
    Ok((stages.to_vec(), work.to_vec()))
}
