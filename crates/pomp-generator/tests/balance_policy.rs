//! `configs/own_feet_policy.toml`: a walker on its own feet whose model's policy steps and corrects.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_config::{Origin, resolve};
use pomp_embedded::{Device, Model};
use pomp_formats::{read_recording, write_recording};
use pomp_generator::{
    ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset, RolloutRecipe, ScheduledPush, replay,
};
use pomp_motion::glam::Vec3;
use pomp_motion::humanoid;
use pomp_terrain::HeightMap;
use std::path::PathBuf;
use std::sync::OnceLock;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded::load(&Device::flex()).unwrap())
}

fn settings() -> GeneratorConfig {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../configs/own_feet_policy.toml"].iter().collect();
    resolve(Origin::File(&path), &[]).unwrap().checked().unwrap()
}

fn recipe(settings: GeneratorConfig) -> RolloutRecipe {
    let plan = ControlPlan::preset(Preset::Walk, 4.0, FRAME_RATE_HZ);
    let push =
        ScheduledPush { time_s: 0.5, body: humanoid::SPINE2.0, impulse_ns: Vec3::new(30.0, 0.0, 10.0) };
    RolloutRecipe {
        model_sha256: model().sha256_with(settings.used_parts()).unwrap(),
        start: plan.at(0.0).gait,
        seed: 11,
        plan,
        pushes: vec![push],
        throws: Vec::new(),
        terrain: HeightMap::flat(40.0, 0.5).unwrap(),
        frames: 120,
        settings,
    }
}

#[test]
fn the_policy_acts_from_inside_and_its_rollouts_are_replayed_bit_for_bit() {
    let recipe = recipe(settings());
    let recording = recipe.run(model(), "rollout", |_| 0.0).unwrap();
    let forces = &recording.simulation.as_ref().unwrap().assist_force;
    assert!(forces.iter().all(|force| *force == Vec3::ZERO), "nothing acts from outside");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.npz");
    write_recording(&path, &recording).unwrap();
    assert_eq!(replay(&read_recording(&path).unwrap(), model(), |_| 0.0).unwrap().differences, []);

    let mut without = settings();
    without.layers.balance_policy.enabled = false;
    let other = self::recipe(without).run(model(), "rollout", |_| 0.0).unwrap();
    let apart =
        recording.positions.values().iter().zip(other.positions.values()).map(|(a, b)| a.distance(*b));
    assert!(apart.fold(0.0, f32::max) > 0.01, "the policy does something");
}

#[test]
fn a_character_goes_on_from_a_snapshot() {
    let plan = ControlPlan::preset(Preset::Walk, 4.0, FRAME_RATE_HZ);
    let config = settings();
    let start = plan.start_gait();
    let begin = || {
        let terrain = HeightMap::flat(40.0, 0.5).unwrap();
        Generator::new(model(), terrain, &config, start, 5).unwrap()
    };
    let mut whole = begin();
    // An odd number of frames: between two decisions.
    for _ in 0..31 {
        whole.step(&plan, &[]).unwrap();
    }
    let saved = whole.save();
    let after: Vec<_> = (0..30).map(|_| whole.step(&plan, &[]).unwrap().simulated.pose).collect();
    whole.restore(&saved).unwrap();
    let again: Vec<_> = (0..30).map(|_| whole.step(&plan, &[]).unwrap().simulated.pose).collect();
    assert_eq!(after, again);
}

#[test]
fn a_model_without_a_policy_and_a_loop_without_balance_are_refused_in_words() {
    let mut bare = model().clone();
    bare.balance_policy = None;
    let (plan, config) = (ControlPlan::preset(Preset::Walk, 4.0, FRAME_RATE_HZ), settings());
    let start = plan.start_gait();
    let terrain = || HeightMap::flat(40.0, 0.5).unwrap();
    let told = Generator::new(&bare, terrain(), &config, start, 5).err().unwrap().to_string();
    assert!(told.contains("balance policy") && told.contains("pomp train balance"), "{told}");
    let mut held = config.clone();
    held.dynamic.balance.enabled = false;
    let told = Generator::new(model(), terrain(), &held, start, 5).err().unwrap().to_string();
    assert!(told.contains("layers.balance_policy.enabled"), "{told}");
}
