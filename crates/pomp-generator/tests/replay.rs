//! A rollout is made again, to the bit, from its file alone.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::{Device, Model};
use pomp_formats::{read_recording, write_recording};
use pomp_generator::{
    ControlPlan, FRAME_RATE_HZ, GeneratorConfig, GeneratorError, Preset, RolloutRecipe, ScheduledPush,
    ScheduledThrow, replay,
};
use pomp_motion::glam::Vec3;
use pomp_motion::{Gait, Recording};
use std::ops::ControlFlow;
use std::sync::OnceLock;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded::load(&Device::flex()).unwrap())
}

/// A second and a half over hills with two pushes in one frame, one after the end, and settings that are no round numbers.
fn recipe(seed: u64) -> RolloutRecipe {
    let plan = ControlPlan::preset(Preset::Slalom, 4.0, FRAME_RATE_HZ);
    let push = |time_s, body, x| ScheduledPush { time_s, body, impulse_ns: Vec3::new(x, 0.0, 1.0 / 3.0) };
    let mut settings = GeneratorConfig::default();
    settings.layers.root_following.share = 0.1 / 3.0;
    RolloutRecipe {
        model_sha256: model().files_sha256.clone().unwrap(),
        settings,
        start: plan.at(0.0).gait,
        seed,
        plan,
        pushes: vec![push(9.0, 0, 1.0), push(0.501, 11, 30.0), push(0.5, 0, -20.0)],
        throws: Vec::new(),
        terrain: pomp_terrain::generate(&pomp_terrain::preset("hills").unwrap(), seed).unwrap(),
        frames: 90,
    }
}

fn made(seed: u64) -> Recording {
    without_times(recipe(seed).run(model(), "rollout", |_| 0.0).unwrap())
}

fn without_times(mut recording: Recording) -> Recording {
    recording.generation.as_mut().unwrap().frame_time_us = None;
    recording
}

#[test]
fn a_rollout_from_a_file_is_replayed_bit_for_bit_and_gives_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first.npz", "second.npz"].map(|name| folder.path().join(name));
    // A seed beyond the integers of TOML.
    let recording = made(u64::MAX);
    assert_eq!(recording.generation.as_ref().unwrap().pushes.len(), 2);
    write_recording(&first, &recording).unwrap();
    let read = read_recording(&first).unwrap();
    assert!(recipe(u64::MAX).made(&read) && !recipe(1).made(&read));
    let again = replay(&read, model(), |_| 0.0).unwrap();
    assert_eq!(again.differences, []);
    write_recording(&second, &again.recording).unwrap();
    assert!(std::fs::read(first).unwrap() == std::fs::read(second).unwrap());
}

#[test]
fn a_rollout_that_falls_and_what_comes_after_is_replayed_bit_for_bit() {
    let mut recipe = recipe(5);
    recipe.pushes[1].impulse_ns = Vec3::new(350.0, 0.0, 0.0);
    recipe.frames = 300;
    let recording = recipe.run(model(), "rollout", |_| 0.0).unwrap();
    let lies = recording.gait.iter().filter(|weights| Gait::dominant(weights) == Gait::Lie).count();
    println!("{lies} of 300 frames lying");
    assert!(lies > 0, "350 N·s fell it");
    assert_eq!(replay(&recording, model(), |_| 0.0).unwrap().differences, []);
}

#[test]
fn a_rollout_ends_where_its_caller_stops_it() {
    let stopped = recipe(3).run_while(model(), "rollout", |frame| {
        if frame < 4 { ControlFlow::Continue(0.0) } else { ControlFlow::Break(()) }
    });
    assert!(matches!(stopped, Err(GeneratorError::Stopped { frame: 4 })), "{stopped:?}");
}

#[test]
fn a_box_moves_whom_it_meets_and_is_thrown_again_by_the_replay() {
    let terrain = pomp_terrain::HeightMap::flat(40.0, 0.5).unwrap();
    let calm = RolloutRecipe { pushes: Vec::new(), terrain, frames: 120, ..recipe(3) };
    let throw = ScheduledThrow { time_s: 0.4, body: 11, mass_kg: 40.0, speed_m_s: 8.0, from_deg: 90.0 };
    let thrown = RolloutRecipe { throws: vec![throw], ..calm.clone() };
    let [calm, hit] = [&calm, &thrown].map(|recipe| recipe.run(model(), "rollout", |_| 0.0).unwrap());
    let moved: Vec<f32> =
        (0..120).map(|frame| hit.positions[frame][11].x - calm.positions[frame][11].x).collect();
    let (before, after) = (&moved[..24], moved.iter().copied().fold(f32::INFINITY, f32::min));
    println!("a box of 40 kg at 8 m/s moved the chest by up to {after:.2} m");
    assert!(before.iter().all(|way| *way == 0.0) && after < -0.1, "it comes from +X");
    assert_eq!(replay(&hit, model(), |_| 0.0).unwrap().differences, []);
    assert!(!calm.recipe.as_ref().unwrap().settings.contains("throws"), "what is not thrown is not written");
}

#[test]
fn rejects_a_box_in_the_first_frame_and_one_at_nobody() {
    let throw = ScheduledThrow { time_s: 0.0, body: 11, mass_kg: 10.0, speed_m_s: 8.0, from_deg: 0.0 };
    let first = RolloutRecipe { throws: vec![throw], ..recipe(3) };
    let error = first.run(model(), "rollout", |_| 0.0).unwrap_err();
    assert!(matches!(error, GeneratorError::BadControl { .. }), "{error}");
    let mut hit = RolloutRecipe { throws: vec![ScheduledThrow { time_s: 0.5, ..throw }], ..recipe(3) }
        .run(model(), "rollout", |_| 0.0)
        .unwrap();
    let settings = &mut hit.recipe.as_mut().unwrap().settings;
    *settings = settings.replace("body = 11", "body = 99");
    assert!(replay(&hit, model(), |_| 0.0).unwrap_err().to_string().contains("body 99"));
}

#[test]
fn a_record_that_was_changed_by_one_bit_is_found_out_in_its_frame() {
    let mut recording = made(2);
    let impulses = &mut recording.simulation.as_mut().unwrap().assist_force;
    impulses[40].x = f32::from_bits(impulses[40].x.to_bits() ^ 1);
    let found = replay(&recording, model(), |_| 0.0).unwrap().differences;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].array, found[0].row, found[0].column), ("assist_force", 40, 0));
}

#[test]
fn another_seed_push_or_setting_is_another_rollout() {
    let recording = made(3);
    let differs = |change: &dyn Fn(&mut Recording)| {
        let mut other = recording.clone();
        change(&mut other);
        !replay(&other, model(), |_| 0.0).unwrap().differences.is_empty()
    };
    let settings = |from: &'static str, to: &'static str| {
        move |recording: &mut Recording| {
            let recipe = recording.recipe.as_mut().unwrap();
            assert!(recipe.settings.contains(from), "{}", recipe.settings);
            recipe.settings = recipe.settings.replace(from, to);
        }
    };
    assert!(!differs(&|_| ()), "the control");
    assert!(differs(&settings("seed = \"3\"", "seed = \"4\"")));
    assert!(differs(&settings("friction = 0.6", "friction = 0.5")));
    assert!(differs(&|recording| recording.generation.as_mut().unwrap().pushes[0].impulse_ns.x += 1.0));
    assert!(differs(&|recording| recording.recipe.as_mut().unwrap().plan[30][0] += 0.5));
}

fn refusal(recording: &Recording) -> GeneratorError {
    replay(recording, model(), |_| 0.0).expect_err("it cannot be replayed")
}

#[test]
fn rejects_rollouts_without_a_recipe_of_another_model_or_with_settings_of_another_version() {
    let recording = made(4);
    let mut old = recording.clone();
    old.recipe = None;
    assert!(matches!(refusal(&old), GeneratorError::NoRecipe { .. }));
    let changed = |from: &str, to: &str| {
        let mut other = recording.clone();
        let recipe = other.recipe.as_mut().unwrap();
        assert!(recipe.settings.contains(from), "{}", recipe.settings);
        recipe.settings = recipe.settings.replacen(from, to, 1);
        refusal(&other)
    };
    let hash = model().files_sha256.clone().unwrap();
    let other = changed(&hash, "00ff");
    assert!(matches!(other, GeneratorError::OtherModel { .. }), "{other}");
    assert!(other.to_string().contains("00ff") && other.to_string().contains(&hash), "{other}");
    for (from, to, word) in [
        ("direction_bias = 2.0\n", "", "other settings"),
        ("direction_bias = 2.0\n", "direction_bias = 2.0\nwings = 2\n", "wings"),
        ("seed = \"4\"", "seed = \"four\"", "four"),
        ("made_by", "mad_by", "mad_by"),
    ] {
        let told = changed(from, to);
        assert!(matches!(told, GeneratorError::BadRecipe { .. }), "{told}");
        assert!(told.to_string().contains(word), "{told}");
    }
}
