//! The networks written for one frame at a time against the general ones.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use pomp_motion::FrameTable;
use pomp_motion::glam::Vec3;
use pomp_phase::{
    ChannelPhase, FrameDecoder, FrameEncoder, PeriodicAutoencoder, PeriodicAutoencoderConfig, PhaseError,
    PhaseState, PhaseTrainingConfig, Spectrum, StitchConfig, TargetSpan, VelocityWindow, WindowConfig,
    WindowDecoder, WindowEncoder, pae_loss, window_batch,
};

const SPAN: TargetSpan = TargetSpan { key_spacing: 10, first_frame: 21, last_frame: 60 };

fn velocities(joints: usize, frames: usize, seed: f32) -> FrameTable<Vec3> {
    let mut table = FrameTable::with_columns(joints);
    for frame in 0..frames {
        let at = |joint: usize, axis: f32| {
            let t = frame as f32 / 60.0;
            let slow = (std::f32::consts::TAU * (0.9 + 0.1 * axis) * t + joint as f32 + seed).sin();
            slow + 0.3 * (17.0 * t * axis + seed * joint as f32).cos() + 0.2 * axis
        };
        let row: Vec<Vec3> =
            (0..joints).map(|joint| Vec3::new(at(joint, 1.0), at(joint, 2.0), at(joint, 3.0))).collect();
        table.push(&row);
    }
    table
}

/// A model whose batch norms have seen data, so that none of their four vectors is neutral.
fn trained(config: &PeriodicAutoencoderConfig) -> PeriodicAutoencoder {
    let device = Device::flex().autodiff();
    let mut model = PeriodicAutoencoder::new(config, 3, &device).unwrap();
    let mut optimizer = PhaseTrainingConfig::default().optimizer();
    let motion = velocities(config.joints, 400, 0.4);
    for step in 0..6 {
        let windows: Vec<VelocityWindow> =
            (0..4).map(|at| config.window.cut(&motion, 60 + 17 * step + 40 * at).unwrap()).collect();
        let batch = window_batch(&windows.iter().collect::<Vec<_>>(), &device).unwrap();
        let gradients = GradientsParams::from_grads(pae_loss(&model, batch).backward(), &model);
        model = optimizer.step(3e-3, model, gradients);
    }
    model.valid()
}

fn configs() -> Vec<PeriodicAutoencoderConfig> {
    let usual = PeriodicAutoencoderConfig::new(22);
    let odd = PeriodicAutoencoderConfig {
        channels: 9,
        intermediate: 13,
        kernel: 21,
        window: WindowConfig { radius_frames: 32, frame_rate_hz: 30.0 },
        spectrum: Spectrum::Plain,
        ..PeriodicAutoencoderConfig::new(7)
    };
    vec![usual, odd]
}

fn largest(values: impl Iterator<Item = f32>) -> f32 {
    values.map(f32::abs).fold(0.0, f32::max)
}

// The bound of all comparisons, in parts of the largest value: sums of some thousand products in another order differ by a
// few times √1000 · 2⁻²⁴ = 2e-6, and two layers and a spectrum amplify that by what a weak channel is weaker than the
// strongest.
const AGREEMENT: f32 = 2e-5;

#[test]
fn a_window_read_by_frame_has_the_phases_that_the_general_encoder_reads() {
    for config in configs() {
        let model = trained(&config);
        let general = WindowEncoder::new(&model.encoder);
        let mut by_frame = FrameEncoder::new(&model.encoder, &config).unwrap();
        let motion = velocities(config.joints, 600, 2.2);
        let mut found = PhaseState::default();
        let mut worst = [0.0_f32; 4];
        for centre in (80..500).step_by(35) {
            let first = centre - config.window.radius_frames;
            let expected = general.encode(&config.window.cut(&motion, centre).unwrap()).unwrap();
            by_frame.encode(|frame| &motion[first + frame], &mut found).unwrap();
            let scale = largest(expected.code().into_iter());
            let frequency_scale = largest(expected.frequencies_hz().into_iter());
            for (a, b) in expected.channels.iter().zip(&found.channels) {
                let code = a.code().into_iter().zip(b.code()).map(|(a, b)| a - b);
                let differences = [
                    largest(code) / scale,
                    (a.amplitude - b.amplitude).abs() / scale,
                    (a.frequency_hz - b.frequency_hz).abs() / frequency_scale,
                    (a.offset - b.offset).abs() / scale,
                ];
                for (worst, difference) in worst.iter_mut().zip(differences) {
                    *worst = worst.max(difference);
                }
            }
        }
        println!("code, amplitude, frequency and offset differ by up to {worst:?} of the largest");
        assert!(worst.iter().all(|difference| *difference < AGREEMENT), "{worst:?}");
    }
}

fn keys(channels: usize, seed: f32) -> Vec<PhaseState> {
    let key = |at: usize| PhaseState {
        channels: (0..channels)
            .map(|channel| {
                let wave = |k: f32| (k * at as f32 + channel as f32 * 1.7 + seed).sin();
                ChannelPhase {
                    amplitude: 0.6 + 0.5 * wave(0.3),
                    frequency_hz: 2.0 + 1.9 * wave(0.2),
                    offset: 0.4 * wave(0.5),
                    shift_turns: 0.5 * wave(0.9),
                }
            })
            .collect(),
    };
    (0..7).map(key).collect()
}

#[test]
fn target_velocities_by_frame_are_those_of_the_general_decoder() {
    let spans = [
        (0, SPAN),
        (0, TargetSpan { key_spacing: 7, first_frame: 3, last_frame: 33 }),
        (1, TargetSpan { key_spacing: 5, first_frame: 11, last_frame: 30 }),
        (1, TargetSpan { key_spacing: 20, first_frame: 1, last_frame: 6 }),
    ];
    let configs = configs();
    let models: Vec<PeriodicAutoencoder> = configs.iter().map(trained).collect();
    for (which, span) in spans {
        let (config, model) = (&configs[which], &models[which]);
        let general = WindowDecoder::new(&model.decoder, config.window);
        let mut by_frame = FrameDecoder::new(&model.decoder, config, span).unwrap();
        let past: Vec<Vec3> = velocities(config.joints, 1, 5.0)[0].to_vec();
        let mut worst = 0.0_f32;
        for seed in 0..8_u8 {
            let keys = keys(config.channels, f32::from(seed));
            let TargetSpan { key_spacing, first_frame, last_frame } = span;
            let expected =
                general.target_velocities(&keys, key_spacing, first_frame, last_frame, &past).unwrap();
            let found = by_frame.target_velocities(&keys, &past).unwrap();
            assert_eq!(found.frames(), expected.frames());
            let scale = expected.values().iter().map(|v| v.abs().max_element()).fold(0.0, f32::max);
            let pairs = expected.values().iter().zip(found.values());
            worst = worst.max(largest(pairs.map(|(a, b)| (*a - *b).abs().max_element() / scale)));
        }
        println!("{span:?}: target velocities differ by up to {worst:e} of the largest");
        assert!(worst < AGREEMENT, "{worst}");
    }
}

#[test]
fn a_frame_leaves_nothing_behind_that_changes_the_next() {
    let config = &configs()[0];
    let model = trained(config);
    let mut encoder = FrameEncoder::new(&model.encoder, config).unwrap();
    let mut decoder = FrameDecoder::new(&model.decoder, config, SPAN).unwrap();
    let motion = velocities(config.joints, 300, 2.2);
    let past = vec![Vec3::ONE; config.joints];
    let mut run = |at: usize| {
        let mut state = PhaseState::default();
        encoder.encode(|frame| &motion[at + frame], &mut state).unwrap();
        (state, decoder.target_velocities(&keys(5, at as f32), &past).unwrap().clone())
    };
    let first = run(10);
    assert_ne!(run(90), first);
    assert_eq!(run(10), first);
}

#[test]
fn phases_and_target_velocities_are_the_same_bytes_alone_and_in_any_company() {
    for (config, span) in
        configs().into_iter().zip([SPAN, TargetSpan { key_spacing: 5, first_frame: 11, last_frame: 30 }])
    {
        let model = trained(&config);
        let mut encoder = FrameEncoder::new(&model.encoder, &config).unwrap();
        let mut decoder = FrameDecoder::new(&model.decoder, &config, span).unwrap();
        let motion = velocities(config.joints, 300, 2.2);
        let past = |character: usize| motion[7 * character].to_vec();
        let keys = |character: usize| keys(config.channels, character as f32);
        let alone: Vec<(PhaseState, FrameTable<Vec3>)> = (0..11)
            .map(|at| {
                let mut state = PhaseState::default();
                encoder.encode(|frame| &motion[13 * at + frame], &mut state).unwrap();
                (state, decoder.target_velocities(&keys(at), &past(at)).unwrap().clone())
            })
            .collect();
        for company in [2, 4, 5, 11] {
            for first in (0..11).step_by(company) {
                let characters = first..(first + company).min(11);
                encoder.begin();
                decoder.begin();
                for at in characters.clone() {
                    encoder.add(|frame| &motion[13 * at + frame]).unwrap();
                    decoder.add(&keys(at), &past(at)).unwrap();
                }
                encoder.run();
                decoder.run();
                for (place, at) in characters.enumerate() {
                    let mut state = PhaseState::default();
                    encoder.read(place, &mut state).unwrap();
                    assert_eq!(state, alone[at].0, "phases of character {at} of {company}");
                    assert_eq!(
                        decoder.targets(place),
                        &alone[at].1,
                        "velocities of character {at} of {company}"
                    );
                }
            }
        }
        // The control: the characters differ.
        assert!(alone.windows(2).all(|pair| pair[0].0 != pair[1].0 && pair[0].1 != pair[1].1));
    }
}

#[test]
fn a_character_that_cannot_be_added_leaves_the_others_as_they_are() {
    let config = &configs()[1];
    let model = trained(config);
    let mut encoder = FrameEncoder::new(&model.encoder, config).unwrap();
    let motion = velocities(config.joints, 90, 2.2);
    let mut broken = motion.clone();
    broken[17][3].y = f32::NAN;
    let mut expected = PhaseState::default();
    encoder.encode(|frame| &motion[20 + frame], &mut expected).unwrap();
    encoder.begin();
    encoder.add(|frame| &motion[frame]).unwrap();
    encoder.add(|frame| &broken[frame]).unwrap_err();
    assert_eq!(encoder.add(|frame| &motion[20 + frame]).unwrap(), 1);
    encoder.run();
    let mut found = PhaseState::default();
    encoder.read(1, &mut found).unwrap();
    assert_eq!(found, expected);
}

#[test]
fn an_empty_far_future_has_no_target_velocities() {
    let config = &configs()[0];
    let model = trained(config);
    let span = TargetSpan { key_spacing: 10, first_frame: 61, last_frame: 60 };
    let mut decoder = FrameDecoder::new(&model.decoder, config, span).unwrap();
    let past = vec![Vec3::ZERO; config.joints];
    assert_eq!(decoder.target_velocities(&keys(5, 0.0), &past).unwrap().frames(), 0);
    assert_eq!(StitchConfig { near_frames: 60, ..StitchConfig::default() }.far_frames(&config.window), 0);
}

#[test]
fn rejects_other_sizes_and_kernels_longer_than_the_window() {
    let config = &configs()[1];
    let model = trained(config);
    let other = PeriodicAutoencoderConfig { joints: 8, ..config.clone() };
    assert!(matches!(FrameEncoder::new(&model.encoder, &other), Err(PhaseError::SizeMismatch { .. })));
    assert!(matches!(FrameDecoder::new(&model.decoder, &other, SPAN), Err(PhaseError::SizeMismatch { .. })));
    let long = PeriodicAutoencoderConfig { kernel: 67, ..config.clone() };
    let found = FrameDecoder::new(&model.decoder, &long, SPAN);
    assert!(matches!(found, Err(PhaseError::OutOfRange(refused)) if refused.field == "kernel"));
    let found = FrameDecoder::new(&model.decoder, config, TargetSpan { first_frame: 0, ..SPAN });
    assert!(matches!(found, Err(PhaseError::OutOfRange(refused)) if refused.field == "first_frame"));
    let mut decoder = FrameDecoder::new(&model.decoder, config, SPAN).unwrap();
    let past = vec![Vec3::ZERO; config.joints];
    let found = decoder.target_velocities(&keys(9, 0.0)[..6], &past);
    assert!(matches!(found, Err(PhaseError::SizeMismatch { expected: 7, found: 6, .. })));
}

#[test]
fn rejects_a_velocity_and_a_weight_that_are_not_finite() {
    let config = &configs()[1];
    let model = trained(config);
    let mut encoder = FrameEncoder::new(&model.encoder, config).unwrap();
    let mut motion = velocities(config.joints, 65, 2.2);
    motion[17][3].y = f32::NAN;
    let found = encoder.encode(|frame| &motion[frame], &mut PhaseState::default());
    assert!(matches!(found, Err(PhaseError::NotFinite { row: 17, column: 3, .. })));

    struct Spoil;
    impl burn::module::ModuleMapper for Spoil {
        fn map_float<const D: usize>(
            &mut self,
            param: burn::module::Param<burn::tensor::Tensor<D>>,
        ) -> burn::module::Param<burn::tensor::Tensor<D>> {
            param.map(|tensor| tensor * f32::INFINITY)
        }
    }
    let spoilt = model.map(&mut Spoil);
    assert!(matches!(FrameEncoder::new(&spoilt.encoder, config), Err(PhaseError::NotFinite { .. })));
}
