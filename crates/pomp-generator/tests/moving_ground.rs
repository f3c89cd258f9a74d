//! Ground that moves under the character.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::{Device, Model};
use pomp_generator::{
    CharacterSetup, ControlPlan, Dynamics, Ensemble, FRAME_RATE_HZ, GeneratorConfig, GeneratorError,
    GroundMotion, GroundMove, Preset, RolloutRecipe, replay,
};
use pomp_motion::glam::{Vec2, Vec3};
use pomp_motion::{Gait, Recording};
use pomp_terrain::HeightMap;
use std::sync::OnceLock;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded::load(&Device::flex()).unwrap())
}

/// A character that stands for four seconds, on ground that is shifted to the left (+X) after two.
fn shifted(by_m: f32) -> Recording {
    let shift = GroundMove::Shift { from_s: 2.0, seconds: 0.4, by_m: Vec3::new(by_m, 0.0, 0.0) };
    let plan = ControlPlan::preset(Preset::Stand, 4.0, FRAME_RATE_HZ);
    let recipe = RolloutRecipe {
        model_sha256: model().files_sha256.clone().unwrap(),
        settings: GeneratorConfig {
            ground_motion: GroundMotion { moves: vec![shift] },
            ..GeneratorConfig::default()
        },
        start: plan.at(0.0).gait,
        seed: 1,
        plan,
        pushes: Vec::new(),
        throws: Vec::new(),
        terrain: HeightMap::flat(20.0, 0.5).unwrap(),
        frames: 240,
    };
    let mut recording = recipe.run(model(), "rollout", |_| 0.0).unwrap();
    recording.generation.as_mut().unwrap().frame_time_us = None;
    recording
}

#[test]
fn one_whose_ground_is_shifted_stays_behind_and_is_carried_along() {
    let (rests, moves) = (shifted(0.0), shifted(0.1));
    let offsets = moves.generation.as_ref().unwrap().ground_offset.clone().unwrap();
    assert!(offsets[120].length() < 1e-6 && (offsets[239].x - 0.1).abs() < 1e-6, "{}", offsets[239]);
    assert_eq!(rests.positions[119], moves.positions[119], "nothing happens before");

    let joint = |name: &str| moves.skeleton.joints().iter().position(|joint| joint.name == name).unwrap();
    let head = joint("Head");
    let aside =
        |frame: usize, joint: usize| moves.positions[frame][joint].x - rests.positions[frame][joint].x;
    let lag = (120..180).map(|frame| aside(frame, head)).fold(0.0_f32, f32::min);
    println!("the head lags by {:.1} cm and ends {:.1} cm aside", -100.0 * lag, 100.0 * aside(239, head));
    assert!((-0.1..-0.01).contains(&lag), "seen from the ground the head goes the other way: {lag} m");
    // In the world the feet have gone with the ground.
    for foot in ["LeftFoot", "RightFoot"] {
        let went = aside(239, joint(foot)) + offsets[239].x;
        assert!((0.05..0.15).contains(&went), "{foot} went {went} m");
    }
}

#[test]
fn a_rollout_on_moving_ground_is_replayed_bit_for_bit() {
    let recording = shifted(0.1);
    assert_eq!(replay(&recording, model(), |_| 0.0).unwrap().differences, []);
}

#[test]
fn rejects_moving_ground_without_physics_and_one_ground_that_moves_in_two_ways() {
    let shift = GroundMove::Shift { from_s: 1.0, seconds: 1.0, by_m: Vec3::X };
    let moving = GeneratorConfig { ground_motion: GroundMotion { moves: vec![shift] }, ..Default::default() };
    let unsimulated = GeneratorConfig { dynamics: Dynamics::KinematicOnly, ..moving.clone() };
    assert!(
        matches!(unsimulated.validate(), Err(GeneratorError::OutOfRange(refused)) if refused.field == "ground_motion"),
        "there is nothing for the ground to move"
    );
    let setup = |settings: &GeneratorConfig, x| CharacterSetup {
        settings: settings.clone(),
        start: Gait::Stand,
        seed: 1,
        position: Vec2::new(x, 0.0),
        yaw: 0.0,
    };
    let cast = [setup(&GeneratorConfig::default(), 0.0), setup(&moving, 2.0)];
    let ground = HeightMap::flat(20.0, 0.5).unwrap();
    let refused = Ensemble::new(model(), &ground, &cast).err().unwrap().to_string();
    assert!(refused.contains("character 2 has another ground_motion"), "{refused}");
}
