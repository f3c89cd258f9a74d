//! Time of a training step at the compact size, and of one frame in the loop at the compact and the paper's size (x = 660,
//! y = 480), all experts running. `onnx_runtime.py` times the same frame in ONNX Runtime,
//! `pytorch_training_step.py` the same step in PyTorch.

use burn::module::Module;
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::{Device, Distribution, Tensor};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pomp_kinematic::{
    GateInput, KinematicConfig, KinematicInference, KinematicModel, ReverseProcess, SamplerConfig,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const X: usize = 660;
const Y: usize = 480;

fn compact() -> KinematicConfig {
    KinematicConfig::compact(X, Y, GateInput { start: 0, len: 130 })
}

fn training_step(criterion: &mut Criterion) {
    let device = Device::flex();
    let weights = Tensor::ones([Y], &device);
    let mut group = criterion.benchmark_group("training_step");
    group.sample_size(10);
    for batch in [128, 256] {
        let x = Tensor::random([batch, X], Distribution::Normal(0.0, 1.0), &device);
        let y = Tensor::random([batch, Y], Distribution::Normal(0.0, 1.0), &device);
        let mut model = Some(
            KinematicModel::new(&compact(), 1, &device.clone().autodiff()).expect("the preset is valid"),
        );
        let mut optimizer = AdamWConfig::new().init();
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        group.bench_function(BenchmarkId::from_parameter(batch), |bencher| {
            bencher.iter(|| {
                let current = model.take().expect("put back after every step");
                let gradients = current.loss(&x, &y, &weights, &mut rng).backward();
                let gradients = GradientsParams::from_grads(gradients, &current);
                model = Some(optimizer.step(1e-4, current, gradients));
            });
        });
    }
    group.finish();
}

fn frame(criterion: &mut Criterion) {
    let gate = GateInput { start: 0, len: 130 };
    let sizes = [
        ("compact", compact(), [1, 2, 4, 8].as_slice()),
        ("paper", KinematicConfig::paper(X, Y, gate), [1, 4].as_slice()),
    ];
    let x: Vec<f32> = (0..X).map(|i| (i as f32 * 0.37).sin()).collect();
    let mut y = vec![0.0; Y];
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut group = criterion.benchmark_group("frame");
    for (name, config, steps) in sizes {
        let model = KinematicModel::new(&config, 1, &Device::flex()).expect("the preset is valid").valid();
        for &steps in steps {
            let process = ReverseProcess::new(model.schedule(), Y, &SamplerConfig::ddim(steps), None)
                .expect("the preset has more steps");
            let mut inference = KinematicInference::new(&model, process).expect("fresh weights are finite");
            inference.set_gate_threshold(0.0).expect("zero is legal");
            group.bench_function(BenchmarkId::new(name, steps), |bencher| {
                bencher.iter(|| inference.sample(&x, &mut y, &mut rng).expect("the input is finite"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, training_step, frame);
criterion_main!(benches);
