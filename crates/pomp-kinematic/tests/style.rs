//! Laws of the style adapter: no style is no change, the packed path agrees with the burn module, and an adapter learns.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use burn::module::{Module, ModuleVisitor, Param};
use burn::nn::Linear;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_kinematic::{
    Blend, GateInput, KinematicConfig, KinematicInference, KinematicModel, ReverseProcess, SamplerConfig,
    StyleAdapter, run_reverse,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

const X: usize = 83;
const Y: usize = 61;
const STYLES: usize = 3;

fn config() -> KinematicConfig {
    KinematicConfig {
        expert_hidden: vec![48, 40],
        decoder_hidden: vec![120, 120, 72],
        ..KinematicConfig::compact(X, Y, GateInput { start: 3, len: 40 })
    }
}

fn numbers(count: usize, seed: usize, scale: f32) -> Vec<f32> {
    (0..count).map(|at| scale * ((at * 7 + seed * 131) as f32 * 0.37).sin()).collect()
}

fn rows(values: Vec<f32>, columns: usize, device: &Device) -> Tensor<2> {
    let count = values.len() / columns;
    Tensor::from_data(TensorData::new(values, [count, columns]), device)
}

/// An adapter that changes a good deal.
fn adapter(config: &KinematicConfig, device: &Device) -> StyleAdapter {
    let mut adapter = StyleAdapter::new(config, [STYLES, 10], 4, device).unwrap();
    let fill = |seed: usize, layer: &mut Linear| {
        let shape = layer.weight.val().dims();
        let values = numbers(shape.iter().product(), seed, 0.3);
        layer.weight = Param::from_data(TensorData::new(values, shape), device);
    };
    let layers = adapter.experts.iter_mut().chain(&mut adapter.decoder);
    layers.chain([&mut adapter.output]).enumerate().for_each(|(seed, layer)| fill(seed, layer));
    adapter
}

fn inference(model: &KinematicModel) -> (KinematicInference, ReverseProcess) {
    let process = ReverseProcess::new(model.schedule(), Y, &SamplerConfig::ddim(4), None).unwrap();
    let mut inference = KinematicInference::new(model, process.clone()).unwrap();
    inference.set_gate_threshold(0.0).unwrap();
    (inference, process)
}

fn drawn(inference: &mut KinematicInference, adapter: &StyleAdapter, weights: &[f32]) -> Vec<f32> {
    let style = adapter.modulation(weights).unwrap().map(Arc::new);
    inference.begin();
    let sample =
        inference.add(&numbers(X, 0, 1.0), style.as_ref(), &mut ChaCha8Rng::seed_from_u64(2)).unwrap();
    inference.run();
    inference.sample_of(sample).unwrap().to_vec()
}

fn farthest(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn styles_of_weight_0_and_an_untrained_adapter_change_no_byte() {
    let (config, device) = (config(), Device::flex());
    let (mut inference, _) = inference(&KinematicModel::new(&config, 5, &device).unwrap());
    let mut own = vec![0.0; Y];
    inference.sample(&numbers(X, 0, 1.0), &mut own, &mut ChaCha8Rng::seed_from_u64(2)).unwrap();
    let adapter = adapter(&config, &device);
    assert_eq!(adapter.modulation(&[0.0; STYLES]).unwrap(), None);
    assert_eq!(drawn(&mut inference, &adapter, &[0.0; STYLES]), own);
    let untrained = StyleAdapter::new(&config, [STYLES, 10], 4, &device).unwrap();
    assert_eq!(drawn(&mut inference, &untrained, &[0.2, 0.0, 0.5]), own);
    // The control: the other adapter changes something, and more of it with more weight.
    let [weak, strong] = [0.1, 0.8].map(|weight| drawn(&mut inference, &adapter, &[weight, 0.0, 0.0]));
    assert!(farthest(&weak, &own) > 1e-3 && farthest(&strong, &own) > 2.0 * farthest(&weak, &own));
}

#[test]
fn a_styled_frame_of_the_packed_path_is_that_of_the_module() {
    for blend in [Blend::AfterDecoder, Blend::BeforeDecoder] {
        let (config, device) = (KinematicConfig { blend, ..config() }, Device::flex());
        let model = KinematicModel::new(&config, 5, &device).unwrap();
        let adapter = adapter(&config, &device);
        let (mut inference, process) = inference(&model);
        let weights = [0.5, 0.0, 0.3];
        let packed = drawn(&mut inference, &adapter, &weights);
        let style = adapter.modulate(&weights, config.experts, &device);
        let context = model.encode_styled(&rows(numbers(X, 0, 1.0), X, &device), &style, None);
        let whole = run_reverse(&process, [1, Y], &device, &mut ChaCha8Rng::seed_from_u64(2), |y, n| {
            model.predict_clean(&context, y, &[n])
        });
        let whole = whole.try_into_vec_as::<f32>().unwrap();
        println!("{blend:?}: they differ by {:e}", farthest(&packed, &whole));
        assert!(farthest(&packed, &whole) < 1e-4);
        assert!(farthest(&packed, &drawn(&mut inference, &adapter, &[0.0; STYLES])) > 1e-2);
    }
}

#[test]
fn a_styled_sample_is_the_same_bytes_alone_and_in_any_company() {
    let (config, device) = (config(), Device::flex());
    let (mut inference, _) = inference(&KinematicModel::new(&config, 5, &device).unwrap());
    let adapter = adapter(&config, &device);
    let weights = [[0.0; STYLES], [1.0, 0.0, 0.0], [0.0, 0.4, 0.6], [0.0; STYLES]];
    let alone = weights.map(|weights| drawn(&mut inference, &adapter, &weights));
    inference.begin();
    for weights in weights {
        let style = adapter.modulation(&weights).unwrap().map(Arc::new);
        inference.add(&numbers(X, 0, 1.0), style.as_ref(), &mut ChaCha8Rng::seed_from_u64(2)).unwrap();
    }
    inference.run();
    for (sample, alone) in alone.iter().enumerate() {
        assert_eq!(inference.sample_of(sample).unwrap(), alone);
    }
    assert!(alone[0] == alone[3] && alone[0] != alone[1] && alone[1] != alone[2]);
}

#[test]
fn rejects_styles_of_other_numbers_and_of_a_module_of_other_sizes() {
    let (config, device) = (config(), Device::flex());
    let adapter = adapter(&config, &device);
    assert!(adapter.modulation(&[1.0, 0.0]).unwrap_err().to_string().contains("weights of the styles"));
    assert!(adapter.modulation(&[1.0, f32::NAN, 0.0]).is_err());
    let wider = KinematicConfig { decoder_hidden: vec![120, 121, 72], ..config };
    let (mut inference, _) = inference(&KinematicModel::new(&wider, 5, &device).unwrap());
    let style = adapter.modulation(&[1.0, 0.0, 0.0]).unwrap().map(Arc::new);
    let refused =
        inference.add(&numbers(X, 0, 1.0), style.as_ref(), &mut ChaCha8Rng::seed_from_u64(2)).unwrap_err();
    assert!(refused.to_string().contains("decoder"), "{refused}");
}

/// Norms of the gradients of an adapter's parameters.
struct Norms<'a>(&'a GradientsParams, Vec<f32>);

impl ModuleVisitor for Norms<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self.0.get::<D>(param.id);
        self.1.push(gradient.map_or(0.0, |gradient| gradient.square().sum().into_scalar::<f32>().sqrt()));
    }
}

#[test]
fn an_adapter_overfits_a_batch_of_two_styles_that_the_frozen_module_cannot_tell_apart() {
    let (config, device) = (config(), Device::flex().autodiff());
    let model = KinematicModel::new(&config, 5, &device).unwrap().no_grad();
    // The same x in both styles, and another y.
    let each = 16;
    let x: Vec<f32> = (0..2).flat_map(|_| (0..each).flat_map(|row| numbers(X, row, 1.0))).collect();
    let y: Vec<f32> = (0..2 * each).flat_map(|row| numbers(Y, row, 1.0)).collect();
    let (x, y) = (rows(x, X, &device), rows(y, Y, &device));
    let weights: Vec<f32> = (0..2 * each).flat_map(|row| [[1.0, 0.0], [0.0, 1.0]][row / each]).collect();
    let ones = Tensor::<1>::ones([Y], &device);
    let mut adapter = StyleAdapter::new(&config, [2, 10], 4, &device).unwrap();
    let mut optimizer = AdamConfig::new().init();
    let mut losses = Vec::new();
    for step in 0..400 {
        let style = adapter.modulate(&weights, config.experts, &device);
        let loss = model.styled_loss(&x, &style, &y, &ones, &mut ChaCha8Rng::seed_from_u64(step));
        losses.push(loss.clone().into_scalar::<f32>());
        let gradients = GradientsParams::from_grads(loss.backward(), &adapter);
        if step == 1 {
            let mut norms = Norms(&gradients, Vec::new());
            adapter.visit(&mut norms);
            println!("norms of the gradients {:?}", norms.1);
            assert_eq!(norms.1.len(), 1 + config.expert_hidden.len() + config.decoder_hidden.len() + 1);
            assert!(norms.1.iter().all(|norm| *norm > 1e-6), "every parameter learns");
        }
        adapter = optimizer.step(0.02, adapter, gradients);
    }
    let (first, last) = (losses[0], losses[380..].iter().sum::<f32>() / 20.0);
    println!("loss {first} at first, {last} at last");
    assert!(last < 0.35 * first);
}
