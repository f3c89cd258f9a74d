//! The module against `reference/kinematic_module.py`: the same formulas in PyTorch, in double precision, with textbook
//! Gram-Schmidt and a decoder that runs for each expert by itself.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_kinematic::{
    Activation, Conditioning, GateInput, KinematicConfig, KinematicInference, KinematicModel, Prediction,
    ReverseProcess, SamplerConfig, orthonormalise,
};
use pomp_weights::{WeightFile, WeightTensor};
use std::collections::BTreeMap;

/// Values of order one to four in f32 through at most a hundred additions each way; a wrong constant, sign or order
/// of axes changes them by 1e-2 and more.
const FORWARD: f32 = 2e-5;
/// Gradients relative to the largest one of their tensor. Our floor of 1e-3 under an expert's root mean square adds
/// 1e-6; the rest is rounding.
const GRADIENT: f32 = 5e-5;

fn reference() -> WeightFile {
    WeightFile::from_bytes(include_bytes!("reference/kinematic_module.safetensors"), "the reference")
        .expect("the committed file is whole")
}

fn configurations() -> [(&'static str, KinematicConfig); 2] {
    let paper = KinematicConfig {
        experts: 4,
        expert_hidden: vec![12],
        condition_size: 16,
        gate_hidden: vec![10],
        decoder_hidden: vec![14, 14, 11],
        diffusion_steps: 20,
        time_embedding: 8,
        ..KinematicConfig::compact(20, 9, GateInput { start: 6, len: 8 })
    };
    let variant = KinematicConfig {
        expert_hidden: vec![],
        gate_hidden: vec![],
        decoder_hidden: vec![13],
        activation: Activation::Elu,
        conditioning: Conditioning::ExpertsAndState,
        prediction: Prediction::Velocity,
        ..paper.clone()
    };
    [("paper", paper), ("variant", variant)]
}

fn tensor<const D: usize>(file: &WeightFile, name: &str, device: &Device) -> Tensor<D> {
    let WeightTensor { shape, values } = file.tensor(name).expect("in the reference").clone();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn steps(file: &WeightFile) -> Vec<usize> {
    file.tensor("steps").expect("in the reference").values.iter().map(|&n| n as usize).collect()
}

fn initial(file: &WeightFile, label: &str, config: &KinematicConfig, device: &Device) -> KinematicModel {
    let model = KinematicModel::new(config, 1, device).expect("valid");
    file.load_into(&format!("{label}.initial"), model).expect("the reference has every tensor and no other")
}

/// Largest difference to a tensor of the reference.
fn difference(file: &WeightFile, name: &str, found: &[f32]) -> f32 {
    let expected = &file.tensor(name).expect("in the reference").values;
    assert_eq!(found.len(), expected.len(), "{name}");
    found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn schedule_gates_conditions_and_denoised_samples_are_those_of_pytorch() {
    let (file, device) = (reference(), Device::flex());
    for (label, config) in configurations() {
        let model = initial(&file, label, &config, &device);
        let schedule: Vec<f32> = (0..=20).map(|n| model.schedule().alpha_bar(n) as f32).collect();
        assert!(difference(&file, "alpha_bar", &schedule) < 1e-6);
        let (x, noisy) = (tensor(&file, "x", &device), tensor(&file, "noisy", &device));
        let encoding = model.encoder.forward(&x, None);
        let clean = model.predict_clean(&model.encode(&x, None), noisy, &steps(&file));
        for (name, found) in [
            ("gates", values(encoding.gates)),
            ("conditions", values(encoding.conditions)),
            ("clean", values(clean)),
        ] {
            let error = difference(&file, &format!("{label}.{name}"), &found);
            println!("{label} {name}: {error:e}");
            assert!(error < FORWARD, "{label} {name}: {error:e}");
        }
    }
}

#[test]
fn the_packed_path_denoises_as_pytorch_does() {
    let file = reference();
    let (x, noisy) = (file.tensor("x").expect("there"), file.tensor("noisy").expect("there"));
    for (label, config) in configurations() {
        let model = initial(&file, label, &config, &Device::flex());
        let process = ReverseProcess::new(model.schedule(), 9, &SamplerConfig::ddim(1), None).expect("valid");
        let mut packed = KinematicInference::new(&model, process).expect("finite");
        packed.set_gate_threshold(0.0).expect("legal");
        let mut found = Vec::new();
        for ((x, noisy), n) in x.values.chunks_exact(20).zip(noisy.values.chunks_exact(9)).zip(steps(&file)) {
            let mut clean = [0.0; 9];
            packed.predict_clean(x, noisy, n, &mut clean).expect("finite");
            found.extend(clean);
        }
        let error = difference(&file, &format!("{label}.clean"), &found);
        println!("{label}, packed: {error:e}");
        assert!(error < FORWARD, "{label}: {error:e}");
    }
}

#[test]
fn dependent_and_silent_experts_come_out_as_the_textbook_has_them() {
    let file = reference();
    let rows = orthonormalise(tensor(&file, "dependent.experts", &Device::flex()), 1e-2);
    let error = difference(&file, "dependent.rows", &values(rows));
    println!("dependent experts: {error:e}");
    // The dependent share, rounding of 6e-8, is divided by the floor of 1e-2 and multiplied by √16.
    assert!(error < 1e-4, "{error:e}");
}

struct Gradients<'a> {
    of: &'a GradientsParams,
    path: Vec<String>,
    found: BTreeMap<String, Vec<f32>>,
}

impl ModuleVisitor for Gradients<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self.of.get::<D>(param.id).expect("every parameter has a gradient");
        self.found.insert(self.path.join("."), values(gradient));
    }
}

#[test]
fn gradients_and_steps_of_adamw_are_those_of_pytorch() {
    let (file, device) = (reference(), Device::flex().autodiff());
    let number = |key: &str| file.metadata(key).expect("in the reference").parse::<f64>().expect("a number");
    let rate = number("learning_rate");
    for (label, config) in configurations() {
        let mut model = initial(&file, label, &config, &device);
        let optimizer = AdamWConfig::new().with_weight_decay(number("weight_decay") as f32);
        let mut optimizer = optimizer.with_epsilon(number("epsilon") as f32).init();
        let (x, y) = (tensor(&file, "x", &device), tensor::<2>(&file, "y", &device));
        let importance = tensor::<1>(&file, "importance", &device).unsqueeze::<2>();
        let losses = &file.tensor(&format!("{label}.losses")).expect("in the reference").values;
        for (step, expected) in losses.iter().enumerate() {
            let noisy = tensor(&file, "noisy", &device);
            let clean = model.predict_clean(&model.encode(&x, None), noisy, &steps(&file));
            let loss = ((y.clone() - clean) * importance.clone()).square().mean();
            let found: f32 = loss.clone().into_scalar();
            assert!((found - expected).abs() < FORWARD, "{label}, loss {step}: {found}, not {expected}");
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            if step == 0 {
                let mut visitor = Gradients { of: &gradients, path: Vec::new(), found: BTreeMap::new() };
                model.visit(&mut visitor);
                let mut worst = 0.0f32;
                for (name, found) in &visitor.found {
                    let name = format!("{label}.gradient.{name}");
                    let expected = &file.tensor(&name).expect("in the reference").values;
                    let largest = expected.iter().fold(0.0f32, |a, b| a.max(b.abs()));
                    let error = difference(&file, &name, found) / largest.max(1e-3);
                    assert!(error < GRADIENT, "{name}: {error:e} of {largest:e}");
                    worst = worst.max(error);
                }
                println!("{label}: {} gradients, largest relative difference {worst:e}", visitor.found.len());
            }
            model = optimizer.step(rate, model, gradients);
            if step == 0 {
                let mut now = WeightFile::new(None);
                now.add_module(&format!("{label}.step"), &model).expect("finite");
                let names: Vec<String> = now.names().map(str::to_owned).collect();
                let mut worst = 0.0f32;
                for name in names {
                    let error = difference(&file, &name, &now.tensor(&name).expect("listed").values);
                    worst = worst.max(error / rate as f32);
                }
                println!("{label}: after one step of AdamW the largest difference is {worst:e} steps");
                // A gradient of about ε = 1e-5 moves its weight by half a step, and rounding of 1e-7 shows as 1 % of it.
                assert!(worst < 0.02, "{label}: {worst} steps");
            }
        }
    }
}
