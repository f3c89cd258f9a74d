//! Time of a training step of the kinematic module at the compact size (x = 660, y = 480): loss, gradients and AdamW.
//! `pytorch_kinematic_step.py` times the same step in PyTorch.

use burn::optim::GradientsParams;
use burn::tensor::{Device, Distribution, Tensor};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pomp_kinematic::{GateInput, KinematicConfig, KinematicModel};
use pomp_tensors::{join_thread_pool, keep_freed_memory};
use pomp_train::adamw;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const X: usize = 660;
const Y: usize = 480;

fn kinematic(criterion: &mut Criterion) {
    // As training does.
    keep_freed_memory();
    join_thread_pool();
    let device = Device::flex();
    let config = KinematicConfig::compact(X, Y, GateInput { start: 0, len: 130 });
    let weights = Tensor::ones([Y], &device);
    let mut group = criterion.benchmark_group("training_step/kinematic");
    group.sample_size(10);
    for batch in [128, 256] {
        let x = Tensor::random([batch, X], Distribution::Normal(0.0, 1.0), &device);
        let y = Tensor::random([batch, Y], Distribution::Normal(0.0, 1.0), &device);
        let mut model =
            Some(KinematicModel::new(&config, 1, &device.clone().autodiff()).expect("the preset is valid"));
        let mut optimizer = adamw(1e-4, None);
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

criterion_group!(benches, kinematic);
criterion_main!(benches);
