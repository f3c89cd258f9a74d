//! Characters of one world bump into each other, and their rollouts are made again from one record alone.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::{Device, Model};
use pomp_formats::{read_recording, write_recording};
use pomp_generator::layers::StatureConfig;
use pomp_generator::{
    CharacterInput, CharacterRecipe, CharacterSetup, ControlPlan, Dynamics, Ensemble, EnsembleRecipe,
    FRAME_RATE_HZ, GeneratorConfig, GeneratorError, Preset, ScheduledPush, ScheduledThrow, replay,
};
use pomp_motion::glam::{Vec2, Vec3};
use pomp_motion::humanoid;
use pomp_terrain::HeightMap;
use std::f32::consts::PI;
use std::sync::OnceLock;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded::load(&Device::flex()).unwrap())
}

fn walker(x: f32, z: f32, yaw: f32, seed: u64) -> (CharacterSetup, ControlPlan) {
    let position = Vec2::new(x, z);
    let plan = ControlPlan::preset(Preset::Walk, 8.0, FRAME_RATE_HZ).moved(position, yaw);
    let settings = GeneratorConfig::default();
    (CharacterSetup { settings, start: plan.at(0.0).gait, seed, position, yaw }, plan)
}

/// Two characters that walk towards each other, 20 cm beside each other's line, `apart` from each other sideways.
fn two(aside: f32) -> Vec<(CharacterSetup, ControlPlan)> {
    vec![walker(0.0, -1.5, 0.0, 1), walker(aside, 1.5, PI, 2)]
}

#[test]
fn two_who_walk_into_each_other_are_displaced_by_equal_and_opposite_impulses() {
    let ground = HeightMap::flat(20.0, 0.5).unwrap();
    // Least forward progress of each after three seconds, largest mutual impulse, largest difference.
    let run = |aside: f32| {
        let (cast, plans): (Vec<CharacterSetup>, Vec<ControlPlan>) = two(aside).into_iter().unzip();
        let mut ensemble = Ensemble::new(model(), &ground, &cast).unwrap();
        let (mut exchanged, mut unlike) = (0.0f32, 0.0f32);
        let mut places = Vec::new();
        for _ in 0..180 {
            let parts: Vec<CharacterInput<'_>> =
                plans.iter().map(|plan| CharacterInput { plan, pushes: &[] }).collect();
            let steps = ensemble.step(&parts).unwrap();
            let on: Vec<Vec3> =
                steps.iter().map(|step| step.simulated.character_impulse.iter().copied().sum()).collect();
            exchanged += on[0].length();
            unlike = unlike.max((on[0] + on[1]).length());
            assert!(steps.iter().all(|step| step.simulated.pose.positions.iter().all(|p| p.is_finite())));
            places = steps.iter().map(|step| step.simulated.pose.positions[humanoid::HIPS.0]).collect();
        }
        (exchanged, unlike, places)
    };
    let (met, unlike, places) = run(0.15);
    let (none, _, free) = run(2.0);
    let displaced = [0, 1].map(|i| {
        let beside = Vec3::X * if i == 1 { 2.0 - 0.15 } else { 0.0 };
        (places[i] + beside - free[i]).length()
    });
    println!(
        "{met:.1} N s between them, pairs unlike by {unlike:e}; without a meeting they are {displaced:?} m elsewhere"
    );
    assert!(met > 20.0 && unlike < 1e-3 && none == 0.0);
    assert!(displaced[0] > 0.3 || displaced[1] > 0.3);
}

fn recipe() -> EnsembleRecipe {
    let mut cast: Vec<CharacterRecipe> = two(0.2)
        .into_iter()
        .map(|(setup, plan)| CharacterRecipe { setup, plan, pushes: Vec::new(), throws: Vec::new() })
        .collect();
    // A seed beyond the integers of TOML, and numbers that are not round.
    cast[0].setup.seed = u64::MAX;
    cast[0].setup.settings.layers.stature = StatureConfig::of_height(Some(1.6));
    cast[0].pushes =
        vec![ScheduledPush { time_s: 0.4, body: 0, impulse_ns: Vec3::new(10.0 / 3.0, 0.0, 1.0) }];
    cast[1].setup.settings.dynamic.mass_kg = 90.1;
    cast[1].throws =
        vec![ScheduledThrow { time_s: 0.5, body: 11, mass_kg: 3.3, speed_m_s: 8.0, from_deg: 0.0 }];
    EnsembleRecipe {
        model_sha256: model().files_sha256.clone().unwrap(),
        characters: cast,
        terrain: pomp_terrain::generate(&pomp_terrain::preset("hills").unwrap(), 3).unwrap(),
        frames: 110,
    }
}

#[test]
fn each_character_is_replayed_bit_for_bit_from_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let made = recipe().run(model(), |_| 0.0).unwrap();
    let names: Vec<&str> = made.iter().map(|recording| recording.name.as_str()).collect();
    assert_eq!(names, ["character_1", "character_2"]);
    for (i, mut recording) in made.into_iter().enumerate() {
        recording.generation.as_mut().unwrap().frame_time_us = None;
        let path = folder.path().join(format!("{i}.npz"));
        write_recording(&path, &recording).unwrap();
        let read = read_recording(&path).unwrap();
        let (found, character) = EnsembleRecipe::of_recording(&read).unwrap().unwrap();
        assert!(found == recipe() && character == i);
        assert_eq!(replay(&read, model(), |_| 0.0).unwrap().differences, []);
        // The control: another mass of the second shows in either.
        let mut other = read.clone();
        let settings = &mut other.recipe.as_mut().unwrap().settings;
        *settings = settings.replace("mass_kg = 90.1", "mass_kg = 60.1");
        assert_ne!(replay(&other, model(), |_| 0.0).unwrap().differences, []);
    }
}

#[test]
fn rejects_records_of_several_that_are_damaged() {
    let recipe = EnsembleRecipe { frames: 2, ..recipe() };
    let made = recipe.run(model(), |_| 0.0).unwrap().swap_remove(0);
    let rejected = |change: &dyn Fn(&mut pomp_motion::Recipe), word: &str| {
        let mut damaged = made.clone();
        change(damaged.recipe.as_mut().unwrap());
        let error = EnsembleRecipe::of_recording(&damaged).expect_err("it is damaged").to_string();
        assert!(error.contains(word), "{error}");
    };
    rejected(&|recipe| recipe.plan.truncate(3), "cut off");
    rejected(&|recipe| recipe.plan.push([0.0; 5]), "too many");
    rejected(&|recipe| recipe.plan[3][4] = 99.0, "gait 99");
    rejected(
        &|recipe| recipe.settings = recipe.settings.replace("character = 0", "character = 7"),
        "character 7",
    );
    rejected(&|recipe| recipe.settings = recipe.settings.replace("body = 11", "body = 99"), "body 99");
    rejected(&|recipe| recipe.settings = recipe.settings.replace("root_following", "misspelt"), "misspelt");
}

#[test]
fn rejects_scenes_that_cannot_be() {
    let ground = HeightMap::flat(20.0, 0.5).unwrap();
    let rejected = |change: &dyn Fn(&mut Vec<CharacterSetup>), word: &str| {
        let mut cast: Vec<CharacterSetup> = two(0.2).into_iter().map(|(setup, _)| setup).collect();
        change(&mut cast);
        let error = Ensemble::new(model(), &ground, &cast).err().expect("it cannot be");
        assert!(error.to_string().contains(word), "{error}");
        error
    };
    let is_scene = |error: GeneratorError| assert!(matches!(error, GeneratorError::BadScene { .. }));
    is_scene(rejected(&|cast| cast.clear(), "0 characters"));
    is_scene(rejected(&|cast| cast[1].position = Vec2::new(0.3, -1.2), "within"));
    is_scene(rejected(&|cast| cast[1].position.x = 40.0, "off the ground"));
    is_scene(rejected(&|cast| cast[0].yaw = f32::NAN, "not finite"));
    is_scene(rejected(&|cast| cast[0].settings.dynamics = Dynamics::KinematicOnly, "simulated"));
    rejected(&|cast| cast[0].settings.layers.stature.height_m = 0.9, "layers.stature.height_m");
    rejected(&|cast| cast[0].settings.dynamic.friction = 0.1, "friction");
}
