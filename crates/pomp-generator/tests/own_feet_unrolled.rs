//! `configs/own_feet_unrolled.toml` with `data/models/compact_unrolled`: one module for walks ahead, aside and around on its own feet.
//!
//! `cargo test --release --workspace --test own_feet_unrolled -- --ignored --nocapture` steers thirty characters at random on each of seven
//! grounds, and thirty of the compact model with the external root assist.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_config::{Origin, resolve};
use pomp_embedded::{Device, Model};
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, LiveControl, Preset, Steering};
use pomp_motion::glam::{Vec2, Vec3, Vec3Swizzles};
use pomp_motion::{Gait, humanoid};
use pomp_terrain::HeightMap;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::f32::consts::TAU;
use std::path::{Path, PathBuf};

/// Seconds of a walk, and those after which it has come to its pace.
const SECONDS: f32 = 10.0;
const SETTLED_S: f32 = 2.0;
const FRAMES: usize = (SECONDS * FRAME_RATE_HZ) as usize;
/// Frames of standing, and those after which it has come to rest.
const STANDING_FRAMES: usize = (150.0 * FRAME_RATE_HZ) as usize;
const SETTLED_STANDING_FRAMES: usize = (30.0 * FRAME_RATE_HZ) as usize;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn config() -> GeneratorConfig {
    resolve(Origin::File(&root().join("configs/own_feet_unrolled.toml")), &[]).unwrap().checked().unwrap()
}

fn model() -> Model {
    Model::load(&root().join("data/models/compact_unrolled"), &Device::flex()).unwrap()
}

/// Positions of the joints of a simulated character that follows a preset on level ground for 10 s, frame by frame.
fn positions(preset: Preset) -> Vec<Vec<Vec3>> {
    positions_in(preset, FRAMES)
}

/// The same in the first `frames`.
fn positions_in(preset: Preset, frames: usize) -> Vec<Vec<Vec3>> {
    let (config, model) = (config(), model());
    let plan = ControlPlan::preset(preset, frames as f32 / FRAME_RATE_HZ, FRAME_RATE_HZ);
    let terrain = HeightMap::flat(60.0, 1.0).unwrap();
    let start = plan.start_gait();
    let mut generator = Generator::new(&model, terrain, &config, start, 10_001).unwrap();
    (0..frames)
        .map(|frame| {
            let step = generator.step(&plan, &[]).unwrap();
            let simulated = &step.simulated;
            assert_eq!((simulated.assist_force, simulated.assist_torque), Default::default());
            assert!(!step.fallen, "{preset:?}: it falls in frame {frame}");
            simulated.pose.positions.iter().copied().collect()
        })
        .collect()
}

/// Steps of a character: how often the other foot becomes the higher one.
fn steps(positions: &[Vec<Vec3>]) -> usize {
    let lifted = |frame: &Vec<Vec3>| frame[humanoid::LEFT_FOOT.0].y > frame[humanoid::RIGHT_FOOT.0].y;
    positions.windows(2).filter(|pair| lifted(&pair[0]) != lifted(&pair[1])).count()
}

#[test]
fn a_walk_ahead_keeps_to_its_path_by_steps() {
    let positions = positions(Preset::Walk);
    let plan = ControlPlan::preset(Preset::Walk, SECONDS, FRAME_RATE_HZ);
    let settled = (SETTLED_S * FRAME_RATE_HZ) as usize;
    let aside = positions[settled..].iter().map(|frame| frame[0].x.abs()).fold(0.0, f32::max);
    let (walked, steps) = (positions[FRAMES - 1][0].z, steps(&positions));
    println!("{walked} m in {steps} steps, at most {aside} m aside");
    let commanded = plan.at((FRAMES - 1) as f32).position.y;
    assert!((walked - commanded).abs() < 0.5 && aside < 0.3 && steps >= 12, "commanded: {commanded} m");
}

#[test]
fn a_walk_backward_goes_backward_by_steps_of_feet_that_stand() {
    let positions = positions(Preset::Backward);
    let settled = &positions[(SETTLED_S * FRAME_RATE_HZ) as usize..];
    let slower_foot_mps = settled
        .windows(2)
        .map(|pair| {
            let speed = |foot: usize| pair[0][foot].distance(pair[1][foot]) * FRAME_RATE_HZ;
            speed(humanoid::LEFT_FOOT.0).min(speed(humanoid::RIGHT_FOOT.0))
        })
        .sum::<f32>()
        / (settled.len() - 1) as f32;
    let (walked, steps) = (positions[FRAMES - 1][0].z, steps(&positions));
    println!("{walked} m in {steps} steps, the slower foot at {slower_foot_mps} m/s");
    let plan = ControlPlan::preset(Preset::Backward, SECONDS, FRAME_RATE_HZ);
    let commanded = plan.at((FRAMES - 1) as f32).position.y;
    assert!((walked - commanded).abs() < 1.0 && steps >= 8, "commanded: {commanded} m");
    assert!(slower_foot_mps < 0.3);
}

#[test]
fn a_walk_aside_goes_aside_by_steps() {
    let positions = positions(Preset::Sideways);
    let (end, steps) = (positions[FRAMES - 1][0], steps(&positions));
    println!("at {end} after {steps} steps");
    let commanded = ControlPlan::preset(Preset::Sideways, SECONDS, FRAME_RATE_HZ).at((FRAMES - 1) as f32);
    assert!((end.xz() - commanded.position).length() < 2.0 && steps >= 8, "commanded: {commanded:?}");
}

#[test]
fn a_character_that_stands_for_minutes_stays_where_it_is() {
    let positions = positions_in(Preset::Stand, STANDING_FRAMES);
    let (settled, end) = (&positions[SETTLED_STANDING_FRAMES], &positions[STANDING_FRAMES - 1]);
    let moved = |joint: usize| settled[joint].distance(end[joint]);
    let feet = [humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE];
    let (feet, pelvis) = (feet.map(|foot| moved(foot.0)).into_iter().fold(0.0, f32::max), moved(0));
    println!("the pelvis moved by {pelvis} m, the feet by at most {feet} m");
    assert!(feet < 0.01 && pelvis < 0.02);
}

#[test]
fn a_jog_keeps_its_speed() {
    let positions = positions(Preset::Jog);
    let (end, steps) = (positions[FRAMES - 1][0], steps(&positions));
    println!("at {end} after {steps} steps");
    let commanded = ControlPlan::preset(Preset::Jog, SECONDS, FRAME_RATE_HZ).at((FRAMES - 1) as f32);
    assert!((end.xz() - commanded.position).length() < 1.5 && steps >= 20, "commanded: {commanded:?}");
}

#[test]
fn a_zombie_walks_on_its_own_feet_with_its_hands_up_and_lowers_them_where_it_stands() {
    let (model, walked, stood) = (model(), 300, 360);
    let config = GeneratorConfig { style: [("zombie".to_owned(), 0.7)].into(), ..config() };
    let terrain = HeightMap::flat(60.0, 1.0).unwrap();
    let mut control = LiveControl::new(terrain.bounds(), 0.0, FRAME_RATE_HZ);
    let mut generator = Generator::new(&model, terrain, &config, Gait::Stand, 10_003).unwrap();
    let positions: Vec<Vec<Vec3>> = (0..walked + stood)
        .map(|frame| {
            let (way, gait) = if frame < walked { (Vec2::Y, Gait::Walk) } else { (Vec2::ZERO, Gait::Stand) };
            let steering = Steering::toward(way, gait);
            let step = generator.step_steered(&mut control, steering, &[]).unwrap().output;
            let simulated = &step.simulated;
            assert_eq!((simulated.assist_force, simulated.assist_torque), Default::default());
            assert!(!step.fallen, "it falls in frame {frame}");
            simulated.pose.positions.iter().copied().collect()
        })
        .collect();
    // Mean height of the hands above the pelvis in the last second before a frame.
    let hands = |end: usize| {
        let last = positions[end - 60..end].iter();
        let height = |frame: &Vec<Vec3>| {
            frame[humanoid::LEFT_HAND.0].y + frame[humanoid::RIGHT_HAND.0].y - 2.0 * frame[0].y
        };
        last.map(height).sum::<f32>() / 120.0
    };
    let (walking, standing) = (hands(walked), hands(walked + stood));
    let way = positions[walked][0].distance(positions[60][0]);
    let crept = positions[walked + stood - 1][0].distance(positions[walked + stood - 60][0]);
    println!(
        "hands at {walking} m in {way} m of way, then at {standing} m, and {crept} m in the last second"
    );
    assert!(walking > standing + 0.1 && way > 2.0 && crept < 0.05);
}

/// The frame in which a character falls that is steered at random for a time, if it does: every one to three seconds it stands, walks,
/// jogs or crouches another way, and in half of them faces yet another.
fn falls_steered(
    (model, config): (&Model, &GeneratorConfig),
    ground: &str,
    seconds: f32,
    seed: u64,
) -> Option<usize> {
    let terrain = pomp_terrain::generate(&pomp_terrain::preset(ground).unwrap(), seed).unwrap();
    let mut control = LiveControl::new(terrain.bounds(), 0.0, FRAME_RATE_HZ);
    let mut generator = Generator::new(model, terrain, config, Gait::Stand, seed).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let any_way = |rng: &mut ChaCha8Rng| Vec2::from_angle(rng.random_range(0.0..TAU));
    let (mut steering, mut until) = (Steering::STILL, 0);
    (0..(seconds * FRAME_RATE_HZ) as usize).find(|&frame| {
        if frame == until {
            until += (rng.random_range(1.0..3.0) * FRAME_RATE_HZ) as usize;
            let gait = [Gait::Stand, Gait::Walk, Gait::Walk, Gait::Jog, Gait::Crouch][rng.random_range(0..5)];
            let share = if gait == Gait::Stand { 0.0 } else { rng.random_range(0.3..1.0) };
            steering = Steering::toward(share * any_way(&mut rng), gait);
            steering.facing = rng.random_bool(0.5).then(|| any_way(&mut rng));
        }
        let output = generator.step_steered(&mut control, steering, &[]).unwrap().output;
        if config.dynamic.balance.enabled && !output.fallen {
            let outside = (output.simulated.assist_force, output.simulated.assist_torque);
            assert_eq!(outside, Default::default());
        }
        output.fallen
    })
}

#[test]
fn a_character_that_is_steered_at_random_stays_up() {
    for seed in [10_001, 10_002] {
        assert_eq!(falls_steered((&model(), &config()), "flat", 6.0, seed), None, "seed {seed}");
    }
}

#[test]
#[ignore = "it takes an hour"]
fn how_many_that_are_steered_at_random_stay_up() {
    let assisted = (pomp_embedded::load(&Device::flex()).unwrap(), GeneratorConfig::default());
    let own_feet = (model(), config());
    for (loop_name, (model, config)) in [("compact model, assist", &assisted), ("own feet", &own_feet)] {
        for ground in ["flat", "slope", "rough", "hills", "gaps", "mixed", "stairs"] {
            let falls: Vec<usize> = (10_610..10_640_u64)
                .into_par_iter()
                .filter_map(|seed| falls_steered((model, config), ground, 20.0, seed))
                .collect();
            println!(
                "{loop_name}, {ground}: {} of 30 upright for 20 s; falls in frames {falls:?}",
                30 - falls.len()
            );
        }
    }
}
