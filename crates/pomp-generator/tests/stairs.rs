//! The character climbs a flight of stairs.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic and tell, also in the functions it shares"
)]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};

/// The preset: level up to z = 2.5 m, then six steps of 15 cm by 30 cm, and level again.
const TOP_Z_M: f32 = 5.0;
const TOP_M: f32 = 0.9;

/// How many of three walks get to the top without a fall.
fn climbs(settings: &GeneratorConfig) -> usize {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let plan = ControlPlan::preset(Preset::Walk, 20.0, FRAME_RATE_HZ);
    let climbs = (1..=3).filter(|seed| {
        let stairs = pomp_terrain::generate(&pomp_terrain::preset("stairs").unwrap(), *seed).unwrap();
        let mut generator = Generator::new(&model, stairs, settings, plan.at(0.0).gait, *seed).unwrap();
        let mut highest = 0.0f32;
        while generator.frames() < 12 * 60 && !generator.has_fallen() && generator.root_position().y < TOP_Z_M
        {
            let pelvis = generator.step(&plan, &[]).unwrap().simulated.pose.positions[0].y;
            highest = highest.max(pelvis - generator.standing_height_m());
        }
        println!(
            "seed {seed}: {:.1} s, {:.2} m ahead, {highest:.2} m up, fallen: {}",
            generator.frames() as f32 / FRAME_RATE_HZ,
            generator.root_position().y,
            generator.has_fallen()
        );
        !generator.has_fallen() && highest > TOP_M - 0.1
    });
    climbs.count()
}

#[test]
fn a_flight_of_stairs_is_climbed_in_two_of_three_walks_at_least() {
    assert!(climbs(&GeneratorConfig::default()) >= 2);
}

/// The control: the body meets the treads where the smooth surface that the kinematic module walks on leaves its feet.
#[test]
fn without_terrain_foot_placement_the_simulated_body_does_not_get_up_the_flight() {
    let mut settings = GeneratorConfig::default();
    settings.layers.foot_placement.enabled = false;
    assert!(climbs(&settings) <= 1);
}
