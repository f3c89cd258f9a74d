//! Laws of falling, lying and getting up.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use glam::Vec3;
use pomp_generator::{
    ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, GetUpConfig, Preset, StepOutput,
};
use pomp_model::Model;
use pomp_motion::{Gait, humanoid};
use pomp_physics::Push;
use pomp_terrain::HeightMap;
use std::path::Path;
use std::sync::LazyLock;

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models/compact");
    Model::load(&folder, &Default::default()).unwrap()
});

const PUSHED_AT: usize = 60;
const BODY_WEIGHT_N: f32 = 75.0 * 9.81;

fn generator(config: &GeneratorConfig) -> Generator {
    Generator::new(&MODEL, HeightMap::flat(40.0, 0.5).unwrap(), config, Gait::Walk, 5).unwrap()
}

fn plan() -> ControlPlan {
    ControlPlan::preset(Preset::Walk, 30.0, FRAME_RATE_HZ)
}

/// A walk that is felled by `impulse_ns` on the chest after a second.
fn felled(generator: &mut Generator, impulse_ns: Vec3, frames: usize) -> Vec<StepOutput> {
    let plan = plan();
    (0..frames)
        .map(|_| {
            let push = Push { body: humanoid::SPINE2.0, impulse_ns, point: None };
            let pushes = if generator.frames() == PUSHED_AT { vec![push] } else { Vec::new() };
            generator.step(&plan, &pushes).unwrap()
        })
        .collect()
}

fn gait(output: &StepOutput) -> Gait {
    Gait::dominant(&output.gait)
}

#[test]
fn a_felled_character_lies_gets_up_and_walks_on() {
    for impulse in [Vec3::Z * 300.0, Vec3::NEG_Z * 300.0, Vec3::X * 300.0] {
        let config = GeneratorConfig::default();
        let mut generator = generator(&config);
        let frames = felled(&mut generator, impulse, 900);
        let fell = frames.iter().position(|frame| frame.fallen).expect("300 N s fell it");
        let rises = frames.iter().position(|frame| gait(frame) == Gait::GetUp).expect("it gets up");
        let up = rises + frames[rises..].iter().position(|frame| !frame.fallen).expect("it stands again");
        assert!(
            frames[fell..rises].iter().all(|frame| gait(frame) == Gait::Lie),
            "it lies before it gets up"
        );
        assert!(
            frames[fell + 1..rises].iter().all(|frame| frame.simulated.assist_force == Vec3::ZERO),
            "a lying character gets no assist"
        );
        let standing = generator.standing_height_m();
        let pelvis = |frame: &StepOutput| frame.simulated.pose.positions[0];
        assert!(pelvis(&frames[up]).y > 0.85 * standing, "it stands when the module takes over");
        let help = |frame: &StepOutput| frame.simulated.assist_force / BODY_WEIGHT_N;
        let bound = config.dynamic.assist.horizontal_limit_bw;
        for frame in &frames[rises..up] {
            let force = help(frame);
            assert!(force.with_y(0.0).length() < 1.02 * bound, "{force} is beyond the assist's cap");
            assert!(
                force.y.abs() < 1.02 * bound * config.dynamic.assist.vertical_share,
                "{force} lifts too much"
            );
            // A hand that swings over as the body rolls reaches 6.5 m/s; the body itself 0.9.
            let velocities = &frame.simulated.velocities;
            let momentum: Vec3 = velocities.iter().zip(generator.body_masses()).map(|(v, kg)| *v * *kg).sum();
            assert!(momentum.length() < 2.0 * 75.0, "the body does not shoot up");
            let fastest = velocities.iter().map(|velocity| velocity.length()).fold(0.0, f32::max);
            assert!(fastest < 8.0, "nothing whips: {fastest} m/s");
        }
        let lifted: f32 = frames[rises..up].iter().map(|frame| help(frame).y).sum();
        let (seconds, lifted) = ((up - rises) as f32 / 60.0, lifted / (up - rises) as f32);
        let last = frames.last().unwrap();
        let walked = (pelvis(last) - pelvis(&frames[up])).with_y(0.0).length();
        println!(
            "push {impulse}: up in {seconds:.1} s, {lifted:.2} body weights lifted, then walks {walked:.1} m"
        );
        assert!(!last.fallen && walked > 1.0, "it walks on");
        assert!(frames.iter().all(|frame| frame.simulated.recovered.is_none()), "the simulator holds");
    }
}

#[test]
fn most_who_fall_into_a_trench_get_up_and_step_onto_its_edge() {
    const SEEDS: u64 = 8;
    for width_m in [0.4, 0.5] {
        let mut stood = 0;
        for seed in 1..=SEEDS {
            // The start is over the trench, which is bridged for walking.
            let map = HeightMap::from_fn(601, 601, [-30.0, -30.0], 0.1, |_, z| {
                if (z + 0.01).abs() < 0.5 * width_m { -0.5 } else { 0.0 }
            });
            let config = GeneratorConfig::default();
            let mut generator = Generator::new(&MODEL, map.unwrap(), &config, Gait::Stand, seed).unwrap();
            let plan = plan();
            let frames: Vec<StepOutput> = (0..1200).map(|_| generator.step(&plan, &[]).unwrap()).collect();
            let pelvis = |frame: &StepOutput| frame.simulated.pose.positions[0];
            let fell = frames.iter().position(|frame| frame.fallen).expect("it falls into the trench");
            assert!(pelvis(&frames[fell]).y < 0.7, "it stands below the edge");
            let up = frames[fell..].iter().position(|frame| !frame.fallen).map(|frame| fell + frame);
            if let Some(up) = up {
                stood += 1;
                assert!(
                    pelvis(&frames[up]).y > 0.85 * generator.standing_height_m(),
                    "it stands on the edge"
                );
            }
            println!(
                "trench of {width_m} m, seed {seed}: down from frame {fell} to {up:?}, in the end at {}",
                pelvis(frames.last().unwrap())
            );
            let bound = config.dynamic.assist.horizontal_limit_bw;
            for frame in &frames[fell..up.unwrap_or(frames.len())] {
                let force = frame.simulated.assist_force / BODY_WEIGHT_N;
                assert!(force.with_y(0.0).length() < 1.02 * bound, "{force} is beyond the assist's cap");
                assert!(
                    force.y.abs() < 1.02 * bound * config.dynamic.assist.vertical_share,
                    "{force} lifts too much"
                );
            }
            assert!(frames.iter().all(|frame| frame.simulated.recovered.is_none()), "the simulator holds");
        }
        // Of 379 falls into such trenches, 85 % ended within 20 s (docs/experiments/0122-products-of-bfloat16.md).
        assert!(stood >= 5, "{stood} of {SEEDS} stand again");
    }
}

#[test]
fn a_snapshot_of_one_who_lies_gets_up_or_has_just_stood_up_continues_bit_for_bit() {
    const BETWEEN: usize = 20;
    const AFTER: usize = 40;
    let mut generator = generator(&GeneratorConfig::default());
    let (mut kept, mut frames) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        kept.push(generator.save());
        frames.extend(felled(&mut generator, Vec3::Z * 300.0, BETWEEN));
    }
    let lies = frames.iter().position(|frame| frame.fallen).unwrap();
    let rises = frames.iter().position(|frame| gait(frame) == Gait::GetUp).unwrap();
    let up = rises + frames[rises..].iter().position(|frame| !frame.fallen).unwrap();
    let mut other = self::generator(&GeneratorConfig::default());
    for (at, what) in [(lies, "lying"), (rises + 60, "getting up"), (up, "standing up")] {
        let from = at.next_multiple_of(BETWEEN);
        other.restore(&kept[from / BETWEEN]).unwrap();
        for (frame, expected) in frames.iter().enumerate().skip(from).take(AFTER) {
            let again = felled(&mut other, Vec3::ZERO, 1).remove(0);
            assert!(again.simulated.pose == expected.simulated.pose, "from {what} on frame {frame} differs");
        }
    }
}

#[test]
fn one_who_may_not_get_up_lies_where_it_fell() {
    let get_up = GetUpConfig { enabled: false, ..GetUpConfig::default() };
    let mut config = GeneratorConfig::default();
    config.layers.fall_recovery.get_up = get_up;
    let mut generator = generator(&config);
    let frames = felled(&mut generator, Vec3::Z * 300.0, 600);
    assert!(frames.last().is_some_and(|frame| gait(frame) == Gait::Lie));
    let moved = frames[540].simulated.pose.positions[0].distance(frames[599].simulated.pose.positions[0]);
    assert!(moved < 0.02, "a second of lying moves it by {moved} m");
}

#[test]
fn rejects_a_pace_of_nothing() {
    let get_up = GetUpConfig { pace: 0.0, ..GetUpConfig::default() };
    let mut config = GeneratorConfig::default();
    config.layers.fall_recovery.get_up = get_up;
    let error = config.validate().unwrap_err();
    assert!(error.to_string().starts_with("layers.fall_recovery.get_up.pace = 0 "), "{error}");
}
