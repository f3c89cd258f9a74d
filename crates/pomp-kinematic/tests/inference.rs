//! The packed path of the closed loop against the burn module it was packed from.

mod rounded;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use pomp_kinematic::{
    Activation, Blend, Conditioning, Covariance, ExpertOutputs, GateInput, KinematicConfig, KinematicError,
    KinematicInference, KinematicModel, Lambda, Prediction, ReverseProcess, SamplerConfig, estimate_gamma,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use rounded::Rounded;

fn small() -> KinematicConfig {
    KinematicConfig {
        expert_hidden: vec![33, 20],
        condition_size: 19,
        gate_hidden: vec![70],
        decoder_hidden: vec![48, 48, 67],
        diffusion_steps: 20,
        time_embedding: 8,
        ..KinematicConfig::compact(30, 13, GateInput { start: 18, len: 10 })
    }
}

fn normals(count: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| rng.sample(StandardNormal)).collect()
}

fn tensor(values: &[f32], columns: usize) -> Tensor<2> {
    let shape = [values.len() / columns, columns];
    Tensor::from_data(TensorData::new(values.to_vec(), shape), &Device::flex())
}

fn configs() -> Vec<KinematicConfig> {
    let compact = KinematicConfig::compact(660, 480, GateInput { start: 300, len: 130 });
    vec![
        small(),
        KinematicConfig { prediction: Prediction::Velocity, activation: Activation::Elu, ..small() },
        KinematicConfig {
            conditioning: Conditioning::ExpertsAndState,
            expert_hidden: vec![],
            gate_hidden: vec![],
            decoder_hidden: vec![32],
            experts: 5,
            ..small()
        },
        KinematicConfig { blend: Blend::BeforeDecoder, ..small() },
        KinematicConfig { expert_outputs: ExpertOutputs::Plain, ..small() },
        KinematicConfig {
            expert_outputs: ExpertOutputs::Plain,
            blend: Blend::BeforeDecoder,
            conditioning: Conditioning::ExpertsAndState,
            ..small()
        },
        compact.clone(),
        KinematicConfig {
            activation: Activation::Elu,
            conditioning: Conditioning::ExpertsAndState,
            ..compact
        },
    ]
}

#[test]
fn the_packed_path_agrees_with_the_burn_module() {
    for (index, config) in configs().into_iter().enumerate() {
        let model = KinematicModel::new(&config, 5, &Device::flex()).unwrap();
        let (x_size, y_size) = (config.input_size, config.output_size);
        let data = (tensor(&normals(64 * x_size, 1), x_size), tensor(&normals(64 * y_size, 2), y_size));
        let gamma = estimate_gamma(&model, [data], 2, &mut ChaCha8Rng::seed_from_u64(3)).unwrap();
        let mut worst = 0.0f32;
        for (lambda, covariance) in [
            (Lambda::Zero, Covariance::None),
            (Lambda::Zero, Covariance::Scalar),
            (Lambda::Posterior, Covariance::PerFeature),
        ] {
            for steps in [1, 2, 4, 8] {
                let sampler = SamplerConfig { lambda, covariance, ..SamplerConfig::analytic_ddim(steps) };
                let process = ReverseProcess::new(model.schedule(), y_size, &sampler, Some(&gamma)).unwrap();
                let mut fast = KinematicInference::new(&model, process.clone()).unwrap();
                fast.set_gate_threshold(0.0).unwrap();
                let x = normals(x_size, 40 + steps as u64);
                let (mut slow_rng, mut fast_rng) =
                    (ChaCha8Rng::seed_from_u64(6), ChaCha8Rng::seed_from_u64(6));
                let slow = model.sample(&tensor(&x, x_size), &process, &mut slow_rng);
                let mut y = vec![0.0; y_size];
                fast.sample(&x, &mut y, &mut fast_rng).unwrap();
                for (fast, slow) in y.iter().zip(slow.to_data().iter::<f32>()) {
                    worst = worst.max((fast - slow).abs());
                }
                assert_eq!(slow_rng.next_u64(), fast_rng.next_u64(), "both draw the same");
            }
        }
        println!("configuration {index}: largest difference {worst:e}");
        assert!(worst < 1e-4);
    }
}

#[test]
fn weights_of_a_file_agree_with_the_burn_module_at_the_paper_s_size() {
    let config = KinematicConfig::paper(660, 480, GateInput { start: 300, len: 130 });
    let model = KinematicModel::new(&config, 5, &Device::flex()).unwrap().map(&mut Rounded);
    let mut worst = 0.0f32;
    for steps in [1, 4] {
        let process = ReverseProcess::new(model.schedule(), 480, &SamplerConfig::ddim(steps), None).unwrap();
        let mut fast = KinematicInference::new(&model, process.clone()).unwrap();
        fast.set_gate_threshold(0.0).unwrap();
        let (x, mut y) = (normals(660, 40), vec![0.0; 480]);
        let slow = model.sample(&tensor(&x, 660), &process, &mut ChaCha8Rng::seed_from_u64(6));
        fast.sample(&x, &mut y, &mut ChaCha8Rng::seed_from_u64(6)).unwrap();
        for (fast, slow) in y.iter().zip(slow.to_data().iter::<f32>()) {
            worst = worst.max((fast - slow).abs());
        }
    }
    println!("largest difference {worst:e}");
    assert!(worst < 1e-4);
}

#[test]
fn one_denoising_agrees_at_every_step() {
    let config = small();
    let model = KinematicModel::new(&config, 5, &Device::flex()).unwrap();
    let process = ReverseProcess::new(model.schedule(), 13, &SamplerConfig::ddim(1), None).unwrap();
    let mut fast = KinematicInference::new(&model, process).unwrap();
    fast.set_gate_threshold(0.0).unwrap();
    let (x, noisy) = (normals(30, 1), normals(13, 2));
    let context = model.encode(&tensor(&x, 30), None);
    for n in 1..=20 {
        let slow = model.predict_clean(&context, tensor(&noisy, 13), &[n]);
        let mut clean = vec![0.0; 13];
        fast.predict_clean(&x, &noisy, n, &mut clean).unwrap();
        for (fast, slow) in clean.iter().zip(slow.to_data().iter::<f32>()) {
            assert!((fast - slow).abs() < 1e-5);
        }
    }
    let gates = model.encoder.gates(&tensor(&x, 30)).to_data();
    for (fast, slow) in fast.gates().iter().zip(gates.iter::<f32>()) {
        assert!((fast - slow).abs() < 1e-6);
    }
}

#[test]
fn experts_with_a_negligible_share_can_be_skipped() {
    let mut model = KinematicModel::new(&small(), 5, &Device::flex()).unwrap();
    // A sharper gate, so that some shares fall below the threshold.
    let last = model.encoder.gate.len() - 1;
    let layer = &mut model.encoder.gate[last];
    layer.weight = layer.weight.clone().map(|weight| weight * 6.0);
    let process = ReverseProcess::new(model.schedule(), 13, &SamplerConfig::ddim(4), None).unwrap();
    let mut all = KinematicInference::new(&model, process.clone()).unwrap();
    all.set_gate_threshold(0.0).unwrap();
    let mut skipping = KinematicInference::new(&model, process).unwrap();
    let (mut skipped, mut worst) = (0, 0.0f32);
    for seed in 0..40 {
        let x = normals(30, 100 + seed);
        let (mut expected, mut found) = ([0.0; 13], [0.0; 13]);
        all.sample(&x, &mut expected, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
        skipping.sample(&x, &mut found, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
        skipped += skipping.gates().iter().filter(|gate| **gate < 1e-3).count();
        for (expected, found) in expected.iter().zip(found) {
            worst = worst.max((expected - found).abs());
        }
    }
    println!("{skipped} of 320 expert runs skipped, largest difference {worst:e}");
    assert!(skipped > 40);
    assert!(worst < 2e-2);
}

#[test]
fn the_same_seed_gives_the_same_frames_and_frames_do_not_depend_on_the_past() {
    let model = KinematicModel::new(&small(), 5, &Device::flex()).unwrap();
    let sampler = SamplerConfig { lambda: Lambda::Posterior, ..SamplerConfig::ddim(4) };
    let process = ReverseProcess::new(model.schedule(), 13, &sampler, None).unwrap();
    let mut first = KinematicInference::new(&model, process).unwrap();
    let mut second = first.clone();
    let (mut a, mut b) = ([0.0; 13], [0.0; 13]);
    second.sample(&normals(30, 9), &mut b, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
    for seed in 0..3 {
        let x = normals(30, seed);
        first.sample(&x, &mut a, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
        second.sample(&x, &mut b, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
        assert_eq!(a.map(f32::to_bits), b.map(f32::to_bits));
    }
    second.sample(&normals(30, 2), &mut b, &mut ChaCha8Rng::seed_from_u64(77)).unwrap();
    assert_ne!(a, b, "another seed is another sample");
}

fn inference() -> KinematicInference {
    let model = KinematicModel::new(&small(), 5, &Device::flex()).expect("the configuration is valid");
    let process = ReverseProcess::new(model.schedule(), 13, &SamplerConfig::ddim(2), None)
        .expect("the configuration is valid");
    KinematicInference::new(&model, process).expect("the configuration is valid")
}

#[test]
fn rejects_an_input_of_another_size() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let short = inference().sample(&[0.0; 29], &mut [0.0; 13], &mut rng);
    assert!(matches!(short, Err(KinematicError::SizeMismatch { expected: 30, found: 29, .. })));
    let short = inference().sample(&[0.0; 30], &mut [0.0; 12], &mut rng);
    assert!(matches!(short, Err(KinematicError::SizeMismatch { expected: 13, found: 12, .. })));
}

#[test]
fn rejects_an_input_that_is_not_finite_with_its_position() {
    let mut x = [0.0; 30];
    x[17] = f32::NAN;
    let found = inference().sample(&x, &mut [0.0; 13], &mut ChaCha8Rng::seed_from_u64(1));
    assert!(matches!(found, Err(KinematicError::NotFinite { column: 17, .. })));
}

#[test]
fn rejects_weights_that_are_not_finite() {
    let mut model = KinematicModel::new(&small(), 5, &Device::flex()).unwrap();
    model.decoder.output.weight = model.decoder.output.weight.clone().map(|weight| weight / 0.0);
    let process = ReverseProcess::new(model.schedule(), 13, &SamplerConfig::ddim(2), None).unwrap();
    assert!(matches!(KinematicInference::new(&model, process), Err(KinematicError::NotFinite { .. })));
}

#[test]
fn rejects_a_process_of_another_module() {
    let other = KinematicConfig { diffusion_steps: 30, ..small() };
    let other = KinematicModel::new(&other, 5, &Device::flex()).unwrap();
    let process = ReverseProcess::new(other.schedule(), 13, &SamplerConfig::ddim(2), None).unwrap();
    assert!(matches!(inference().set_process(process), Err(KinematicError::OutOfRange(_))));
}

#[test]
fn rejects_a_threshold_that_could_skip_every_expert() {
    for bad in [0.125, -0.1, f32::NAN] {
        assert!(matches!(inference().set_gate_threshold(bad), Err(KinematicError::OutOfRange(_))));
    }
}

#[test]
fn a_model_taken_out_of_training_packs_the_same() {
    let plain = KinematicModel::new(&small(), 5, &Device::flex()).unwrap();
    let trained = KinematicModel::new(&small(), 5, &Device::flex().autodiff()).unwrap();
    let process = ReverseProcess::new(plain.schedule(), 13, &SamplerConfig::ddim(2), None).unwrap();
    let x = normals(30, 1);
    let frames = [&plain, &trained, &trained.valid()].map(|model| {
        let mut y = [0.0; 13];
        let mut packed = KinematicInference::new(model, process.clone()).unwrap();
        packed.sample(&x, &mut y, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        y
    });
    assert_eq!(frames[0], frames[1]);
    assert_eq!(frames[0], frames[2]);
}
