//! The character goes as fast as it is asked.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::Gait;
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
