//! Variants of a walk in another style.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and says what it measured")]

use pomp_formats::npz::read_recording;
use pomp_formats::{BvhWriteOptions, write_bvh};
use pomp_motion::retarget::RigLibrary;
use pomp_motion::{Clip, Recording};
use pomp_preprocess::{Manifest, OnFailure, PreprocessConfig, PreprocessError, find_inputs, run};
use pomp_style::{DataRecord, StyleClip, StyleConfig};
use pomp_synthetic::{MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn walking(speed_m_s: f32, duration_s: f32, seed: u64) -> (Clip, Recording) {
    let ground = HeightMap::flat(100.0, 1.0).unwrap();
    let request = MotionRequest { speed_m_s, duration_s, seed, ..MotionRequest::new(MotionKind::Walk) };
    let made = generate(&request, &ground).unwrap();
    let mut recording = Recording::of_clip(&made.clip);
    recording.foot_contact = made.foot_contact;
    (made.clip, recording)
}

/// A file of two styles, slow and fast.
fn style_file(folder: &Path) -> PathBuf {
    let mut clips = Vec::new();
    for (style, speed) in [("slow", 0.9), ("fast", 1.5)] {
        for seed in 0..3u8 {
            let (_, mut recording) = walking(speed + 0.03 * f32::from(seed), 12.0, seed.into());
            recording.name = format!("{style}_{seed}");
            clips.push(StyleClip { recording, style: style.to_owned() });
        }
    }
    let mut config = StyleConfig {
        posture_components: 6,
        timing_components: 2,
        held_out_every: 0,
        ..StyleConfig::default()
    };
    (config.subspaces.count, config.subspaces.restarts) = (2, 2);
    let licenses = BTreeMap::from([("fast".to_owned(), vec!["CC0-1.0".to_owned()])]);
    let data = DataRecord { hash: String::new(), licenses };
    let (model, report) = pomp_style::fit(&clips, &walking(1.2, 8.0, 9).1, &config, data).unwrap();
    let path = folder.join("styles.safetensors");
    pomp_style::save(&model, &report, &path).unwrap();
    path
}

fn config(file: PathBuf, style: &str) -> PreprocessConfig {
    let mut config = PreprocessConfig { mirror: false, ..PreprocessConfig::default() };
    config.style.variants = 1;
    config.style.file = Some(file);
    config.style.styles = vec![style.to_owned()];
    config.style.share = [1.0, 1.0];
    config
}

fn made(folder: &Path, config: &PreprocessConfig) -> Result<Manifest, PreprocessError> {
    let (clip, _) = walking(1.0, 8.0, 21);
    write_bvh(&folder.join("clip.bvh"), &clip, &BvhWriteOptions::default()).unwrap();
    let inputs = find_inputs(&[folder.join("clip.bvh")]).unwrap();
    let proceed = |_: &_| ControlFlow::Continue(());
    run(&inputs, &folder.join("out"), config, &RigLibrary::builtin(), OnFailure::Stop, &proceed)
}

#[test]
fn a_walk_in_another_style_is_one_more_result_with_its_own_replay_and_says_what_made_it() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = made(folder.path(), &config(style_file(folder.path()), "fast")).unwrap();
    let names: Vec<&str> = manifest.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(names, ["clip", "clip_terrain0_style1"], "{:?}", manifest.clips[0].left_out);
    let entry = &manifest.clips[1];
    assert!(entry.source.contains("walked at 1.00 in the style \"fast\", seed 1"), "{}", entry.source);
    assert!(entry.license.ends_with("style: CC0-1.0"), "{}", entry.license);
    assert_eq!(entry.replay.resets, 0);
    let speed = |name: &str| {
        let recording = read_recording(&folder.path().join("out").join(format!("{name}.npz"))).unwrap();
        let simulation = recording.simulation.as_ref().unwrap();
        assert!(simulation.sim_contact_impulse.values().iter().any(|impulse| impulse.length() > 0.0));
        let last = recording.frames() - 1;
        simulation.positions[0][0].distance(simulation.positions[last][0]) * 60.0 / last as f32
    };
    let (plain, styled) = (speed("clip"), speed("clip_terrain0_style1"));
    println!("the body walks {plain:.2} m/s, in the style of walks of 1.5 m/s {styled:.2} m/s");
    assert!(styled > plain + 0.25, "{plain} {styled}");
}

#[test]
fn rejects_styles_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |config: &PreprocessConfig| made(folder.path(), config).unwrap_err().to_string();
    let mut none = config(PathBuf::new(), "fast");
    none.style.file = None;
    let told = refused(&none);
    assert!(told.contains("style.file = none") && told.contains("a style file"), "{told}");
    let told = refused(&config(folder.path().join("missing.safetensors"), "fast"));
    assert!(told.contains("missing.safetensors") && told.contains("pomp style fit"), "{told}");
    let told = refused(&config(style_file(folder.path()), "happy"));
    assert!(told.contains("no style \"happy\"") && told.contains("fast, slow"), "{told}");
    let broken = folder.path().join("broken.safetensors");
    std::fs::write(&broken, "no styles").unwrap();
    let told = refused(&config(broken, "fast"));
    assert!(told.contains("broken.safetensors") && told.contains("write it again"), "{told}");
}
