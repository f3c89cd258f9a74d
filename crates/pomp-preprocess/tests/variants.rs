//! The variants of a clip, from the file to the folder of recordings.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and says what it measured")]

use pomp_augment::{ReliefKind, WayUp};
use pomp_formats::npz::read_recording;
use pomp_formats::{BvhWriteOptions, write_bvh};
use pomp_motion::Gait;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::{Manifest, OnFailure, PreprocessConfig, PreprocessError, find_inputs, run};
use pomp_synthetic::{MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::ops::ControlFlow;
use std::path::Path;

fn made(folder: &Path, kind: MotionKind, config: &PreprocessConfig) -> Manifest {
    let ground = HeightMap::flat(40.0, 1.0).unwrap();
    let clip =
        generate(&MotionRequest { duration_s: 3.0, ..MotionRequest::new(kind) }, &ground).unwrap().clip;
    write_bvh(&folder.join("clip.bvh"), &clip, &BvhWriteOptions::default()).unwrap();
    let inputs = find_inputs(&[folder.join("clip.bvh")]).unwrap();
    let rigs = RigLibrary::builtin();
    run(&inputs, &folder.join("out"), config, &rigs, OnFailure::Stop, &|_| ControlFlow::Continue(())).unwrap()
}

fn with_variants() -> PreprocessConfig {
    let mut config = PreprocessConfig { terrain_variants: 2, ..PreprocessConfig::default() };
    (config.warp.variants, config.bumps.variants) = (5, 1);
    // One of each: the defaults lay more clips on steps than on other reliefs.
    config.warp.kinds =
        vec![ReliefKind::Slope, ReliefKind::Steps, ReliefKind::Hills, ReliefKind::Rough, ReliefKind::Gaps];
    config
}

#[test]
fn a_walk_has_every_variant_once_each_with_its_own_replay() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = made(folder.path(), MotionKind::Walk, &with_variants());
    let names: Vec<&str> = manifest.clips.iter().map(|clip| clip.name.as_str()).collect();
    println!("{names:?}");
    assert_eq!(names.len(), 2 * 8, "own ground, one of patches, five reliefs, one pushed; all mirrored");
    let mut lost = 0;
    for kind in ["slope", "steps", "hills", "rough", "gaps"] {
        let of_kind: Vec<_> = manifest.clips.iter().filter(|clip| clip.name.contains(kind)).collect();
        assert_eq!(of_kind.len(), 2, "{kind}: one and its mirror image");
        // A simulated foot that lags may step into a trench.
        if kind != "gaps" {
            lost += of_kind.iter().filter(|entry| entry.replay.resets > 0).count();
        }
        for entry in of_kind {
            assert_eq!(entry.ground.kind, kind);
            assert!(entry.source.contains(kind) && entry.source.contains("seed 1"), "{}", entry.source);
            println!("{}: lost {} times", entry.source, entry.replay.resets);
        }
    }
    // A foot that lags trips on an edge now and then: recorded steps are laid on ground that the walker has not seen.
    assert!(lost <= 2, "the ragdoll lost {lost} of 8");
    let mut plain = 0.0;
    for entry in &manifest.clips {
        // What reads the folder finds the original by cutting the name at "_terrain".
        let original = entry.name.split("_terrain").next().unwrap();
        assert!(["clip", "clip_mirrored"].contains(&original), "{}", entry.name);
        let recording = read_recording(&folder.path().join("out").join(&entry.file)).unwrap();
        let grid = recording.terrain.as_ref().unwrap();
        let heights = grid.heights.values();
        let (low, high) = heights.iter().fold((f32::MAX, f32::MIN), |(a, b), &h| (a.min(h), b.max(h)));
        assert_eq!(entry.ground.min_max_m, [low, high]);
        let simulation = recording.simulation.as_ref().unwrap();
        let total: f32 = simulation.sim_contact_impulse.values().iter().map(|j| j.length()).sum();
        assert!(total > 0.0 && (total - plain).abs() > 1e-3, "{} has another replay", entry.name);
        plain = total;
        let bumped = entry.name.contains("bump");
        assert_eq!(recording.generation.is_some(), bumped);
        assert_eq!(entry.gait_frames[Gait::Bump.index()] > 0, bumped);
    }
}

#[test]
fn a_fall_is_one_more_result_that_says_what_it_is_and_leaves_the_others_as_they_are() {
    let (with, without) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plain = PreprocessConfig { mirror: false, ..PreprocessConfig::default() };
    let mut falls = plain.clone();
    falls.falls.variants = 1;
    let struck = made(with.path(), MotionKind::Walk, &falls);
    let unstruck = made(without.path(), MotionKind::Walk, &plain);
    let names: Vec<&str> = struck.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(names, ["clip", "clip_terrain0_fall1"]);
    let fall = &struck.clips[1];
    println!("{}: {} frames, gaits {:?}", fall.source, fall.frames, fall.gait_frames);
    assert!(fall.source.contains("simulated fall") && fall.source.contains("seed 1"), "{}", fall.source);
    assert!([Gait::Bump, Gait::Lie, Gait::GetUp].iter().all(|gait| fall.gait_frames[gait.index()] > 10));
    let read = |folder: &Path, file: &str| read_recording(&folder.join("out").join(file)).unwrap();
    let recording = read(with.path(), &fall.file);
    assert_eq!(recording.simulation.as_ref().unwrap().impulse_estimator, "simulation");
    assert!(recording.terrain.is_some() && !recording.generation.unwrap().pushes.is_empty());
    // All but the hash of the configuration, which tells that falls were asked for.
    let [mut one, mut other] = [with.path(), without.path()].map(|folder| read(folder, "clip.npz"));
    assert_eq!(unstruck.clips[0].replay, struck.clips[0].replay);
    (one.config_hash, other.config_hash) = (String::new(), String::new());
    let bytes = |recording| pomp_formats::npz::bytes_without_phases(recording).unwrap();
    assert!(bytes(&one) == bytes(&other));
}

#[test]
fn rejects_a_way_up_on_which_nobody_gets_up() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path(), MotionKind::Walk, &PreprocessConfig { mirror: false, ..PreprocessConfig::default() });
    let clip = folder.path().join("clip.bvh");
    let inputs = find_inputs(std::slice::from_ref(&clip)).unwrap();
    let refusal = |clips: Vec<std::path::PathBuf>| {
        let mut config = PreprocessConfig::default();
        (config.falls.variants, config.falls.get_up) = (1, WayUp::Clips(clips));
        let out = folder.path().join("other");
        run(&inputs, &out, &config, &RigLibrary::builtin(), OnFailure::Skip, &|_| ControlFlow::Continue(()))
            .unwrap_err()
            .to_string()
    };
    let walks = refusal(vec![clip.clone()]);
    assert!(walks.contains("clip.bvh does not show a person who lies, gets up and stands"), "{walks}");
    let missing = refusal(vec![folder.path().join("none.bvh")]);
    assert!(missing.contains("none.bvh") && missing.contains("get_up"), "{missing}");
}

#[test]
fn who_does_not_get_up_is_warned_of_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = PreprocessConfig { mirror: false, ..PreprocessConfig::default() };
    (config.falls.variants, config.falls.up_within_s) = (1, 2.0);
    let manifest = made(folder.path(), MotionKind::Walk, &config);
    assert_eq!(manifest.clips.len(), 1);
    let plain = &manifest.clips[0];
    assert_eq!(plain.left_out[0].name, "clip_terrain0_fall1");
    assert!(plain.warnings.iter().any(|warning| warning.contains("did not get up")), "{:?}", plain.warnings);
}

#[test]
fn what_a_clip_does_not_allow_is_recorded_and_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let config = PreprocessConfig { mirror: false, ..with_variants() };
    let first = made(folder.path(), MotionKind::Jump, &config);
    let left_out: Vec<_> = first.clips.iter().flat_map(|clip| &clip.left_out).collect();
    println!("{left_out:?}");
    assert!(left_out.iter().any(|left| left.name.contains("steps") && left.reason.contains("no room")));
    assert!(left_out.iter().any(|left| left.name.contains("bump")));
    assert_eq!(first.clips.len() + left_out.len(), 8);
    let journal = folder.path().join("out/journal.jsonl");
    let before = std::fs::read(&journal).unwrap();
    let second = made(folder.path(), MotionKind::Jump, &config);
    assert_eq!(second, first);
    assert!(std::fs::read(&journal).unwrap() == before, "the second run makes nothing");
}

#[test]
fn a_run_ends_where_its_caller_stops_it_and_goes_on_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let config = PreprocessConfig { mirror: false, ..PreprocessConfig::default() };
    let clip = generate(
        &MotionRequest { duration_s: 1.0, ..MotionRequest::new(MotionKind::Walk) },
        &HeightMap::flat(40.0, 1.0).unwrap(),
    )
    .unwrap()
    .clip;
    for name in ["a", "b", "c"] {
        write_bvh(&folder.path().join(format!("{name}.bvh")), &clip, &BvhWriteOptions::default()).unwrap();
    }
    let inputs = find_inputs(&[folder.path().to_path_buf()]).unwrap();
    let out = folder.path().join("out");
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let run_until = |flow: ControlFlow<()>| {
        one_thread.install(|| run(&inputs, &out, &config, &RigLibrary::builtin(), OnFailure::Stop, &|_| flow))
    };
    assert!(matches!(run_until(ControlFlow::Break(())), Err(PreprocessError::Stopped)));
    let recordings =
        || std::fs::read_dir(&out).unwrap().filter(|entry| is_npz(entry.as_ref().unwrap())).count();
    assert_eq!(recordings(), 1, "the clip at which it was stopped is whole");
    assert_eq!(run_until(ControlFlow::Continue(())).unwrap().clips.len(), 3);
    assert_eq!(recordings(), 3);
}

fn is_npz(entry: &std::fs::DirEntry) -> bool {
    entry.path().extension().is_some_and(|kind| kind == "npz")
}

#[test]
fn a_walk_reversed_in_time_is_a_walk_backward_and_a_jump_is_not_reversed() {
    let config = PreprocessConfig { reverse_walks: true, mirror: false, ..PreprocessConfig::default() };
    let folder = tempfile::tempdir().unwrap();
    let manifest = made(folder.path(), MotionKind::Walk, &config);
    let names: Vec<&str> = manifest.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(names, ["clip", "clip_terrain0_reversed"]);
    assert!(manifest.clips[1].source.contains("reversed in time"), "{}", manifest.clips[1].source);
    let [ahead, backward] =
        [0, 1].map(|at| read_recording(&folder.path().join("out").join(&manifest.clips[at].file)).unwrap());
    let last = ahead.frames() - 1;
    for (frame, joint) in [(0, 0), (7, 5), (last, 9)] {
        assert_eq!(backward.positions[frame][joint], ahead.positions[last - frame][joint]);
    }
    let walks = |gait: &[Gait]| gait.iter().filter(|gait| **gait == Gait::Walk).count();
    let labels: Vec<Gait> = backward.gait.iter().map(Gait::dominant).collect();
    assert!(walks(&labels) * 2 > labels.len(), "it still walks");
    let simulation = backward.simulation.as_ref().unwrap();
    let weight: f32 = simulation.contact_impulse.values().iter().map(|j| j.y).sum();
    let mass_kg: f32 = simulation.body_mass_kg.iter().sum();
    let expected = mass_kg * 9.81 * backward.frames() as f32 / 60.0;
    assert!((weight / expected - 1.0).abs() < 0.1, "the ground carries it: {weight} N·s of {expected}");

    let folder = tempfile::tempdir().unwrap();
    let manifest = made(folder.path(), MotionKind::Jump, &config);
    assert_eq!(manifest.clips.len(), 1);
    let left_out = &manifest.clips[0].left_out[0];
    assert_eq!(
        (left_out.name.as_str(), left_out.reason.as_str()),
        ("clip_terrain0_reversed", "it is not a walk")
    );
}
