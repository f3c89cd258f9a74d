//! `configs/own_feet.toml`: a walker that nothing outside holds up.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_config::{Origin, resolve};
use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::glam::Vec3;
use pomp_motion::{Gait, humanoid};
use pomp_physics::Push;
use pomp_terrain::HeightMap;
use std::path::PathBuf;

fn own_feet() -> GeneratorConfig {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../configs/own_feet.toml"].iter().collect();
    resolve(Origin::File(&path), &[]).unwrap().checked().unwrap()
}

/// Time until a character of `config` that follows `preset` falls, seconds, at most `seconds`.
fn holds(config: &GeneratorConfig, preset: Preset, seed: u64, seconds: f32) -> f32 {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let plan = ControlPlan::preset(preset, 20.0, FRAME_RATE_HZ);
    let terrain = HeightMap::flat(60.0, 1.0).unwrap();
    let start = plan.start_gait();
    let mut generator = Generator::new(&model, terrain, config, start, seed).unwrap();
    for frame in 0..(seconds * FRAME_RATE_HZ) as usize {
        let step = generator.step(&plan, &[]).unwrap();
        let simulated = &step.simulated;
        assert_eq!((simulated.assist_force, simulated.assist_torque), Default::default());
        if step.fallen || simulated.recovered.is_some() {
            return frame as f32 / FRAME_RATE_HZ;
        }
    }
    seconds
}

#[test]
fn walks_go_on_with_no_force_from_outside_and_fall_at_once_without_balance() {
    let config = own_feet();
    let mut unheld = config.clone();
    unheld.dynamic.balance.enabled = false;
    unheld.dynamic.assist.horizontal_limit_bw = 0.0;
    unheld.dynamic.assist.angular_limit_bw_m = 0.0;
    let (mut balanced, mut control) = (vec![], vec![]);
    for seed in 10_001..10_007 {
        balanced.push(holds(&config, Preset::Walk, seed, 6.0));
        control.push(holds(&unheld, Preset::Walk, seed, 6.0));
    }
    println!("seconds: balanced {balanced:?}, without balance {control:?}");
    assert!(balanced.iter().filter(|s| **s == 6.0).count() >= 5);
    assert!(control.iter().all(|s| *s < 2.5));
}

#[test]
fn who_stands_stays_on_its_feet() {
    let config = own_feet();
    let held: Vec<f32> = (10_001..10_004).map(|seed| holds(&config, Preset::Stand, seed, 15.0)).collect();
    println!("seconds: {held:?}");
    assert!(held.iter().all(|s| *s == 15.0));
}

#[test]
fn who_is_felled_gets_up_held_by_the_assist_which_lets_go_again() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let plan = ControlPlan::preset(Preset::Stand, 12.0, FRAME_RATE_HZ);
    let push = Push { body: humanoid::SPINE2.0, impulse_ns: Vec3::new(0.0, 0.0, -250.0), point: None };
    let run = |config: &GeneratorConfig| {
        let terrain = HeightMap::flat(40.0, 0.5).unwrap();
        let mut generator = Generator::new(&model, terrain, config, Gait::Stand, 10_001).unwrap();
        let frames = 0..(11.0 * FRAME_RATE_HZ) as usize;
        let pushes = |at| if at == 60 { std::slice::from_ref(&push) } else { &[] };
        frames.map(|at| generator.step(&plan, pushes(at)).unwrap()).collect::<Vec<_>>()
    };
    let mut config = own_feet();
    let steps = run(&config);
    let is_held = |simulated: &pomp_physics::Frame| {
        simulated.assist_force != Vec3::ZERO || simulated.assist_torque != Vec3::ZERO
    };
    let held = steps.iter().filter(|step| is_held(&step.simulated)).count();
    println!("held for {held} frames");
    let fell = steps.iter().position(|step| step.fallen).expect("the push fells it");
    assert!(held > 60 && steps[fell..].iter().any(|step| !step.fallen), "it does not get up");
    for step in &steps {
        assert!(Gait::dominant(&step.gait) == Gait::GetUp || !is_held(&step.simulated));
    }
    config.layers.fall_recovery.get_up.assisted = false;
    assert!(run(&config).iter().all(|step| !is_held(&step.simulated)));
}
