//! The networks beside PyTorch's, by a small fixture (`parity/gated.py` writes it).

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use burn::module::Param;
use burn::tensor::{Device, Tensor, TensorData};
use pomp_controllers::gated::{Gate, GatedNetwork, GatedSizes, cubic_weights};
use pomp_kinematic::ExpertLinear;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
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

#[test]
fn learned_and_cyclic_blends_and_what_they_blend_are_those_of_pytorch() {
    let fixture: Fixture = serde_json::from_str(include_str!("parity/gated.json")).unwrap();
    assert_eq!(fixture.cases.len(), 2);
    for case in &fixture.cases {
        let rows = case.y.len() / case.layers[1].shape[2];
        let sizes = GatedSizes { experts: case.experts, hidden: vec![8], gate_hidden: vec![4], dropout: 0.0 };
        let widths = [case.layers[0].shape[1], case.layers[1].shape[2]];
        let (gate, read) = match case.gate.first() {
            Some(first) => (Gate::Learned(first.shape[1]), matrix(&case.read, rows)),
            None => {
                let blends: Vec<f32> = case.read.iter().flat_map(|phase| cubic_weights(*phase)).collect();
                (Gate::Given, matrix(&blends, rows))
            }
        };
        let mut network = GatedNetwork::new(&sizes, gate, widths, 1, &Device::flex()).unwrap();
        (network.gate, network.layers) = (layers(&case.gate), layers(&case.layers));
        let close = |found: Tensor<2>, expected: &[f32]| {
            let found = found.try_into_vec_as::<f32>().unwrap();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 2e-5, "{}: {found} {expected}", case.name);
            }
        };
        close(network.blend(&read), &case.blend);
        close(network.forward(&matrix(&case.x, rows), &read, None), &case.y);
    }
}
