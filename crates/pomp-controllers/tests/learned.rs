//! The networks of learned motion matching beside the same in double precision (`parity/learned.py` writes the fixture), their file, and the
//! controller on weights that nothing has trained.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use burn::module::Param;
use burn::tensor::{Device, TensorData};
use glam::{Quat, Vec2, Vec3};
use pomp_controllers::gated::{GatedNetwork, PackedNetwork, Room};
use pomp_controllers::learned::{
    LearnedController, LearnedDescription, LearnedModel, LearnedSizes, PoseLayout, Scales, plain_network,
};
use pomp_controllers::{Controller, ControllerError, ControllerKind, TrainedController};
use pomp_kinematic::ExpertLinear;
use pomp_motion::features::{CharacterState, InputFrame, KEY_OFFSETS, OutputFrame, WindowKey};
use pomp_motion::{Gait, Pose, RootFrame, Skeleton};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    stepper: Vec<Layer>,
    mean: Vec<f32>,
    deviation: Vec<f32>,
    entries: Vec<Vec<f32>>,
    projector: Vec<Layer>,
    query: Vec<f32>,
    projected: Vec<f32>,
}

#[derive(Deserialize)]
struct Layer {
    shape: [usize; 3],
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// A network with given weights, packed.
fn packed(layers: &[Layer]) -> PackedNetwork {
    let device = Device::flex();
    let hidden: Vec<usize> = layers[1..].iter().map(|layer| layer.shape[1]).collect();
    let widths = [layers[0].shape[1], layers[layers.len() - 1].shape[2]];
    let mut network: GatedNetwork = plain_network(&hidden, widths, 1, &device).unwrap();
    let given = |layer: &Layer| ExpertLinear {
        weight: Param::from_data(TensorData::new(layer.weight.clone(), layer.shape), &device),
        bias: Param::from_data(TensorData::new(layer.bias.clone(), [1, 1, layer.shape[2]]), &device),
    };
    network.layers = layers.iter().map(given).collect();
    PackedNetwork::new(&network).unwrap()
}

fn assert_close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 2e-5, "{what}: {found} is not {expected}");
    }
}

#[test]
fn stepper_and_projector_are_those_of_double_precision() {
    let fixture: Fixture = serde_json::from_str(include_str!("parity/learned.json")).unwrap();
    let (stepper, projector) = (packed(&fixture.stepper), packed(&fixture.projector));
    let mut room = Room::default();
    let mut entry = fixture.entries[0].clone();
    for expected in &fixture.entries[1..] {
        let mut change = vec![0.0; entry.len()];
        stepper.run(&entry, &[1.0], &mut room, &mut change);
        for (at, value) in entry.iter_mut().enumerate() {
            *value += change[at] * fixture.deviation[at] + fixture.mean[at];
        }
        assert_close(&entry, expected, "stepper");
    }
    let mut projected = vec![0.0; fixture.projected.len()];
    projector.run(&fixture.query, &[1.0], &mut room, &mut projected);
    assert_close(&projected, &fixture.projected, "projector");
}

/// Networks that nothing has trained, over poses around the rest.
fn model() -> LearnedModel {
    let skeleton = Skeleton::humanoid(1.75);
    let layout = PoseLayout::new(skeleton.len());
    let mut pose = Scales { mean: vec![0.0; layout.width()], deviation: vec![0.05; layout.width()] };
    for columns in pose.mean[layout.rotations()].chunks_exact_mut(6) {
        columns.copy_from_slice(&pomp_motion::rotation::to_6d(Quat::IDENTITY));
    }
    pose.mean[layout.height()] = 0.95;
    let sizes = LearnedSizes { code: 5, hidden: 16, compressor_hidden: 16 };
    let of = |width| Scales { mean: vec![0.0; width], deviation: vec![0.1; width] };
    let description = LearnedDescription {
        kind: ControllerKind::LearnedMatching,
        made_by: "a test".to_owned(),
        config: serde_json::Value::Null,
        seed: 3,
        data_hash: String::new(),
        data: Vec::new(),
        skeleton,
        sizes,
        features: Scales { mean: vec![0.0; 27], deviation: vec![1.0; 27] },
        pose,
        change: of(27 + sizes.code),
        metrics: std::collections::BTreeMap::new(),
    };
    let networks = description.fresh(&Device::flex()).unwrap();
    LearnedModel { description, networks }
}

fn bytes(model: &LearnedModel) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("learned-matching.safetensors");
    model.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn step(controller: &mut dyn Controller, ahead_m: f32) -> Result<OutputFrame, ControllerError> {
    let skeleton = Skeleton::humanoid(1.75);
    let mut pose = Pose::rest(&skeleton);
    pose.root_position = Vec3::Y * 0.95;
    let still = vec![Vec3::ZERO; skeleton.len()];
    let state = CharacterState::from_world(&skeleton, &skeleton.forward_kinematics(&pose), &still, 0.0, 0.0);
    let keys = KEY_OFFSETS.map(|offset| WindowKey {
        position: Vec2::new(0.0, ahead_m * offset as f32 / 60.0),
        yaw: 0.0,
        gait: Gait::Walk.one_hot(),
    });
    let input = InputFrame {
        state: &CharacterState { frame: RootFrame { origin: Vec3::ZERO, yaw: 0.0 }, ..state },
        keys: &keys,
        phase_codes: &[0.5; 130],
        contact_impulse: &[],
        weight_impulse_ns: 12.0,
    };
    controller.step(&input, &|_, _| 0.0)
}

#[test]
fn a_clone_goes_on_bit_for_bit_and_a_restart_begins_anew() {
    let mut controller = LearnedController::new(model()).unwrap();
    let first = step(&mut controller, 1.2).unwrap();
    (0..9).for_each(|_| drop(step(&mut controller, 1.2).unwrap()));
    let mut copy = controller.clone();
    for _ in 0..9 {
        let [one, other] = [&mut controller, &mut copy].map(|it| step(it, 0.4).unwrap());
        assert_eq!(one, other);
        assert!(one.positions_root.iter().all(|position| position.is_finite()));
    }
    controller.restart();
    assert_eq!(step(&mut controller, 1.2).unwrap(), first);
}

#[test]
fn a_file_holds_what_was_saved_and_says_so_twice() {
    let model = model();
    let saved = bytes(&model);
    let read = LearnedModel::from_bytes(&saved, "it", &Device::flex()).unwrap();
    assert_eq!(read.description, model.description);
    // Half precision has been rounded once.
    assert_eq!(bytes(&read), saved);
}

#[test]
fn rejects_commands_that_are_not_finite() {
    let mut controller = LearnedController::new(model()).unwrap();
    let said = step(&mut controller, f32::NAN).unwrap_err().to_string();
    assert!(said.contains("learned-matching") && said.contains("not finite"), "{said}");
}

#[test]
fn rejects_files_of_other_controllers_damaged_ones_and_descriptions_that_do_not_fit() {
    let device = Device::flex();
    let saved = bytes(&model());
    let read = |kind, bytes: &[u8]| {
        TrainedController::from_bytes(kind, bytes, "it.safetensors", &device).unwrap_err().to_string()
    };
    assert!(read(ControllerKind::Pfnn, &saved).contains("it.safetensors"));
    assert!(read(ControllerKind::LearnedMatching, &saved[..saved.len() / 2]).contains("it.safetensors"));
    type Change<'a> = &'a dyn Fn(&mut LearnedDescription);
    let cases: [(Change<'_>, &str); 5] = [
        (&|it| it.kind = ControllerKind::Matching, "holds the controller matching"),
        (&|it| it.features.mean.truncate(20), "scales of features"),
        (&|it| it.pose.deviation[3] = 0.0, "scale of the pose"),
        (&|it| it.change.mean.push(0.0), "scales of changes"),
        (&|it| it.sizes.hidden = 0, "hidden"),
    ];
    for (change, expected) in cases {
        let mut other = model();
        change(&mut other.description);
        let said = read(ControllerKind::LearnedMatching, &bytes(&other));
        assert!(said.contains(expected), "{expected}: {said}");
    }
}
