//! Fuzz target of model folders: whatever the files hold, they are refused or read without memory beyond their size, and a
//! model that is read can be run or says what is wrong.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

#[path = "../../../tests/fuzz_input.rs"]
mod fuzz_input;
mod small_model;

use fuzz_input::{FuzzInput, ITERATIONS, bounded};
use pomp_kinematic::{CoherentNoise, KinematicInference, ReverseProcess, SamplerConfig};
use pomp_model::{Model, ModelDescription};
use pomp_motion::glam::Vec3;
use pomp_phase::{FrameDecoder, FrameEncoder, PhaseState};

/// A safetensors file with a changed header, whose length it states.
fn with_header(file: &[u8], change: impl FnOnce(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let end = 8 + u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let mut header = change(&file[8..end]);
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes()[..], &header, &file[end..]].concat()
}

/// Runs every network of a model once; sizes fit each other, so that only numbers may be refused.
fn run(model: &Model) -> Result<(), String> {
    let description = &model.description;
    let layout = &description.layout;
    let (network, gamma, kinematic) = model.kinematic().unwrap();
    let process = ReverseProcess::new(
        network.schedule(),
        layout.y_len(),
        &SamplerConfig::analytic_ddim(1),
        Some(gamma),
    )
    .map_err(|error| error.to_string())?;
    let mut inference = KinematicInference::new(network, process).map_err(|error| error.to_string())?;
    let mut noise = CoherentNoise::new(1, inference.draws(), 1.0 / 60.0, 0.1);
    let (mut x, mut y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
    kinematic.x.normalise(&mut x);
    inference.sample(&x, &mut y, &mut noise).map_err(|error| error.to_string())?;
    kinematic.output_to_y(layout, &x, &mut y);
    for encoder in [&model.phase.encoder, model.aligned_phase().unwrap()] {
        let mut encoder =
            FrameEncoder::new(encoder, &description.phase).map_err(|error| error.to_string())?;
        let row = vec![Vec3::ONE; layout.joints()];
        encoder.encode(|_| &row, &mut PhaseState::default()).map_err(|error| error.to_string())?;
    }
    let span = description.stitch.target_span(&description.phase.window);
    FrameDecoder::new(&model.phase.decoder, &description.phase, span).map_err(|error| error.to_string())?;
    Ok(())
}

#[test]
fn any_model_folder_is_refused_or_a_model_that_runs() {
    let files = small_model::files();
    let words = [
        "null",
        "[]",
        "{}",
        ",",
        "\"",
        "-",
        "1e39",
        "0.0",
        "\"F16\"",
        "\"BF16\"",
        "\"data_offsets\":[0,8]",
        "\"shape\":[]",
        "\"walk\":[]",
        "{\"range\":{\"start\":0,\"end\":1}}",
    ];
    let (mut read, mut ran) = (0_u32, 0_u32);
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        let mut files = files.clone();
        let weights = |file: &[u8]| {
            let body = |file: &[u8]| input.bytes(&[file.to_vec()], &words);
            if input.choice(3) == 0 { body(file) } else { with_header(file, body) }
        };
        match input.choice(7) {
            0 => files.phase = weights(&files.phase),
            1 => files.aligned_phase = weights(&files.aligned_phase),
            2 => files.kinematic = weights(&files.kinematic),
            _ => files.description = input.bytes(std::slice::from_ref(&files.description), &words),
        }
        match bounded(32, || files.load()) {
            Err(reason) => assert!(!reason.is_empty()),
            Ok(model) => {
                read += 1;
                let written = model.description.to_json();
                assert!(ModelDescription::from_json(&written, "written").unwrap() == model.description);
                ran += u32::from(bounded(32, || run(&model)).is_ok());
            }
        }
    });
    println!("{read} of the inputs were read, {ran} ran");
    assert!(ran > 0, "no input leads to a model that runs");
}
