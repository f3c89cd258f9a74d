//! Characters whose networks run together do what each does alone, to the bit.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{
    CharacterInput, CharacterSetup, ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, GeneratorError,
    Networks, PhaseFeedback, Preset, RolloutRecipe, ScheduledPush, StepOutput, Worlds,
};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_motion::glam::{Vec2, Vec3};
use pomp_physics::Push;
use pomp_terrain::HeightMap;

const FRAMES: usize = 420;

/// One of several characters, each on other ground, with another command and seed; one falls over a push of 400 N·s and gets
/// up, so that the networks run for the others alone.
struct Cast {
    terrain: HeightMap,
    plan: ControlPlan,
    setup: CharacterSetup,
    push_ns: f32,
}

fn cast() -> Vec<Cast> {
    let parts = [
        ("flat", Preset::Walk, 0.0),
        ("hills", Preset::Walk, 0.0),
        ("flat", Preset::Walk, 400.0),
        ("stairs", Preset::Walk, 60.0),
        ("flat", Preset::Jog, 0.0),
    ];
    let member = |(seed, (ground, preset, push_ns)): (usize, (&str, Preset, f32))| Cast {
        terrain: pomp_terrain::generate(&pomp_terrain::preset(ground).unwrap().reaching(40.0), 7).unwrap(),
        plan: ControlPlan::preset(preset, 20.0, FRAME_RATE_HZ),
        setup: CharacterSetup {
            settings: GeneratorConfig::default(),
            start: Gait::Walk,
            seed: 11 + seed as u64,
            position: Vec2::ZERO,
            yaw: 0.0,
        },
        push_ns,
    };
    parts.into_iter().enumerate().map(member).collect()
}

fn pushes(cast: &Cast, frame: usize) -> Vec<Push> {
    let push = Push { body: 0, impulse_ns: Vec3::new(cast.push_ns, 0.0, 0.0), point: None };
    if frame == 150 && cast.push_ns > 0.0 { vec![push] } else { Vec::new() }
}

/// All that a step gave, bit by bit.
fn bits(step: &StepOutput) -> Vec<u32> {
    let joints = step.simulated.pose.positions.iter().chain(&step.target.positions);
    let numbers = joints.chain(&step.simulated.contact_impulse).flat_map(Vec3::to_array);
    numbers.chain(step.phase_code.iter().copied()).chain(step.gait).map(f32::to_bits).collect()
}

#[test]
fn characters_whose_networks_run_together_do_what_each_does_alone_to_the_bit() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let cast = cast();
    let networks = Networks::new(&model, &cast[0].setup.settings).unwrap();
    let mut worlds = Worlds::new(networks);
    for member in &cast {
        worlds.add(&model, member.terrain.clone(), &member.setup).unwrap();
    }
    let mut alone: Vec<Generator> = cast
        .iter()
        .map(|Cast { terrain, setup, .. }| {
            Generator::new(&model, terrain.clone(), &setup.settings, setup.start, setup.seed).unwrap()
        })
        .collect();
    let mut fallen = vec![0; cast.len()];
    for frame in 0..FRAMES {
        let pushes: Vec<Vec<Push>> = cast.iter().map(|member| pushes(member, frame)).collect();
        let inputs: Vec<CharacterInput<'_>> = cast
            .iter()
            .zip(&pushes)
            .map(|(member, pushes)| CharacterInput { plan: &member.plan, pushes })
            .collect();
        let steps = worlds.step(&inputs);
        for (at, (step, generator)) in steps.into_iter().zip(&mut alone).enumerate() {
            let (step, expected) =
                (step.unwrap(), generator.step(inputs[at].plan, inputs[at].pushes).unwrap());
            assert_eq!(bits(&step), bits(&expected), "frame {frame} of character {at}");
            assert_eq!(worlds.characters()[at].expert_gates(), generator.expert_gates());
            fallen[at] += usize::from(step.fallen);
        }
    }
    println!("frames on the ground: {fallen:?}");
    assert!(fallen[2] > 0 && fallen[0] == 0, "one falls and another does not: {fallen:?}");
    // The control: the characters differ.
    let places: Vec<Vec2> = alone.iter().map(Generator::root_position).collect();
    assert!(places.windows(2).all(|pair| pair[0] != pair[1]));
}

fn recipe(model: &Model, member: &Cast, frames: usize) -> RolloutRecipe {
    RolloutRecipe {
        model_sha256: model.files_sha256.clone().unwrap(),
        settings: member.setup.settings.clone(),
        start: member.setup.start,
        seed: member.setup.seed,
        plan: member.plan.clone(),
        pushes: vec![ScheduledPush { time_s: 0.5, body: 0, impulse_ns: Vec3::X * member.push_ns.max(1.0) }],
        throws: Vec::new(),
        terrain: member.terrain.clone(),
        frames,
    }
}

#[test]
fn rollouts_made_together_are_those_made_alone_whatever_their_lengths_and_failures() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let mut recipes: Vec<RolloutRecipe> = cast()
        .iter()
        .zip([60, 45, 90, 1, 75])
        .map(|(member, frames)| recipe(&model, member, frames))
        .collect();
    // One fails before it begins, one in its 30th frame, one in its settings.
    recipes[1].frames = 0;
    recipes[2].pushes[0].impulse_ns = Vec3::splat(f32::NAN);
    recipes.push(RolloutRecipe {
        settings: GeneratorConfig { phase_feedback: PhaseFeedback::Predicted, ..GeneratorConfig::default() },
        ..recipes[0].clone()
    });
    let networks = Networks::new(&model, &recipes[0].settings).unwrap();
    let named: Vec<(&RolloutRecipe, &str)> = recipes.iter().map(|recipe| (recipe, "rollout")).collect();
    let found = RolloutRecipe::run_together(&named, &model, &networks);
    for (at, (recipe, found)) in recipes.iter().zip(found).enumerate() {
        match (at, found) {
            (1, Err(error)) => assert!(matches!(error, GeneratorError::BadControl { .. }), "{error}"),
            (2, Err(error)) => {
                let expected = recipe.run(&model, "rollout", |_| 0.0).unwrap_err();
                assert_eq!(error.to_string(), expected.to_string());
            }
            (5, Err(error)) => {
                assert!(error.to_string().contains("phase_feedback"), "{error}");
            }
            (_, Ok(found)) => {
                let mut expected = recipe.run(&model, "rollout", |_| 0.0).unwrap();
                expected.generation.as_mut().unwrap().frame_time_us = None;
                assert_eq!(found, expected, "rollout {at}");
                assert_eq!(found.frames(), recipe.frames);
            }
            (_, Err(error)) => panic!("rollout {at}: {error}"),
        }
    }
}

#[test]
fn rejects_a_character_whose_sampler_is_not_the_one_of_the_networks() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let Cast { terrain, mut setup, .. } = cast().remove(0);
    let mut worlds = Worlds::new(Networks::new(&model, &setup.settings).unwrap());
    setup.settings.sampler.steps = 2;
    let error = worlds.add(&model, terrain, &setup).unwrap_err();
    assert!(error.to_string().contains("[sampler]"), "{error}");
    assert!(worlds.characters().is_empty());
}
