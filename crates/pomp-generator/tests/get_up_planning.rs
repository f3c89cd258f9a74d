//! A fallen body that gets up by plans: nothing outside holds it.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use glam::{Vec2, Vec3};
use pomp_embedded::Device;
use pomp_generator::{
    CharacterInput, CharacterSetup, ControlPlan, Ensemble, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset,
    StepOutput,
};
use pomp_model::Model;
use pomp_motion::{Gait, humanoid};
use pomp_physics::Push;
use pomp_terrain::HeightMap;
use std::sync::LazyLock;

static MODEL: LazyLock<Model> = LazyLock::new(|| pomp_embedded::load(&Device::flex()).unwrap());

const PUSHED_AT: usize = 30;

fn generator(config: &GeneratorConfig, seed: u64) -> Generator {
    Generator::new(&MODEL, HeightMap::flat(40.0, 0.5).unwrap(), config, Gait::Stand, seed).unwrap()
}

fn push(impulse_ns: Vec3) -> Push {
    Push { body: humanoid::SPINE2.0, impulse_ns, point: None }
}

fn rises(step: &StepOutput) -> bool {
    Gait::dominant(&step.gait) == Gait::GetUp
}

/// Steps of a standing character that a push fells, until it has been up again for a second.
fn fall_and_rise(impulse_ns: Vec3, seed: u64) -> Vec<StepOutput> {
    let plan = ControlPlan::preset(Preset::Stand, 25.0, FRAME_RATE_HZ);
    let mut generator = generator(&GeneratorConfig::own_feet(), seed);
    let push = push(impulse_ns);
    let (mut steps, mut up): (Vec<StepOutput>, usize) = (Vec::new(), 0);
    while steps.len() < (24.0 * FRAME_RATE_HZ) as usize && up < 60 {
        let pushes = if steps.len() == PUSHED_AT { std::slice::from_ref(&push) } else { &[] };
        steps.push(generator.step(&plan, pushes).unwrap());
        let has_fallen = steps.iter().any(|step| step.fallen);
        up = if has_fallen && !steps[steps.len() - 1].fallen { up + 1 } else { 0 };
    }
    steps
}

#[test]
fn bodies_on_their_front_and_on_their_back_get_up_and_nothing_outside_holds_them() {
    let front = |step: &StepOutput| (step.simulated.pose.rotations[0] * Vec3::Z).y;
    let lay: Vec<f32> = [-220.0, 250.0]
        .into_iter()
        .map(|impulse_ns| {
            let steps = fall_and_rise(Vec3::Z * impulse_ns, 5);
            let lay = steps.iter().find(|step| rises(step)).map(front).unwrap();
            let heights: Vec<f32> =
                steps.iter().step_by(30).map(|step| step.simulated.pose.positions[0].y).collect();
            let last = &steps[steps.len() - 1];
            assert!(!last.fallen, "{impulse_ns} N·s: pelvis at {heights:.2?}");
            let trunk = last.simulated.pose.positions[humanoid::NECK.0] - last.simulated.pose.positions[0];
            assert!(trunk.normalize().y > 0.9 && last.simulated.pose.positions[0].y > 0.8, "it stands");
            for step in &steps {
                let outside = [step.simulated.assist_force, step.simulated.assist_torque];
                assert_eq!(outside, [Vec3::ZERO; 2], "something holds it");
            }
            lay
        })
        .collect();
    assert!(lay.iter().any(|front| *front > 0.3), "one lies on its back: {lay:.2?}");
    assert!(lay.iter().any(|front| *front < -0.3), "one lies on its front: {lay:.2?}");
}

#[test]
fn a_snapshot_of_a_body_that_gets_up_by_plans_goes_on_bit_for_bit() {
    let config = GeneratorConfig::own_feet();
    let plan = ControlPlan::preset(Preset::Stand, 10.0, FRAME_RATE_HZ);
    let mut first = generator(&config, 5);
    let push = push(Vec3::Z * 250.0);
    let mut rising = 0;
    for frame in 0..600 {
        let step =
            first.step(&plan, if frame == PUSHED_AT { std::slice::from_ref(&push) } else { &[] }).unwrap();
        rising += usize::from(rises(&step));
        if rising == 45 {
            break;
        }
    }
    assert_eq!(rising, 45, "it gets up");
    let saved = first.save();
    let mut second = generator(&config, 5);
    second.restore(&saved).unwrap();
    for frame in 0..20 {
        let [a, b] = [&mut first, &mut second].map(|generator| generator.step(&plan, &[]).unwrap());
        assert!(a.simulated.pose == b.simulated.pose, "frame {frame} differs");
    }
}

#[test]
fn plans_without_balance_are_refused_by_name() {
    let mut config = GeneratorConfig::own_feet();
    config.layers.balance_planning.enabled = false;
    config.layers.balance_policy.enabled = false;
    config.dynamic.balance.enabled = false;
    let ground = HeightMap::flat(40.0, 0.5).unwrap();
    let told = Generator::new(&MODEL, ground, &config, Gait::Stand, 5).err().unwrap().to_string();
    assert!(told.contains("layers.get_up_planning.enabled"), "{told}");
}

#[test]
fn alone_in_a_scene_it_gets_up_as_by_itself() {
    let mut config = GeneratorConfig::own_feet();
    config.layers.get_up_planning.rounds = 0;
    let plan = ControlPlan::preset(Preset::Stand, 10.0, FRAME_RATE_HZ);
    let ground = HeightMap::flat(40.0, 0.5).unwrap();
    let setup = CharacterSetup {
        settings: config.clone(),
        start: Gait::Stand,
        seed: 5,
        position: Vec2::ZERO,
        yaw: 0.0,
    };
    let mut scene = Ensemble::new(&MODEL, &ground, &[setup]).unwrap();
    let mut alone = generator(&config, 5);
    let push = push(Vec3::Z * -220.0);
    let mut rising = 0;
    for frame in 0..300 {
        let pushes = if frame == PUSHED_AT { std::slice::from_ref(&push) } else { &[] };
        let step = alone.step(&plan, pushes).unwrap();
        let steps = scene.step(&[CharacterInput { plan: &plan, pushes }]).unwrap();
        assert_eq!(steps[0].simulated.pose, step.simulated.pose, "frame {frame}");
        rising += usize::from(rises(&step));
    }
    assert!(rising > 60, "{rising} frames of getting up");
}
