//! The character goes as fast as it is asked.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::Gait;
use pomp_motion::glam::Vec2;
use pomp_terrain::HeightMap;

#[test]
fn a_walk_on_level_ground_goes_as_fast_as_it_is_asked() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let plan = ControlPlan::preset(Preset::Walk, 20.0, FRAME_RATE_HZ);
    let asked = plan.at(0.0).speed_mps;
    for seed in [1, 2] {
        let ground = HeightMap::flat(80.0, 1.0).unwrap();
        let mut generator =
            Generator::new(&model, ground, &GeneratorConfig::default(), Gait::Walk, seed).unwrap();
        let mut passed = Vec::new();
        for _ in 0..15 {
            for _ in 0..60 {
                generator.step(&plan, &[]).unwrap();
            }
            passed.push(generator.root_position().y);
        }
        // The first three seconds are the start's.
        let speed = (passed[14] - passed[2]) / 12.0;
        println!("seed {seed}: {speed:.3} m/s, asked {asked}");
        assert!(!generator.has_fallen());
        assert!((speed / asked - 1.0).abs() < 0.05, "seed {seed}: {speed} m/s, asked {asked}");
    }
}

#[test]
fn no_step_on_uneven_ground_is_more_than_the_simulator_can_follow() {
    // Contacts that touch a face exactly once had no normal: these walks hung in the air from the second second on.
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let plan = ControlPlan::preset(Preset::Walk, 23.0, FRAME_RATE_HZ);
    for (ground, seed) in [("hills", 10_001), ("hills", 10_008), ("rough", 10_008)] {
        let spec = pomp_terrain::preset(ground).unwrap().reaching(plan.reach_m() + 8.0);
        let terrain = pomp_terrain::generate(&spec, seed).unwrap();
        let settings = GeneratorConfig::default();
        let mut generator = Generator::new(&model, terrain, &settings, Gait::Walk, seed).unwrap();
        for frame in 0..180 {
            let now = generator.step(&plan, &[]).unwrap().simulated;
            assert_eq!(now.recovered, None, "{ground}, seed {seed}, frame {frame}");
        }
    }
}

/// `cargo test --release --test pace -- --ignored --nocapture`: speed asked and gone, and distance from the command, of every
/// preset that moves.
#[test]
#[ignore = "it prints figures, and takes minutes"]
fn figures_of_pace_and_path() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    for preset in [Preset::Walk, Preset::Circle, Preset::Slalom, Preset::StopAndGo, Preset::Jog] {
        let plan = ControlPlan::preset(preset, 31.0, FRAME_RATE_HZ);
        for seed in 1..=3 {
            let ground = HeightMap::flat(200.0, 1.0).unwrap();
            let settings = GeneratorConfig::default();
            let mut generator = Generator::new(&model, ground, &settings, plan.at(0.0).gait, seed).unwrap();
            let (mut asked, mut gone, mut moving, mut frames) = (0.0, 0.0, 0.0, 0.0);
            let (mut lag, mut error) = (0.0, 0.0);
            while generator.frames() < 28 * 60 && !generator.has_fallen() {
                let before = generator.root_position();
                let wanted = generator.step(&plan, &[]).unwrap().control;
                let root = generator.root_position();
                let ahead = Vec2::from(wanted.yaw.sin_cos());
                error += (wanted.position - root).length();
                frames += 1.0;
                if wanted.speed_mps > 0.5 {
                    moving += 1.0;
                    asked += wanted.speed_mps;
                    gone += (root - before).dot(ahead) * FRAME_RATE_HZ;
                    lag += (wanted.position - root).dot(ahead);
                }
            }
            println!(
                "{:12} seed {seed}: {:.3} m/s of {:.3} ({:+.1} %), {:.3} m behind, {:.3} m from the command, {:.1} s",
                preset.name(),
                gone / moving,
                asked / moving,
                100.0 * (gone / asked - 1.0),
                lag / moving,
                error / frames,
                frames / FRAME_RATE_HZ,
            );
        }
    }
}
