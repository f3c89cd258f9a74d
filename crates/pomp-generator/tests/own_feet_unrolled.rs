//! `configs/own_feet_unrolled.toml` with `data/models/compact_unrolled`: one module for walks ahead, aside and around on its own feet.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_config::{Origin, resolve};
use pomp_embedded::{Device, Model};
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::glam::{Vec3, Vec3Swizzles};
use pomp_motion::humanoid;
use pomp_terrain::HeightMap;
use std::path::{Path, PathBuf};

/// Seconds of a walk, and those after which it has come to its pace.
const SECONDS: f32 = 10.0;
const SETTLED_S: f32 = 2.0;
const FRAMES: usize = (SECONDS * FRAME_RATE_HZ) as usize;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Positions of the joints of a simulated character that follows a preset on level ground, frame by frame.
fn positions(preset: Preset) -> Vec<Vec<Vec3>> {
    let config: GeneratorConfig = resolve(Origin::File(&root().join("configs/own_feet_unrolled.toml")), &[])
        .unwrap()
        .checked()
        .unwrap();
    let model = Model::load(&root().join("data/models/compact_unrolled"), &Device::flex()).unwrap();
    let plan = ControlPlan::preset(preset, SECONDS, FRAME_RATE_HZ);
    let terrain = HeightMap::flat(60.0, 1.0).unwrap();
    let start = plan.start_gait();
    let mut generator = Generator::new(&model, terrain, &config, start, 10_001).unwrap();
    (0..FRAMES)
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
