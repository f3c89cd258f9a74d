//! Time of what the closed loop asks of the phase encoding module each frame: target velocities from seven predicted keys,
//! and the phases of a stitched window; 22 joints, 5 channels, 121 taps. By frame, as the loop runs it, and with the
//! general networks. And of a training step, which `pytorch_training_step.py` times in PyTorch.

use burn::optim::GradientsParams;
use burn::tensor::{Device, Distribution, Tensor};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pomp_motion::glam::Vec3;
use pomp_phase::{
    FrameDecoder, FrameEncoder, PeriodicAutoencoder, PeriodicAutoencoderConfig, PhaseTrainingConfig,
    TargetSpan, VelocityWindow, WindowDecoder, WindowEncoder, pae_loss,
};
use pomp_tensors::{join_thread_pool, keep_freed_memory};

const JOINTS: usize = 22;

fn frame(criterion: &mut Criterion) {
    let config = PeriodicAutoencoderConfig::new(JOINTS);
    let model = PeriodicAutoencoder::new(&config, 1, &Device::flex()).expect("the sizes are valid");
    let (encoder, decoder) =
        (WindowEncoder::new(&model.encoder), WindowDecoder::new(&model.decoder, config.window));
    let span = TargetSpan { key_spacing: 10, first_frame: 21, last_frame: 60 };
    let mut frame_encoder = FrameEncoder::new(&model.encoder, &config).expect("the sizes are valid");
    let mut frame_decoder = FrameDecoder::new(&model.decoder, &config, span).expect("the sizes are valid");
    let rows: Vec<Vec<Vec3>> = (0..121).map(|t| vec![Vec3::splat((t as f32 * 0.1).sin()); JOINTS]).collect();
    let window = VelocityWindow::from_frames(JOINTS, 121, |t| &rows[t]).expect("sines are finite");
    let mut state = encoder.encode(&window).expect("fresh weights are finite");
    let keys = vec![state.clone(); 7];
    let past = [Vec3::ZERO; JOINTS];
    let mut group = criterion.benchmark_group("phase");
    group.bench_function("encode/general", |bencher| {
        bencher.iter(|| encoder.encode(&window).expect("fresh weights are finite"));
    });
    group.bench_function("encode/by_frame", |bencher| {
        bencher.iter(|| frame_encoder.encode(|frame| &rows[frame], &mut state).expect("finite weights"));
    });
    group.bench_function("target_velocities/general", |bencher| {
        bencher.iter(|| decoder.target_velocities(&keys, 10, 21, 60, &past).expect("the sizes agree"));
    });
    group.bench_function("target_velocities/by_frame", |bencher| {
        bencher.iter(|| frame_decoder.target_velocities(&keys, &past).expect("the sizes agree").frames());
    });
    for characters in [1, 32] {
        group.throughput(Throughput::Elements(characters));
        group.bench_function(BenchmarkId::new("both_by_frame", characters), |bencher| {
            bencher.iter(|| {
                frame_encoder.begin();
                frame_decoder.begin();
                for _ in 0..characters {
                    frame_encoder.add(|frame| &rows[frame]).expect("sines are finite");
                    frame_decoder.add(&keys, &past).expect("the sizes agree");
                }
                frame_encoder.run();
                frame_decoder.run();
            });
        });
    }
    group.finish();
}

fn training_step(criterion: &mut Criterion) {
    // As training does.
    keep_freed_memory();
    join_thread_pool();
    let device = Device::flex().autodiff();
    let config = PeriodicAutoencoderConfig::new(JOINTS);
    let mut model = Some(PeriodicAutoencoder::new(&config, 1, &device).expect("the sizes are valid"));
    let mut optimizer = PhaseTrainingConfig::default().optimizer();
    let windows = Tensor::<3>::random([64, 3 * JOINTS, 121], Distribution::Normal(0.0, 1.0), &device);
    let mut group = criterion.benchmark_group("phase");
    group.sample_size(10);
    group.bench_function("training_step/64", |bencher| {
        bencher.iter(|| {
            let current = model.take().expect("put back after every step");
            let gradients = pae_loss(&current, windows.clone()).backward();
            let gradients = GradientsParams::from_grads(gradients, &current);
            model = Some(optimizer.step(1e-4, current, gradients));
        });
    });
    group.finish();
}

criterion_group!(benches, training_step, frame);
criterion_main!(benches);
