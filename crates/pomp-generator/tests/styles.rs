//! Styles in the closed loop: none is no change, one changes how it walks, and a rollout says which one it was.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::{Device, Model};
use pomp_formats::{read_recording, write_recording};
use pomp_generator::{
    CharacterSetup, ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, LiveControl, Networks, Preset,
    RolloutRecipe, Steering, replay,
};
use pomp_motion::glam::{Vec2, Vec3};
use pomp_motion::{Gait, Recording, humanoid};
use pomp_terrain::HeightMap;
use std::collections::BTreeMap;
use std::sync::OnceLock;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded::load(&Device::flex()).unwrap())
}

fn style<const N: usize>(weights: [(&str, f32); N]) -> BTreeMap<String, f32> {
    weights.map(|(name, weight)| (name.to_owned(), weight)).into()
}

fn styled<const N: usize>(weights: [(&str, f32); N]) -> GeneratorConfig {
    GeneratorConfig { style: style(weights), ..GeneratorConfig::default() }
}

fn recipe(settings: GeneratorConfig, frames: usize) -> RolloutRecipe {
    let plan = ControlPlan::preset(Preset::Walk, 10.0, FRAME_RATE_HZ);
    RolloutRecipe {
        model_sha256: model().sha256_with(settings.used_parts()).unwrap(),
        start: plan.at(0.0).gait,
        seed: 11,
        plan,
        pushes: Vec::new(),
        throws: Vec::new(),
        terrain: HeightMap::flat(40.0, 0.5).unwrap(),
        frames,
        settings,
    }
}

fn rollout(settings: GeneratorConfig, frames: usize) -> Recording {
    recipe(settings, frames).run(model(), "rollout", |_| 0.0).unwrap()
}

/// Mean height of both hands above the pelvis in the last two seconds, metres.
fn hands_m(recording: &Recording) -> f32 {
    let frames = recording.frames() - 120..recording.frames();
    let height = |frame: usize, joint: usize| {
        recording.positions[frame][joint].y - recording.positions[frame][humanoid::HIPS.0].y
    };
    let hands = [humanoid::LEFT_HAND.0, humanoid::RIGHT_HAND.0];
    let sum: f32 = frames.clone().flat_map(|frame| hands.map(|hand| height(frame, hand))).sum();
    sum / (2 * frames.len()) as f32
}

#[test]
fn without_a_style_and_with_weights_of_0_a_walk_is_the_same_bytes() {
    let plain = rollout(GeneratorConfig::default(), 60);
    let zero = rollout(styled([("zombie", 0.0)]), 60);
    assert_eq!(plain.positions, zero.positions);
    assert_eq!(
        recipe(GeneratorConfig::default(), 60).model_sha256,
        model().files_sha256.clone().unwrap(),
        "rollouts without a style name the model as before"
    );
    let settings = recipe(GeneratorConfig::default(), 60).to_record().settings;
    assert!(!settings.contains("style"), "records without a style are as before: {settings}");
}

#[test]
fn a_zombie_holds_its_hands_up_and_its_rollout_is_replayed_bit_for_bit() {
    let plain = rollout(GeneratorConfig::default(), 300);
    let zombie = rollout(styled([("zombie", 1.0)]), 300);
    println!("hands over the pelvis: {:.2} m, a zombie's {:.2} m", hands_m(&plain), hands_m(&zombie));
    assert!(hands_m(&zombie) > hands_m(&plain) + 0.15);
    let upright = |recording: &Recording| recording.positions[recording.frames() - 1][0].y > 0.7;
    assert!(upright(&plain) && upright(&zombie));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.npz");
    write_recording(&path, &zombie).unwrap();
    let read = read_recording(&path).unwrap();
    assert_eq!(RolloutRecipe::of_recording(&read).unwrap().settings.style, style([("zombie", 1.0)]));
    assert_eq!(replay(&read, model(), |_| 0.0).unwrap().differences, []);
}

#[test]
fn a_style_that_is_set_on_the_way_is_the_style_of_the_settings() {
    let plan = ControlPlan::preset(Preset::Walk, 4.0, FRAME_RATE_HZ);
    let networks = Networks::new(model(), &GeneratorConfig::default()).unwrap();
    let begin = |settings: GeneratorConfig| {
        let setup = CharacterSetup { settings, start: Gait::Walk, seed: 5, position: Vec2::ZERO, yaw: 0.0 };
        let terrain = HeightMap::flat(40.0, 0.5).unwrap();
        Generator::with_networks(model(), &networks, terrain, &setup).unwrap()
    };
    let walk = |generator: &mut Generator| -> Vec<Vec<Vec3>> {
        (0..40).map(|_| generator.step(&plan, &[]).unwrap().simulated.pose.positions.to_vec()).collect()
    };
    let mixed = style([("zombie", 0.5), ("stealthy", 0.3)]);
    let mut at_once = begin(GeneratorConfig { style: mixed.clone(), ..GeneratorConfig::default() });
    let mut later = begin(GeneratorConfig::default());
    later.set_style(model(), &mixed).unwrap();
    let styled = walk(&mut at_once);
    assert_eq!(styled, walk(&mut later));
    later.set_style(model(), &BTreeMap::new()).unwrap();
    let saved = later.save();
    let plain = walk(&mut later);
    later.restore(&saved).unwrap();
    assert_eq!(plain, walk(&mut later));
    assert_ne!(styled, walk(&mut begin(GeneratorConfig::default())));
}

#[test]
fn a_snapshot_holds_the_style_and_restoring_it_goes_on_in_that_style() {
    let plan = ControlPlan::preset(Preset::Walk, 4.0, FRAME_RATE_HZ);
    let terrain = HeightMap::flat(40.0, 0.5).unwrap();
    let mut generator = Generator::new(model(), terrain, &styled([("zombie", 0.7)]), Gait::Walk, 5).unwrap();
    let walk = |generator: &mut Generator| -> Vec<Vec<Vec3>> {
        (0..40).map(|_| generator.step(&plan, &[]).unwrap().simulated.pose.positions.to_vec()).collect()
    };
    walk(&mut generator);
    let saved = generator.save();
    let zombie = walk(&mut generator);
    generator.set_style(model(), &style([("march", 0.5)])).unwrap();
    assert_eq!(generator.style(), &style([("march", 0.5)]));
    walk(&mut generator);
    generator.restore(&saved).unwrap();
    assert_eq!(generator.style(), &style([("zombie", 0.7)]));
    assert_eq!(walk(&mut generator), zombie);
}

#[test]
fn a_style_fades_where_a_character_is_told_to_stand_and_a_snapshot_holds_how_far_it_has() {
    let terrain = HeightMap::flat(40.0, 0.5).unwrap();
    let mut control = LiveControl::new(terrain.bounds(), 0.0, FRAME_RATE_HZ);
    let mut generator = Generator::new(model(), terrain, &styled([("zombie", 1.0)]), Gait::Walk, 5).unwrap();
    let go = |generator: &mut Generator, control: &mut LiveControl, way: Vec2, frames: usize| {
        let steering = Steering::toward(way, if way == Vec2::ZERO { Gait::Stand } else { Gait::Walk });
        let step =
            |_| generator.step_steered(control, steering, &[]).unwrap().output.target.positions.to_vec();
        (0..frames).map(step).collect::<Vec<Vec<Vec3>>>()
    };
    // Height of the hands of the target above its pelvis.
    let hands = |frame: &[Vec3]| {
        let hands = [humanoid::LEFT_HAND.0, humanoid::RIGHT_HAND.0];
        hands.map(|hand| frame[hand].y).iter().sum::<f32>() / 2.0 - frame[humanoid::HIPS.0].y
    };
    let walked = go(&mut generator, &mut control, Vec2::Y, 240);
    go(&mut generator, &mut control, Vec2::ZERO, 15);
    let (saved, mut commanded) = (generator.save(), control);
    let stood = go(&mut generator, &mut control, Vec2::ZERO, 120);
    let in_last_second = |frames: &[Vec<Vec3>]| {
        frames[frames.len() - 60..].iter().map(|frame| hands(frame)).sum::<f32>() / 60.0
    };
    let (up, down) = (in_last_second(&walked), in_last_second(&stood));
    println!("hands at {up} m, then at {down} m");
    assert!(up > down + 0.1);
    generator.restore(&saved).unwrap();
    assert_eq!(go(&mut generator, &mut commanded, Vec2::ZERO, 120), stood);
}

#[test]
fn rejects_styles_that_there_are_not_weights_out_of_range_and_other_controllers() {
    let plan = ControlPlan::preset(Preset::Walk, 4.0, FRAME_RATE_HZ);
    let told = |model: &Model, settings: &GeneratorConfig| {
        let terrain = HeightMap::flat(40.0, 0.5).unwrap();
        let start = plan.start_gait();
        Generator::new(model, terrain, settings, start, 5).err().unwrap().to_string()
    };
    let unknown = told(model(), &styled([("zmobie", 0.5)]));
    assert!(unknown.contains("\"zmobie\"") && unknown.contains("zombie, stealthy"), "{unknown}");
    let heavy = told(model(), &styled([("zombie", 0.7), ("stealthy", 0.5)]));
    assert!(heavy.contains("style") && heavy.contains("at most 1"), "{heavy}");
    assert!(told(model(), &styled([("zombie", -0.1)])).contains("style.zombie"));
    let mut matching = styled([("zombie", 0.5)]);
    matching.controller = pomp_controllers::ControllerKind::Matching;
    assert!(told(model(), &matching).contains("controller = \"pomp\""));
    let mut bare = model().clone();
    bare.styles = None;
    let missing = told(&bare, &styled([("zombie", 0.5)]));
    assert!(missing.contains("style adapter") && missing.contains("pomp train style"), "{missing}");
}
