//! A fallen body that a get-up policy leads.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use glam::Vec3;
use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_model::Model;
use pomp_motion::{Gait, humanoid};
use pomp_physics::Push;
use pomp_policy::{Policy, PolicyDescription, PolicyKind, PolicyNetwork, PolicySizes};
use pomp_terrain::HeightMap;
use std::collections::BTreeMap;

const SHARE: f32 = 1.0;
const BODY_WEIGHT_N: f32 = 75.0 * 9.81;

/// The embedded model with a policy that does next to nothing.
fn model() -> Model {
    let device = Device::flex();
    let mut model = pomp_embedded::load(&device).unwrap();
    let [observations, actions] = PolicyKind::GetUp.widths();
    let sizes = PolicySizes { hidden: vec![8] };
    let mut network = PolicyNetwork::new(&sizes.hidden, [observations, actions], &device);
    let last = network.layers.last_mut().unwrap();
    last.weight = last.weight.clone().map(|weight| weight * 0.01);
    let description = PolicyDescription {
        made_by: "a test".to_owned(),
        config: serde_json::Value::Null,
        seed: 1,
        model_sha256: String::new(),
        sizes,
        mean: vec![0.0; observations],
        deviation: vec![1.0; observations],
        metrics: BTreeMap::new(),
    };
    model.get_up_policy = Some(Policy { kind: PolicyKind::GetUp, description, network, file_sha256: None });
    model
}

fn config() -> GeneratorConfig {
    let mut config = GeneratorConfig::own_feet();
    config.layers.balance_planning.enabled = false;
    config.layers.get_up_planning.enabled = false;
    config.layers.fall_recovery.by_policy = true;
    config.layers.fall_recovery.led_assist = SHARE;
    config
}

fn generator(model: &Model, config: &GeneratorConfig) -> Generator {
    Generator::new(model, HeightMap::flat(40.0, 0.5).unwrap(), config, Gait::Stand, 5).unwrap()
}

#[test]
fn a_body_on_its_back_rolls_over_and_gets_up_with_its_share_of_the_assist_alone() {
    let (model, config) = (model(), config());
    let plan = ControlPlan::preset(Preset::Stand, 20.0, FRAME_RATE_HZ);
    let push = Push { body: humanoid::SPINE2.0, impulse_ns: Vec3::Z * 300.0, point: None };
    let mut generator = generator(&model, &config);
    let frames = (19.0 * FRAME_RATE_HZ) as usize;
    let step = |frame| generator.step(&plan, if frame == 30 { std::slice::from_ref(&push) } else { &[] });
    let steps: Vec<_> = (0..frames).map(step).collect::<Result<_, _>>().unwrap();
    let fell = steps.iter().position(|step| step.fallen).expect("the push fells it");
    let rises = |step: &&pomp_generator::StepOutput| Gait::dominant(&step.gait) == Gait::GetUp;
    let front = |step: &pomp_generator::StepOutput| (step.simulated.pose.rotations[0] * Vec3::Z).y;
    let first = steps.iter().find(rises).expect("it begins to get up");
    assert!(front(first) > 0.3, "it lies on its back: {}", front(first));
    let rolled = steps.iter().filter(rises).any(|step| front(step) < -0.5);
    assert!(rolled, "it rolls over");
    let heights: Vec<f32> = steps.iter().step_by(30).map(|step| step.simulated.pose.positions[0].y).collect();
    assert!(steps[fell..].iter().any(|step| !step.fallen), "it gets up: pelvis at {heights:.2?}");
    let assist = &config.dynamic.assist;
    for step in &steps {
        let force = step.simulated.assist_force.length() / BODY_WEIGHT_N;
        let torque = step.simulated.assist_torque.length() / BODY_WEIGHT_N;
        assert!(force < 1.03 * SHARE * assist.horizontal_limit_bw, "{force} body weights");
        assert!(torque < 1.03 * SHARE * assist.angular_limit_bw_m, "{torque} body weights × metre");
        assert!(rises(&step) || (force == 0.0 && torque == 0.0), "it is held while it gets up alone");
    }
}

#[test]
fn a_snapshot_of_a_body_that_the_policy_leads_goes_on_bit_for_bit() {
    let (model, config) = (model(), config());
    let plan = ControlPlan::preset(Preset::Stand, 10.0, FRAME_RATE_HZ);
    let push = Push { body: humanoid::SPINE2.0, impulse_ns: Vec3::Z * 250.0, point: None };
    let mut first = generator(&model, &config);
    let mut rising = 0;
    for frame in 0..600 {
        let step = first.step(&plan, if frame == 30 { std::slice::from_ref(&push) } else { &[] }).unwrap();
        rising += usize::from(Gait::dominant(&step.gait) == Gait::GetUp);
        if rising == 45 {
            break;
        }
    }
    assert_eq!(rising, 45, "it gets up");
    let saved = first.save();
    let mut second = generator(&model, &config);
    second.restore(&saved).unwrap();
    for frame in 0..30 {
        let [a, b] = [&mut first, &mut second].map(|generator| generator.step(&plan, &[]).unwrap());
        assert!(a.simulated.pose == b.simulated.pose, "frame {frame} differs");
    }
}

#[test]
fn a_model_without_such_a_policy_is_refused_by_name() {
    let mut model = model();
    model.get_up_policy = None;
    let ground = HeightMap::flat(10.0, 0.5).unwrap();
    let told = Generator::new(&model, ground, &config(), Gait::Stand, 5).err().unwrap().to_string();
    assert!(told.contains("get-up policy") && told.contains("get-up"), "{told}");
}
