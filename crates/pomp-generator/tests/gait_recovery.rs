//! Gait recovery keeps a character on its feet that would fall without it.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::Gait;
use pomp_motion::glam::Vec3;
use pomp_physics::Push;
use pomp_terrain::HeightMap;

const SEEDS: std::ops::RangeInclusive<usize> = 1..=16;

/// 150 N·s against the chest from the front after 2.5 s, at sixteen moments of the stride. Today 5 of 16 fall with the layer and 9 without
/// it.
#[test]
fn gait_recovery_prevents_falls_after_a_push_from_the_front() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let falls = |is_recovering: bool| {
        let mut config = GeneratorConfig::default();
        config.layers.gait_recovery.enabled = is_recovering;
        let plan = ControlPlan::preset(Preset::Walk, 12.0, FRAME_RATE_HZ);
        let fell = |seed: usize| {
            let ground = HeightMap::flat(40.0, 1.0).unwrap();
            let mut generator = Generator::new(&model, ground, &config, Gait::Walk, seed as u64).unwrap();
            let chest = generator.body_names().iter().position(|body| body == "Spine2").unwrap();
            let push = Push { body: chest, impulse_ns: Vec3::NEG_Z * 150.0, point: None };
            (0..420).any(|frame| {
                let pushes = if frame == 150 + 5 * seed { vec![push] } else { Vec::new() };
                generator.step(&plan, &pushes).unwrap().fallen
            })
        };
        SEEDS.filter(|seed| fell(*seed)).count()
    };
    let (with, without) = (falls(true), falls(false));
    println!("of 16 pushed walks {with} fall with gait recovery, {without} without");
    assert!(with <= 7, "{with} of 16 fall with gait recovery");
    assert!(without >= with + 3, "{without} of 16 fall without gait recovery, {with} with it");
}
