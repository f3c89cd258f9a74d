//! How the cost of a frame grows with characters, ground and length.

use super::frames::{BEYOND_S, WARM_UP};
use super::machine::resident_bytes;
use super::report::{CharacterGrowth, RolloutGrowth, Spread, TerrainGrowth, TogetherTime};
use super::{Case, PerformanceConfig};
use crate::BenchError;
use glam::Vec2;
use pomp_generator::{
    CharacterInput, CharacterSetup, ControlPlan, FRAME_RATE_HZ, Generator, GeneratorError, GeneratorSnapshot,
    Networks, Preset, Worlds, record_while,
};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_motion::statistics::median;
use pomp_terrain::HeightMap;
use std::ops::ControlFlow;
use std::time::Instant;

/// Side and cell of the level ground that each of many characters has, metres.
pub(super) const GROUND_M: (f32, f32) = (40.0, 1.0);
/// Frames of all characters together that are timed, where these come to between [`FRAMES`] frames each.
const CHARACTER_FRAMES: usize = 6000;
const FRAMES: (usize, usize) = (10, 300);
/// The same of few characters together, in each repetition.
const TOGETHER_FRAMES: usize = 1200;
/// Frames before a moment of a long rollout that are timed.
const MOMENT: usize = 600;

/// Least memory that is told: less may come from what the process has kept of earlier work.
const LEAST_BYTES: f64 = 1024.0 * 1024.0;

/// Bytes that have become resident since there were `before`, when they are enough to be told.
pub(super) fn grown(before: Option<u64>) -> Option<f64> {
    Some(resident_bytes()? as f64 - before? as f64).filter(|bytes| *bytes >= LEAST_BYTES)
}

/// What was found.
pub(super) struct Growth {
    pub(super) characters: Vec<CharacterGrowth>,
    pub(super) terrains: Vec<TerrainGrowth>,
    pub(super) rollouts: Vec<RolloutGrowth>,
}

/// Measures the growth with characters, ground and length, and tells `progress` what comes next.
///
/// What was made stays until the end of it all: memory that is given back would be taken again, and not be seen.
pub(super) fn measure(
    case: &Case<'_>,
    config: &PerformanceConfig,
    progress: &dyn Fn(&str),
) -> Result<Growth, BenchError> {
    progress("many characters");
    let (characters, _worlds) = characters(case, config)?;
    progress("large terrains");
    let (terrains, _generators) = terrains(case, config)?;
    progress("long rollouts");
    let rollouts = rollouts(case, config)?;
    Ok(Growth { characters, terrains, rollouts })
}

/// Frames of many characters of one model, each in a world of its own; and these worlds.
fn characters(
    case: &Case<'_>,
    config: &PerformanceConfig,
) -> Result<(Vec<CharacterGrowth>, Vec<Worlds>), BenchError> {
    let walkers = Walkers::new(case)?;
    let mut kept = Vec::new();
    let mut found = Vec::new();
    for &count in &config.characters {
        let before = resident_bytes();
        let mut worlds = walkers.worlds(count)?;
        walkers.step(&mut worlds)?;
        let bytes_each = grown(before).map(|bytes| bytes / count as f64);
        let frame_us = walkers.frame_us(&mut worlds, CHARACTER_FRAMES)?;
        found.push(CharacterGrowth { characters: count, frame_us, bytes_each });
        kept.push(worlds);
    }
    Ok((found, kept))
}

/// Measures the frames of few characters together, of each case: the cases take turns.
///
/// # Errors
/// A loop that refuses.
pub(super) fn together(
    cases: &[Case<'_>],
    config: &PerformanceConfig,
    progress: &dyn Fn(&str),
) -> Result<Vec<Vec<TogetherTime>>, BenchError> {
    let walkers = cases.iter().map(Walkers::new).collect::<Result<Vec<_>, BenchError>>()?;
    let mut times = vec![vec![Vec::new(); config.together.len()]; cases.len()];
    for repetition in 0..config.repetitions {
        progress(&format!("characters together, {} of {}", repetition + 1, config.repetitions));
        for (walkers, times) in walkers.iter().zip(&mut times) {
            for (&count, times) in config.together.iter().zip(times) {
                let mut worlds = walkers.worlds(count)?;
                walkers.step(&mut worlds)?;
                times.push(walkers.frame_us(&mut worlds, TOGETHER_FRAMES)?);
            }
        }
    }
    let of_case = |times: Vec<Vec<f64>>| {
        let times = config.together.iter().zip(times);
        times.map(|(&characters, us)| TogetherTime { characters, frame_us: Spread::of(&us) }).collect()
    };
    Ok(times.into_iter().map(of_case).collect())
}

/// Characters of a case that walk on level ground, each in a world of its own.
struct Walkers<'a> {
    model: &'a Model,
    networks: Networks,
    setup: CharacterSetup,
    plan: ControlPlan,
    /// All go on from the state of one that has walked for a while: the work of a frame does not depend on it.
    walking: GeneratorSnapshot,
}

impl<'a> Walkers<'a> {
    fn new(case: &Case<'a>) -> Result<Self, BenchError> {
        let (model, settings) = (case.model, case.settings.clone());
        let networks = Networks::new(model, &settings)?;
        let plan = ControlPlan::preset(Preset::Walk, 20.0 + BEYOND_S, FRAME_RATE_HZ);
        let setup = CharacterSetup { settings, start: Gait::Walk, seed: 0, position: Vec2::ZERO, yaw: 0.0 };
        let mut first = Generator::with_networks(model, &networks, level()?, &setup)?;
        for _ in 0..WARM_UP {
            first.step(&plan, &[])?;
        }
        let walking = first.save();
        Ok(Self { model, networks, setup, plan, walking })
    }

    fn worlds(&self, count: usize) -> Result<Worlds, BenchError> {
        let mut worlds = Worlds::new(self.networks.clone());
        for _ in 0..count {
            worlds.add(self.model, level()?, &self.setup)?;
        }
        for character in worlds.characters_mut() {
            character.restore(&self.walking)?;
        }
        Ok(worlds)
    }

    /// A frame of all of them.
    fn step(&self, worlds: &mut Worlds) -> Result<(), BenchError> {
        let input = CharacterInput { plan: &self.plan, pushes: &[] };
        for step in worlds.step(&vec![input; worlds.characters().len()]) {
            step?;
        }
        Ok(())
    }

    /// The time of a frame of one of them, µs: median over frames, of about so many of all of them.
    fn frame_us(&self, worlds: &mut Worlds, of_all: usize) -> Result<f64, BenchError> {
        let count = worlds.characters().len();
        let frames = (of_all / count).clamp(FRAMES.0, FRAMES.1);
        let times = (0..frames).map(|_| {
            let begun = Instant::now();
            self.step(worlds)?;
            Ok(1e6 * begun.elapsed().as_secs_f64() / count as f64)
        });
        let times = times.collect::<Result<Vec<f64>, BenchError>>()?;
        Ok(median(&times).expect("frames were timed"))
    }
}

fn level() -> Result<HeightMap, pomp_terrain::TerrainError> {
    HeightMap::flat(GROUND_M.0, GROUND_M.1)
}

/// Frames on hills of several areas; and the characters that walk there.
fn terrains(
    case: &Case<'_>,
    config: &PerformanceConfig,
) -> Result<(Vec<TerrainGrowth>, Vec<Generator>), BenchError> {
    let (model, settings) = (case.model, case.settings.clone());
    let plan = ControlPlan::preset(Preset::Walk, config.frame_s + BEYOND_S, FRAME_RATE_HZ);
    let networks = Networks::new(model, &settings)?;
    let setup = CharacterSetup { settings, start: Gait::Walk, seed: 0, position: Vec2::ZERO, yaw: 0.0 };
    let mut kept = Vec::new();
    let mut found = Vec::new();
    for &hectares in &config.terrain_ha {
        let mut spec = pomp_terrain::preset("hills").expect("a preset");
        (spec.size_m, spec.cell_m) = (100.0 * hectares.sqrt(), config.terrain_cell_m);
        let before = resident_bytes();
        let begun = Instant::now();
        let terrain = pomp_terrain::generate(&spec, 0)?;
        let generate_s = begun.elapsed().as_secs_f64();
        let heights = terrain.rows() * terrain.columns();
        let begun = Instant::now();
        let mut generator = Generator::with_networks(model, &networks, terrain, &setup)?;
        let build_s = begun.elapsed().as_secs_f64();
        let frames = ((config.frame_s * FRAME_RATE_HZ) as usize).max(WARM_UP + 1);
        let mut times = Vec::with_capacity(frames);
        for _ in 0..frames {
            let begun = Instant::now();
            generator.step(&plan, &[])?;
            times.push(1e6 * begun.elapsed().as_secs_f64());
        }
        let frame_us = median(&times[WARM_UP..]).expect("frames were timed");
        let (hectares, bytes) = (f64::from(hectares), grown(before));
        found.push(TerrainGrowth { hectares, heights, frame_us, generate_s, build_s, bytes });
        kept.push(generator);
    }
    Ok((found, kept))
}

/// Frames of one recorded rollout, a circle on level ground, at several moments.
fn rollouts(case: &Case<'_>, config: &PerformanceConfig) -> Result<Vec<RolloutGrowth>, BenchError> {
    let frame_of = |minutes: f32| (60.0 * minutes * FRAME_RATE_HZ).round() as usize;
    let moments: Vec<usize> = config.rollout_min.iter().map(|&minutes| frame_of(minutes)).collect();
    let Some(&last) = moments.last() else { return Ok(Vec::new()) };
    let (model, settings) = (case.model, case.settings.clone());
    let plan = ControlPlan::preset(Preset::Circle, last as f32 / FRAME_RATE_HZ + BEYOND_S, FRAME_RATE_HZ);
    let ground = HeightMap::flat(2.0 * (plan.reach_m() + 8.0), 1.0)?;
    let mut generator = Generator::new(model, ground, &settings, plan.start_gait(), 0)?;
    let before = resident_bytes();
    let mut times: Vec<f64> = Vec::with_capacity(last);
    let mut resident = Vec::new();
    let mut clock = Instant::now();
    let outcome = record_while(&mut generator, "circle", &plan, &[], last, |frame| {
        times.push(1e6 * clock.elapsed().as_secs_f64());
        if moments.contains(&(frame + 1)) {
            resident.push(grown(before));
        }
        clock = Instant::now();
        // Stopped before the recording of all frames is made, which nothing would be done with.
        if frame + 1 == last { ControlFlow::Break(()) } else { ControlFlow::Continue(0.0) }
    });
    match outcome {
        Err(GeneratorError::Stopped { .. }) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => unreachable!("it is stopped at the last frame"),
    }
    let of = |frames: std::ops::Range<usize>| median(&times[frames]).expect("frames were timed");
    let first_frame_us = of(WARM_UP..(WARM_UP + MOMENT).min(last));
    let growths = config.rollout_min.iter().zip(moments).zip(resident);
    let growths = growths.map(|((&minutes, end), bytes)| RolloutGrowth {
        minutes: f64::from(minutes),
        frame_us: of(end.saturating_sub(MOMENT)..end),
        first_frame_us,
        bytes,
    });
    Ok(growths.collect())
}
