//! Characters of other heights than the model's.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::{Device, Model};
use pomp_generator::layers::StatureConfig;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, GeneratorConfig, Preset, RolloutRecipe, replay};
use pomp_motion::{JointIndex, Recording, humanoid};
use pomp_terrain::HeightMap;
use std::sync::OnceLock;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded::load(&Device::flex()).unwrap())
}

fn of_height(stature_m: Option<f32>) -> GeneratorConfig {
    let mut config = GeneratorConfig::default();
    config.layers.stature = StatureConfig::of_height(stature_m);
    config
}

fn walk(stature_m: Option<f32>, frames: usize) -> Recording {
    let plan = ControlPlan::preset(Preset::Walk, 12.0, FRAME_RATE_HZ);
    let recipe = RolloutRecipe {
        model_sha256: model().files_sha256.clone().unwrap(),
        settings: of_height(stature_m),
        start: plan.at(0.0).gait,
        seed: 5,
        plan,
        pushes: Vec::new(),
        throws: Vec::new(),
        terrain: HeightMap::flat(40.0, 1.0).unwrap(),
        frames,
    };
    recipe.run(model(), "rollout", |_| 0.0).unwrap()
}

#[test]
fn the_small_and_the_tall_walk_at_the_pace_asked_for_on_bones_of_their_own() {
    let trained = &model().description.skeleton;
    let model_m = pomp_physics::body_height(trained);
    // Speed, and mean heights of the hips and of the lower ankle as shares of the body's.
    let gait = |stature_m: Option<f32>| {
        let rollout = walk(stature_m, 480);
        let height_m = stature_m.unwrap_or(model_m);
        for (own, of_model) in rollout.skeleton.joints().iter().zip(trained.joints()) {
            assert!((own.offset - of_model.offset * (height_m / model_m)).length() < 1e-5);
        }
        let height = |frame: usize, joint: JointIndex| rollout.positions[frame][joint.0];
        let hips = |frame| height(frame, humanoid::HIPS);
        let lower = |frame| height(frame, humanoid::LEFT_FOOT).y.min(height(frame, humanoid::RIGHT_FOOT).y);
        let mean = |of: &dyn Fn(usize) -> f32| (180..480).map(of).sum::<f32>() / 300.0 / height_m;
        [(hips(479) - hips(179)).length() / 5.0, mean(&|frame| hips(frame).y), mean(&lower)]
    };
    let model = gait(None);
    for stature_m in [1.5, 2.0] {
        let own = gait(Some(stature_m));
        println!("{stature_m} m: speed, hips and lower ankle {own:.3?}; the model's {model:.3?}");
        assert!((own[0] - 1.2).abs() < 0.1);
        assert!((own[1] - model[1]).abs() < 0.02, "it walks as upright as the model's");
        assert!((own[2] - model[2]).abs() < 0.01, "on the ground as the model's");
    }
}

#[test]
fn the_record_holds_the_stature_and_that_of_the_models_height_says_that_the_layer_is_off() {
    let mut rollout = walk(Some(1.6), 60);
    rollout.generation.as_mut().unwrap().frame_time_us = None;
    let told = "[generator.layers.stature]\nenabled = true\nheight_m = 1.6";
    assert!(rollout.recipe.as_ref().unwrap().settings.contains(told));
    assert_eq!(replay(&rollout, model(), |_| 0.0).unwrap().differences, []);
    assert!(walk(None, 2).recipe.unwrap().settings.contains("[generator.layers.stature]\nenabled = false"));
}

#[test]
fn rejects_statures_that_are_not_served() {
    for stature_m in [0.0, 1.4, 2.1, f32::NAN, -1.6] {
        let config = of_height(Some(stature_m));
        let error = config.validate().unwrap_err().to_string();
        assert!(error.contains("layers.stature.height_m") && error.contains("1.5 to 2"), "{error}");
    }
}
