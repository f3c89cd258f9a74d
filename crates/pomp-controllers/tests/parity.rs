//! The networks beside PyTorch's, by a small fixture (`parity/gated.py` writes it): as they are trained, and packed as in the loop.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use burn::module::Param;
use burn::tensor::{Device, Tensor, TensorData};
use pomp_controllers::ControllerKind;
use pomp_controllers::gated::{Gate, GatedNetwork, GatedSizes, Goal, PackedNetwork, Room, cubic_weights};
use pomp_kinematic::ExpertLinear;
use pomp_motion::Gait;
use pomp_motion::features::{BlockName, FeatureLayout, KEYS, PAST_KEYS, Rotations};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
    goals: Vec<GoalCase>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("parity/gated.json")).unwrap()
}

#[derive(Deserialize)]
struct Case {
    name: String,
    experts: usize,
    x: Vec<f32>,
    read: Vec<f32>,
    blend: Vec<f32>,
    y: Vec<f32>,
    gate: Vec<Layer>,
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
struct Layer {
    shape: [usize; 3],
    weight: Vec<f32>,
    bias: Vec<f32>,
}

fn layers(given: &[Layer]) -> Vec<ExpertLinear> {
    let device = Device::flex();
    let parameter = |values: &[f32], shape: [usize; 3]| {
        Param::from_data(TensorData::new(values.to_vec(), shape), &device)
    };
    given
        .iter()
        .map(|layer| ExpertLinear {
            weight: parameter(&layer.weight, layer.shape),
            bias: parameter(&layer.bias, [layer.shape[0], 1, layer.shape[2]]),
        })
        .collect()
}

fn matrix(values: &[f32], rows: usize) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values.to_vec(), [rows, values.len() / rows]), &Device::flex())
}

/// PyTorch computes in double precision; sums of some dozen products of single-precision numbers around 1 are off by some 1e-6.
const TOLERANCE: f32 = 2e-5;

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < tolerance, "{what}, number {place}: {found}, PyTorch {expected}");
    }
}

#[test]
fn every_gated_network_is_that_of_pytorch_in_training_and_packed() {
    let fixture = fixture();
    let kinds: Vec<ControllerKind> = fixture.cases.iter().map(|case| case.name.parse().unwrap()).collect();
    let gated = ControllerKind::ALL.into_iter().filter(|kind| {
        !matches!(
            kind,
            ControllerKind::Pomp
                | ControllerKind::Matching
                | ControllerKind::MatchingPhase
                | ControllerKind::LearnedMatching
        )
    });
    assert_eq!(kinds, gated.collect::<Vec<_>>(), "a case for each");
    for (case, kind) in fixture.cases.iter().zip(kinds) {
        let layout = FeatureLayout::new(22, 22, 1, Rotations::SixD);
        let real = GatedSizes::of(kind);
        assert_eq!(case.experts, real.experts, "{kind}");
        assert_eq!(
            [case.layers.len(), case.gate.len()],
            [real.hidden.len() + 1, if real.gate_hidden.is_empty() { 0 } else { real.gate_hidden.len() + 1 }],
            "the layers of {kind}"
        );
        let is_given = pomp_controllers::gated::Columns::of(kind, &layout).widths()[1] == 0;
        assert_eq!(is_given, case.gate.is_empty(), "what decides the blend of {kind}");
        let outputs = case.layers[2].shape[2];
        let rows = case.y.len() / outputs;
        let units = vec![case.layers[0].shape[2]; 2];
        let sizes = GatedSizes { hidden: units.clone(), gate_hidden: units, dropout: 0.0, ..real };
        let (gate, read) = match case.gate.first() {
            Some(first) => (Gate::Learned(first.shape[1]), case.read.clone()),
            None => (Gate::Given, case.read.iter().flat_map(|phase| cubic_weights(*phase)).collect()),
        };
        let widths = [case.layers[0].shape[1], outputs];
        let mut network = GatedNetwork::new(&sizes, gate, widths, 1, &Device::flex()).unwrap();
        (network.gate, network.layers) = (layers(&case.gate), layers(&case.layers));
        let numbers = |found: Tensor<2>| found.try_into_vec_as::<f32>().unwrap();
        let rows_of_gate = matrix(&read, rows);
        assert_close(&numbers(network.blend(&rows_of_gate)), &case.blend, TOLERANCE, &case.name);
        let found = numbers(network.forward(&matrix(&case.x, rows), &rows_of_gate, None));
        assert_close(&found, &case.y, TOLERANCE, &case.name);

        let packed = PackedNetwork::new(&network).unwrap();
        let (mut room, mut y) = (Room::default(), vec![0.0; outputs]);
        for row in 0..rows {
            let of = |values: &'_ [f32]| -> Vec<f32> {
                values.chunks_exact(values.len() / rows).nth(row).unwrap().to_vec()
            };
            packed.run(&of(&case.x), &of(&read), &mut room, &mut y);
            assert_close(room.blend(), &of(&case.blend), TOLERANCE, &case.name);
            assert_close(&y, &of(&case.y), TOLERANCE, &case.name);
        }
    }
}

#[derive(Deserialize)]
struct GoalCase {
    keys: Vec<f32>,
    gaits: Vec<f32>,
    phase: Vec<f32>,
    motion: Vec<f32>,
    ahead: Vec<f32>,
    changes: Vec<f32>,
    share: f32,
    inputs: Vec<f32>,
    gate: Vec<f32>,
    wanted: Vec<f32>,
    blended_motion: Vec<f32>,
    blended_ahead: Vec<f32>,
}

#[test]
fn the_goal_of_a_neural_state_machine_is_that_of_pytorch() {
    let layout = FeatureLayout::new(22, 22, 1, Rotations::SixD);
    let goals = fixture().goals;
    assert!(goals.iter().any(|case| case.share == 0.0) && goals.iter().any(|case| case.share == 1.0));
    for (index, case) in goals.iter().enumerate() {
        let (mut x, mut y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
        x[layout.x_range(BlockName::Trajectory)].copy_from_slice(&case.keys);
        x[layout.x_range(BlockName::Gait)].copy_from_slice(&case.gaits);
        assert_eq!(case.gaits.len(), KEYS * Gait::COUNT);
        let code = layout.x_range(BlockName::PhaseCodes).start + 2 * PAST_KEYS;
        x[code..code + 2].copy_from_slice(&case.phase);
        y[layout.y_range(BlockName::RootMotion)].copy_from_slice(&case.motion);
        y[layout.y_range(BlockName::Trajectory)].copy_from_slice(&case.ahead);
        let goal = Goal::of(&layout, &x);
        let what = |of: &str| format!("{of} of goal {index}");
        assert_close(&goal.inputs().collect::<Vec<_>>(), &case.inputs, TOLERANCE, &what("inputs"));
        assert_close(&goal.gate(&layout, &x), &case.gate, TOLERANCE, &what("gate"));
        // Divided by the 0.02 of a change.
        assert_close(&goal.wanted(&layout, &y), &case.wanted, 50.0 * TOLERANCE, &what("changes"));
        goal.blend(&layout, &case.changes, &mut y);
        // A displacement per frame, times 60.
        let motion = &y[layout.y_range(BlockName::RootMotion)];
        assert_close(motion, &case.blended_motion, 60.0 * TOLERANCE, &what("root motion"));
        let ahead = &y[layout.y_range(BlockName::Trajectory)];
        assert_close(ahead, &case.blended_ahead, TOLERANCE, &what("path"));
    }
}

#[test]
fn what_a_neural_state_machine_learns_of_a_frame_leads_where_the_frame_leads() {
    let layout = FeatureLayout::new(22, 22, 1, Rotations::SixD);
    for case in fixture().goals {
        let (mut x, mut y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
        x[layout.x_range(BlockName::Trajectory)].copy_from_slice(&case.keys);
        y[layout.y_range(BlockName::RootMotion)].copy_from_slice(&case.motion);
        y[layout.y_range(BlockName::Trajectory)].copy_from_slice(&case.ahead);
        y[layout.y_range(BlockName::Trajectory)][..4].copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
        let (goal, before) = (Goal::of(&layout, &x), y.clone());
        let wanted = goal.wanted(&layout, &y);
        goal.blend(&layout, &wanted, &mut y);
        assert_close(&y, &before, 2e-4, "both futures are the same");
    }
}
