//! The module as a thing that learns: every weight gets a gradient, one batch can be memorised, and a seed
//! decides every byte.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_kinematic::{
    Activation, Blend, Conditioning, ExpertOutputs, GateInput, KinematicConfig, KinematicModel, Prediction,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

fn small() -> KinematicConfig {
    KinematicConfig {
        expert_hidden: vec![24, 20],
        condition_size: 16,
        gate_hidden: vec![12],
        decoder_hidden: vec![48, 48, 40],
        diffusion_steps: 20,
        time_embedding: 8,
        ..KinematicConfig::compact(30, 12, GateInput { start: 18, len: 10 })
    }
}

fn variants() -> Vec<KinematicConfig> {
    vec![
        small(),
        KinematicConfig { prediction: Prediction::Velocity, activation: Activation::Elu, ..small() },
        KinematicConfig {
            conditioning: Conditioning::ExpertsAndState,
            expert_hidden: vec![],
            gate_hidden: vec![],
            decoder_hidden: vec![32],
            expert_dropout: 0.2,
            ..small()
        },
        KinematicConfig { blend: Blend::BeforeDecoder, ..small() },
        KinematicConfig { expert_outputs: ExpertOutputs::Plain, ..small() },
    ]
}

fn normal(shape: [usize; 2], seed: u64) -> Tensor<2> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| rng.sample(StandardNormal)).collect();
    Tensor::from_data(TensorData::new(values, shape), &Device::flex())
}

/// Checks the gradient of every float parameter.
struct GradientCheck<'a> {
    gradients: &'a GradientsParams,
    checked: usize,
}

impl ModuleVisitor for GradientCheck<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self.gradients.get::<D>(param.id).expect("every parameter has a gradient");
        let shape = param.val().dims();
        assert_eq!(gradient.dims(), shape);
        let values: Vec<f32> = gradient.to_data().iter::<f32>().collect();
        assert!(values.iter().all(|value| value.is_finite()));
        // A tensor of rank 3 holds one block per expert, and no expert may be left out.
        let blocks = if D == 3 { shape[0] } else { 1 };
        for (index, block) in values.chunks_exact(values.len() / blocks).enumerate() {
            let used = block.iter().filter(|value| **value != 0.0).count();
            assert!(2 * used > block.len(), "block {index} of a tensor {shape:?}: {used} used");
        }
        self.checked += 1;
    }
}

#[test]
fn gradients_reach_every_parameter_of_every_expert() {
    let device = Device::flex().autodiff();
    for config in variants() {
        let model = KinematicModel::new(&config, 3, &device).unwrap();
        let (x, y) = (normal([32, 30], 1), normal([32, 12], 2));
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let loss = model.loss(&x, &y, &Tensor::ones([12], &Device::flex()), &mut rng);
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        let mut check = GradientCheck { gradients: &gradients, checked: 0 };
        model.visit(&mut check);
        assert!(check.checked >= 10, "{} tensors", check.checked);
    }
}

#[test]
fn one_batch_can_be_memorised() {
    let device = Device::flex();
    // Every sample four times, so that a step sees each at several n.
    let (x, y) = (normal([24, 30], 1).repeat_dim(0, 4), normal([24, 12], 2).repeat_dim(0, 4));
    let weights = Tensor::ones([12], &device);
    let wide = KinematicConfig { decoder_hidden: vec![96, 96], ..small() };
    for config in [wide.clone(), KinematicConfig { prediction: Prediction::Velocity, ..wide }] {
        let mut model = KinematicModel::new(&config, 3, &device.clone().autodiff()).unwrap();
        let measured = |model: &KinematicModel| {
            let model = model.valid();
            let mut rng = ChaCha8Rng::seed_from_u64(99);
            let losses = (0..20).map(|_| model.loss(&x, &y, &weights, &mut rng).into_scalar::<f32>());
            losses.sum::<f32>() / 20.0
        };
        let before = measured(&model);
        let mut optimizer = AdamWConfig::new().with_weight_decay(0.0).init();
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for step in 0..1600 {
            let rate = 5e-3 * 0.5 * (1.0 + (std::f64::consts::PI * f64::from(step) / 1600.0).cos());
            let gradients = model.loss(&x, &y, &weights, &mut rng).backward();
            let gradients = GradientsParams::from_grads(gradients, &model);
            model = optimizer.step(rate, model, gradients);
        }
        let after = measured(&model);
        println!("{:?}: loss {before:e} before, {after:e} after", config.prediction);
        assert!(after < before / 100.0);
    }
}

fn bytes(model: &KinematicModel) -> Vec<u8> {
    struct Collect(Vec<u8>);
    impl ModuleVisitor for Collect {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0.extend_from_slice(param.val().to_data().as_bytes());
        }
    }
    let mut collect = Collect(Vec::new());
    model.visit(&mut collect);
    collect.0
}

#[test]
fn the_same_seed_gives_the_same_bytes_through_training_and_another_seed_does_not() {
    let device = Device::flex().autodiff();
    let config = KinematicConfig { expert_dropout: 0.3, ..small() };
    let run = |seed: u64| {
        let mut model = KinematicModel::new(&config, seed, &device).unwrap();
        let initial = bytes(&model);
        let mut optimizer = AdamWConfig::new().init();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (x, y) = (normal([64, 30], 1), normal([64, 12], 2));
        for _ in 0..3 {
            let loss = model.loss(&x, &y, &Tensor::ones([12], &Device::flex()), &mut rng);
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = optimizer.step(1e-3, model, gradients);
        }
        (initial, bytes(&model))
    };
    let first = run(7);
    assert_eq!(first, run(7));
    assert_ne!(first.0, first.1);
    assert_ne!(first.0, run(8).0);
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let device = Device::flex().autodiff();
    let config = KinematicConfig::compact(660, 480, GateInput { start: 0, len: 130 });
    let (x, y) = (normal([128, 660], 1), normal([128, 480], 2));
    let step = || {
        let model = KinematicModel::new(&config, 1, &device).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let loss = model.loss(&x, &y, &Tensor::ones([480], &Device::flex()), &mut rng);
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        bytes(&AdamWConfig::new().init().step(1e-3, model, gradients))
    };
    let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(step);
    let single = with(1);
    for threads in [2, 3, 5] {
        assert!(single == with(threads), "{threads} threads change the weights");
    }
}

#[test]
fn the_parameter_count_is_the_sum_over_the_layers() {
    let config = KinematicConfig::compact(660, 480, GateInput { start: 0, len: 130 });
    let model = KinematicModel::new(&config, 0, &Device::flex()).unwrap();
    let dense = |inputs: usize, outputs: usize| inputs * outputs + outputs;
    let gate = dense(130, 64) + dense(64, 8);
    let experts = 8 * (dense(660, 192) + dense(192, 192));
    let decoder = dense(480, 512) + 192 * 512 + 32 * 512 + dense(512, 512) + dense(512, 480);
    println!("compact: {} parameters", model.parameter_count());
    assert_eq!(model.parameter_count(), gate + experts + decoder);
    assert_eq!(bytes(&model).len(), 4 * model.parameter_count());
}

#[test]
fn the_output_is_the_blend_of_the_experts_samples() {
    let device = Device::flex();
    for config in variants() {
        let model = KinematicModel::new(&config, 3, &device).unwrap();
        let (x, noisy) = (normal([5, 30], 1), normal([5, 12], 2));
        let steps = [1, 4, 9, 15, 20];
        let context = model.encode(&x, None);
        let blended = model.predict_clean(&context, noisy.clone(), &steps);
        let each = model.decoder.forward_each(&context, &noisy, &steps);
        let gates = model.encoder.gates(&x).swap_dims(0, 1).unsqueeze_dim::<3>(2);
        let expected = (each * gates).sum_dim(0).reshape([5, 12]);
        assert!((blended - expected).abs().max().into_scalar::<f32>() < 1e-5);
    }
}

#[test]
fn the_blend_is_decided_by_the_phase_block_alone_and_lies_on_the_simplex() {
    let model = KinematicModel::new(&small(), 3, &Device::flex()).unwrap();
    let x = normal([6, 30], 1);
    let gates = model.encoder.gates(&x);
    assert!((gates.clone().sum_dim(1) - 1.0).abs().max().into_scalar::<f32>() < 1e-6);
    let other = x.clone().slice_assign([0..6, 0..18], normal([6, 18], 9));
    assert_eq!(model.encoder.gates(&other).to_data(), gates.to_data());
    let other = x.clone().slice_assign([0..6, 18..28], normal([6, 10], 9));
    assert_ne!(model.encoder.gates(&other).to_data(), gates.to_data());
    let shares = model.expert_use(&x);
    assert_eq!(shares.len(), 8);
    assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    let direct = gates.mean_dim(0).to_data();
    assert_eq!(direct.iter::<f32>().collect::<Vec<_>>(), shares);
}

#[test]
fn a_feature_of_weight_zero_has_no_loss() {
    let model = KinematicModel::new(&small(), 3, &Device::flex()).unwrap();
    let (x, y) = (normal([16, 30], 1), normal([16, 12], 2));
    let loss = |weights: [f32; 12]| {
        let weights = Tensor::from_floats(weights, &Device::flex());
        model.loss(&x, &y, &weights, &mut ChaCha8Rng::seed_from_u64(1)).into_scalar::<f32>()
    };
    let (mut first, mut rest) = ([0.0; 12], [1.0; 12]);
    first[0] = 2.0;
    rest[0] = 0.0;
    let mut both = rest;
    both[0] = 2.0;
    assert_eq!(loss([0.0; 12]), 0.0);
    assert!((loss(first) + loss(rest) - loss(both)).abs() < 1e-6);
    let mut single = [0.0; 12];
    single[0] = 1.0;
    assert!((loss(first) - 4.0 * loss(single)).abs() < 1e-6, "the weight acts inside the square");
}
