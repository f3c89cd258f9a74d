//! Time of one frame in the loop at the compact and the paper's size (x = 660, y = 480), all experts running, with weights
//! of half precision, as a model's file holds them. `onnx_runtime.py` times the same frame in ONNX Runtime.

#[path = "../tests/rounded/mod.rs"]
mod rounded;

use burn::module::Module;
use burn::tensor::Device;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pomp_kinematic::{
    GateInput, KinematicConfig, KinematicInference, KinematicModel, ReverseProcess, SamplerConfig,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rounded::Rounded;

const X: usize = 660;
const Y: usize = 480;

fn compact() -> KinematicConfig {
    KinematicConfig::compact(X, Y, GateInput { start: 0, len: 130 })
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
        let model = model.map(&mut Rounded);
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

/// Samples of many characters at once; divided by their number, to be compared with one.
fn together(criterion: &mut Criterion) {
    let gate = GateInput { start: 0, len: 130 };
    let mut group = criterion.benchmark_group("frame_of_many");
    for (name, config) in [("compact", compact()), ("paper", KinematicConfig::paper(X, Y, gate))] {
        let model = KinematicModel::new(&config, 1, &Device::flex()).expect("the preset is valid").valid();
        let model = model.map(&mut Rounded);
        let process = ReverseProcess::new(model.schedule(), Y, &SamplerConfig::ddim(4), None)
            .expect("the preset has more steps");
        let mut inference = KinematicInference::new(&model, process).expect("fresh weights are finite");
        inference.set_gate_threshold(0.0).expect("zero is legal");
        for characters in [1, 8, 32] {
            let x: Vec<Vec<f32>> = (0..characters)
                .map(|at| (0..X).map(|i| ((i + 7 * at) as f32 * 0.37).sin()).collect())
                .collect();
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            group.throughput(Throughput::Elements(characters as u64));
            group.bench_function(BenchmarkId::new(name, characters), |bencher| {
                bencher.iter(|| {
                    inference.begin();
                    for x in &x {
                        inference.add(x, None, &mut rng).expect("the input is finite");
                    }
                    inference.run();
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, frame, together);
criterion_main!(benches);
