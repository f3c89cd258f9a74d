//! Networks of blended experts: the packed one equals the trained one, files come back, and every controller runs.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use glam::{Quat, Vec2, Vec3};
use pomp_controllers::gated::{
    Gate, GatedController, GatedDescription, GatedModel, GatedNetwork, GatedSizes, PackedNetwork, Room,
    cubic_weights,
};
use pomp_controllers::{Controller, ControllerError, ControllerKind, TrainedController};
use pomp_motion::features::{
    BlockName, CharacterState, FeatureLayout, InputFrame, KEYS, Normaliser, Rotations, WindowKey,
};
use pomp_motion::{Gait, PerJoint, RootFrame};
use std::collections::BTreeMap;

const GATED: [ControllerKind; 5] = [
    ControllerKind::Phase,
    ControllerKind::Pfnn,
    ControllerKind::Mann,
    ControllerKind::LocalPhases,
    ControllerKind::Nsm,
];

fn ramp(count: usize, seed: f32) -> Vec<f32> {
    (0..count).map(|i| ((i as f32 + seed) * 0.731).sin()).collect()
}

fn row(values: &[f32]) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values.to_vec(), [1, values.len()]), &Device::flex())
}

#[test]
fn the_packed_network_is_the_trained_one() {
    let sizes = GatedSizes { experts: 4, hidden: vec![37, 64], gate_hidden: vec![19], dropout: 0.5 };
    for (gate, read) in [(Gate::Learned(11), 11), (Gate::Given, 4)] {
        let network = GatedNetwork::new(&sizes, gate, [53, 71], 3, &Device::flex()).unwrap();
        let packed = PackedNetwork::new(&network).unwrap();
        let (mut room, mut y) = (Room::default(), vec![0.0; 71]);
        for seed in 0..8 {
            let x = ramp(53, seed as f32);
            let gate = match gate {
                Gate::Learned(_) => ramp(read, 10.0 + seed as f32),
                Gate::Given => cubic_weights(seed as f32 / 8.0).to_vec(),
            };
            packed.run(&x, &gate, &mut room, &mut y);
            let expected = network.forward(&row(&x), &row(&gate), None).try_into_vec_as::<f32>().unwrap();
            for (found, expected) in y.iter().zip(expected) {
                assert!((found - expected).abs() < 2e-5, "{found} {expected}");
            }
            let blend = network.blend(&row(&gate)).try_into_vec_as::<f32>().unwrap();
            for (found, expected) in room.blend().iter().zip(blend) {
                assert!((found - expected).abs() < 1e-6);
            }
        }
    }
}

fn model(kind: ControllerKind) -> GatedModel {
    let channels = match kind {
        ControllerKind::LocalPhases => 2,
        ControllerKind::Phase => 5,
        _ => 1,
    };
    let layout = FeatureLayout::new(22, 22, channels, Rotations::SixD);
    let normaliser = |blocks, len: usize| {
        let rows = [ramp(len, 1.0), ramp(len, 2.0), ramp(len, 4.0)];
        Normaliser::fit(blocks, rows.iter().map(Vec::as_slice))
    };
    let mut start = vec![0.0; layout.x_len()];
    for code in start[layout.x_range(BlockName::PhaseCodes)].chunks_exact_mut(2) {
        code.copy_from_slice(&[0.6, 0.8]);
    }
    let description = GatedDescription {
        kind,
        made_by: "a test".to_owned(),
        config: serde_json::json!({}),
        seed: 5,
        data_hash: "00".to_owned(),
        data: vec![("none".to_owned(), 1.0)],
        sizes: GatedSizes { hidden: vec![24], gate_hidden: vec![8], ..GatedSizes::of(kind) },
        x: normaliser(layout.x_blocks(), layout.x_len()),
        y: normaliser(layout.y_blocks(), layout.y_len()),
        starts: BTreeMap::from([("walk".to_owned(), start)]),
        layout,
        metrics: BTreeMap::new(),
    };
    let network = description.fresh(&Device::flex()).unwrap();
    GatedModel { description, network }
}

fn saved(model: &GatedModel) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("controller.safetensors");
    model.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

/// A state, and keys, that the network can be run on; a network of random weights asks nothing more.
struct Situation {
    state: CharacterState,
    keys: [WindowKey; KEYS],
    codes: Vec<f32>,
    impulses: Vec<Vec3>,
}

fn situation() -> Situation {
    let vectors =
        |seed: f32| -> PerJoint<Vec3> { ramp(66, seed).chunks_exact(3).map(Vec3::from_slice).collect() };
    let state = CharacterState {
        frame: RootFrame { origin: Vec3::ZERO, yaw: 0.2 },
        positions_root: vectors(1.0),
        velocities_root: vectors(2.0),
        rotations_local: PerJoint::from_elem(Quat::from_rotation_x(0.3), 22),
        root_velocity: Vec2::Y,
        yaw_rate: 0.1,
    };
    let keys = std::array::from_fn(|key| WindowKey {
        position: Vec2::new(0.0, key as f32 * 0.2),
        yaw: 0.0,
        gait: Gait::Walk.one_hot(),
    });
    Situation { state, keys, codes: vec![0.5; KEYS * 10], impulses: vec![Vec3::Y; 22] }
}

impl Situation {
    fn input(&self) -> InputFrame<'_> {
        InputFrame {
            state: &self.state,
            keys: &self.keys,
            phase_codes: &self.codes,
            contact_impulse: &self.impulses,
            weight_impulse_ns: 12.0,
        }
    }
}

#[test]
fn every_controller_comes_back_from_its_file_and_goes_on_from_a_copy_to_the_bit() {
    let situation = situation();
    for kind in GATED {
        let bytes = saved(&model(kind));
        let read = || TrainedController::from_bytes(kind, &bytes, "test", &Device::flex()).unwrap().begin();
        let (mut one, mut other) = (read(), read());
        for _ in 0..5 {
            let step = |controller: &mut Box<dyn Controller>| {
                controller.step(&situation.input(), &|_, _| 0.0).unwrap()
            };
            assert_eq!(step(&mut one), step(&mut other), "{kind}");
        }
        let mut copy = one.clone();
        let output = one.step(&situation.input(), &|_, _| 0.1).unwrap();
        assert_eq!(output, copy.step(&situation.input(), &|_, _| 0.1).unwrap());
        assert_eq!(output.phase_codes.len(), 7 * 10, "codes of the loop's channels");
        copy.restart();
        other = read();
        assert_eq!(
            copy.step(&situation.input(), &|_, _| 0.0).unwrap(),
            other.step(&situation.input(), &|_, _| 0.0).unwrap(),
            "{kind} begins anew"
        );
    }
}

#[test]
fn the_phase_of_a_phase_functioned_network_never_turns_back() {
    let mut model = model(ControllerKind::Pfnn);
    // Frequencies far below 0.
    let layout = model.description.layout.clone();
    let frequency = layout.y_range(BlockName::PhaseParameters).start;
    let columns = model.description.columns();
    let output = columns.outputs.iter().position(|column| *column == frequency).unwrap();
    let last = model.network.layers.last_mut().unwrap();
    last.bias = last.bias.clone().map(|bias| {
        let [experts, one, outputs] = bias.dims();
        let mut values = bias.into_data().iter::<f32>().collect::<Vec<_>>();
        values.iter_mut().skip(output).step_by(outputs).for_each(|value| *value = -1000.0);
        Tensor::from_data(TensorData::new(values, [experts, one, outputs]), &Device::flex())
    });
    let situation = situation();
    let mut controller = GatedController::new(model).unwrap();
    controller.step(&situation.input(), &|_, _| 0.0).unwrap();
    let before = controller.phase_code().unwrap().to_vec();
    controller.step(&situation.input(), &|_, _| 0.0).unwrap();
    assert_eq!(controller.phase_code().unwrap(), before);
}

#[test]
fn a_network_without_dropout_gives_the_same_with_and_without_a_generator() {
    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    let sizes = GatedSizes { experts: 2, hidden: vec![16], gate_hidden: vec![4], dropout: 0.0 };
    let network = GatedNetwork::new(&sizes, Gate::Learned(5), [7, 3], 1, &Device::flex()).unwrap();
    let (x, gate) = (row(&ramp(7, 0.1)), row(&ramp(5, 0.2)));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let found = network.valid().forward(&x, &gate, Some(&mut rng)).into_data();
    assert_eq!(found, network.forward(&x, &gate, None).into_data());
}

#[test]
fn rejects_files_of_another_controller_and_damaged_ones() {
    let bytes = saved(&model(ControllerKind::Mann));
    let read = |kind, bytes: &[u8]| {
        TrainedController::from_bytes(kind, bytes, "mann.safetensors", &Device::flex()).unwrap_err()
    };
    let said = read(ControllerKind::Pfnn, &bytes).to_string();
    assert!(said.contains("it holds the controller mann, not pfnn"), "{said}");
    assert!(read(ControllerKind::Mann, &bytes[..bytes.len() / 2]).to_string().contains("mann.safetensors"));
    let mut other = model(ControllerKind::Mann);
    other.description.starts.clear();
    assert!(read(ControllerKind::Mann, &saved(&other)).to_string().contains("it has no start"));
    assert!(matches!(
        "motion".parse::<ControllerKind>(),
        Err(ControllerError::UnknownKind { name }) if name == "motion"
    ));
}
