//! Time of what the closed loop asks of the phase encoding module each frame: target velocities from seven predicted keys,
//! and the phases of a stitched window; 22 joints, 5 channels, 121 taps. By frame, as the loop runs it, and with the
//! general networks.

use burn::tensor::Device;
use criterion::{Criterion, criterion_group, criterion_main};
use pomp_motion::glam::Vec3;
use pomp_phase::{
    FrameDecoder, FrameEncoder, PeriodicAutoencoder, PeriodicAutoencoderConfig, TargetSpan, VelocityWindow,
    WindowDecoder, WindowEncoder,
};

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
    group.finish();
}

criterion_group!(benches, frame);
criterion_main!(benches);
