//! The autoencoder against `reference/periodic_autoencoder.py`: the same formulas in PyTorch, in double precision.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use pomp_phase::{PeriodicAutoencoder, PeriodicAutoencoderConfig, PhaseTrainingConfig, Spectrum, pae_loss};
use pomp_weights::{WeightFile, WeightTensor};
use std::collections::BTreeMap;

/// Values of order one, computed in f32 through some thousands of additions: rounding of 6e-8 each way grows to a few
/// 1e-6. A wrong constant, sign or order of axes changes them by 1e-2 and more.
const FORWARD: f32 = 2e-5;
/// Gradients relative to the largest one of their tensor; they are sums of f32 products over 5 windows of 121 frames.
const GRADIENT: f32 = 2e-4;

fn reference() -> WeightFile {
    WeightFile::from_bytes(include_bytes!("reference/periodic_autoencoder.safetensors"), "the reference")
        .expect("the committed file is whole")
}

fn config(spectrum: Spectrum) -> PeriodicAutoencoderConfig {
    PeriodicAutoencoderConfig {
        channels: 2,
        intermediate: 3,
        kernel: 31,
        spectrum,
        ..PeriodicAutoencoderConfig::new(2)
    }
}

fn initial(file: &WeightFile, spectrum: Spectrum, device: &Device) -> PeriodicAutoencoder {
    let model = PeriodicAutoencoder::new(&config(spectrum), 1, device).expect("valid");
    file.load_into("initial", model).expect("the reference has every tensor and no other")
}

fn tensor<const D: usize>(file: &WeightFile, name: &str, device: &Device) -> Tensor<D> {
    let WeightTensor { shape, values } = file.tensor(name).expect("in the reference").clone();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("floats")
}

/// Largest difference, after checking that the lengths agree.
fn difference(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn phases_and_reconstruction_are_those_of_pytorch_with_either_spectrum() {
    let (file, device) = (reference(), Device::flex());
    for (label, spectrum) in [("tapered", Spectrum::Hann), ("plain", Spectrum::Plain)] {
        let output = initial(&file, spectrum, &device).forward(tensor(&file, "windows", &device));
        let expected =
            |name: &str| &file.tensor(&format!("{label}.{name}")).expect("in the reference").values;
        let parameters = output.parameters;
        let shift = values(parameters.shift_xy);
        let turns = expected("shift_turns");
        let directions: Vec<f32> = turns
            .iter()
            .flat_map(|s| [(std::f32::consts::TAU * s).cos(), (std::f32::consts::TAU * s).sin()])
            .collect();
        let mut found = vec![
            ("amplitude", difference(&values(parameters.amplitude), expected("amplitude"))),
            // Hz, up to 30 of them: the larger unit takes the larger share of rounding.
            ("frequency / 10", 0.1 * difference(&values(parameters.frequency_hz), expected("frequency_hz"))),
            ("offset", difference(&values(parameters.offset), expected("offset"))),
            ("shift", difference(&shift, &directions)),
            ("reconstruction", difference(&values(output.reconstruction), expected("reconstruction"))),
        ];
        if spectrum == Spectrum::Hann {
            found.push(("latent", difference(&values(output.latent), expected("latent"))));
        }
        println!("{label}: {found:?}");
        for (name, difference) in found {
            assert!(difference < FORWARD, "{label} {name}: {difference:e}");
        }
    }
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
        if let Some(gradient) = self.of.get::<D>(param.id) {
            self.found.insert(self.path.join("."), values(gradient));
        }
    }
}

/// A shift of all values before a batch norm is taken out by it: the gradient of these biases is rounding, and what
/// an optimiser that divides by its size makes of it is chance.
const WITHOUT_INFLUENCE: [&str; 3] = ["encoder.first.bias", "encoder.second.bias", "decoder.first.bias"];

#[test]
fn loss_gradients_running_statistics_and_steps_of_adamw_are_those_of_pytorch() {
    let (file, device) = (reference(), Device::flex().autodiff());
    let number = |key: &str| file.metadata(key).expect("in the reference").parse::<f64>().expect("a number");
    let training = PhaseTrainingConfig {
        learning_rate: number("learning_rate"),
        weight_decay: number("weight_decay") as f32,
        ..PhaseTrainingConfig::default()
    };
    let windows: Tensor<3> = tensor(&file, "windows", &device);
    let losses = &file.tensor("losses").expect("in the reference").values;
    let mut model = initial(&file, Spectrum::Hann, &device);
    let mut optimizer = training.optimizer();
    for (step, expected) in losses.iter().enumerate() {
        let loss = pae_loss(&model, windows.clone());
        let found: f32 = loss.clone().into_scalar();
        assert!((found - expected).abs() < FORWARD, "loss {step}: {found}, not {expected}");
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        if step == 0 {
            let mut visitor = Gradients { of: &gradients, path: Vec::new(), found: BTreeMap::new() };
            model.visit(&mut visitor);
            assert_eq!(visitor.found.len(), 16);
            for (name, found) in visitor.found {
                let expected = &file.tensor(&format!("gradient.{name}")).expect("in the reference").values;
                let largest = expected.iter().fold(0.0f32, |a, b| a.max(b.abs()));
                let error = difference(&found, expected) / largest.max(1e-3);
                println!("gradient of {name}: largest {largest:.1e}, relative difference {error:.1e}");
                assert!(error < GRADIENT, "gradient of {name}: {error:e} of {largest:e}");
            }
            let mut now = WeightFile::new(None);
            now.add_module("statistics", &model).expect("finite");
            for name in file.names().filter(|name| name.starts_with("statistics.")) {
                let (found, expected) =
                    (now.tensor(name).expect("same names"), file.tensor(name).expect("listed"));
                let error = difference(&found.values, &expected.values);
                // PyTorch keeps the variance over n − 1 of the n = 605 frames, Burn that over n: 0.17 % of the tenth
                // that one batch adds, with variances up to 3.
                let tolerance = if name.ends_with("running_var") { 6e-4 } else { FORWARD };
                assert!(error < tolerance, "{name}: {error:e}");
            }
        }
        model = optimizer.step(training.learning_rate, model, gradients);
    }
    let mut now = WeightFile::new(None);
    now.add_module("trained", &model).expect("finite");
    let (mut compared, mut worst, mut outliers) = (0, 0.0f32, 0);
    for name in file.names().filter(|name| name.starts_with("trained.")) {
        if WITHOUT_INFLUENCE.contains(&name.trim_start_matches("trained.")) {
            continue;
        }
        let (found, expected) = (now.tensor(name).expect("same names"), file.tensor(name).expect("listed"));
        let before = &file.tensor(&name.replace("trained.", "initial.")).expect("listed").values;
        for ((found, expected), before) in found.values.iter().zip(&expected.values).zip(before) {
            let error = (found - expected).abs() / training.learning_rate as f32;
            assert!((expected - before).abs() > 0.0, "{name} did not move");
            compared += 1;
            worst = worst.max(error);
            outliers += usize::from(error > 0.02);
        }
    }
    println!(
        "{compared} weights after three steps: largest difference {worst:.1e} steps, {outliers} above 0.02"
    );
    // AdamW divides a gradient by its own size: where it is near nothing, rounding decides a share of the step.
    assert!(worst < 0.5 && outliers * 500 < compared, "{worst} {outliers} of {compared}");
}
