//! What is wrong with frames of a clip is named with its place, and repaired or refused, never smoothed over.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and says what it measured")]

use pomp_estimate::defects::{Defect, repaired};
use pomp_formats::{BvhWriteOptions, write_bvh};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::RigLibrary;
use pomp_motion::{Clip, Pose, Recording, Skeleton, SourceMotion, humanoid};
use pomp_preprocess::{Input, ManifestEntry, PreprocessConfig, PreprocessError, Provenance, preprocess_clip};
use pomp_synthetic::{MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::sync::Arc;

const RATE_HZ: f32 = 60.0;
const GRAVITY: f32 = 9.81;

/// A synthetic motion of three seconds.
fn made(kind: MotionKind) -> Clip {
    let ground = HeightMap::flat(40.0, 1.0).unwrap();
    generate(&MotionRequest { duration_s: 3.0, ..MotionRequest::new(kind) }, &ground).unwrap().clip
}

/// As a file in metres would hold it.
fn source(clip: &Clip) -> SourceMotion {
    SourceMotion {
        name: clip.name.clone(),
        skeleton: (*clip.skeleton).clone(),
        end_sites: Vec::new(),
        frame_rate_hz: clip.frame_rate_hz,
        poses: clip.poses.clone(),
        joint_translations: None,
    }
}

/// Largest distance between joints of two motions in the same frames, m.
fn apart(a: &SourceMotion, b: &SourceMotion) -> f32 {
    assert_eq!(a.frames(), b.frames());
    let frame = |t: usize| {
        let (a, b) = (a.global_pose(t).positions, b.global_pose(t).positions);
        a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
    };
    (0..a.frames()).map(frame).fold(0.0, f32::max)
}

/// Writes a clip as BVH and makes a recording of it, without its mirror image.
fn preprocessed(clip: &Clip) -> Result<(Recording, ManifestEntry), PreprocessError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.bvh");
    write_bvh(&path, clip, &BvhWriteOptions::default()).unwrap();
    let config = PreprocessConfig { mirror: false, ..PreprocessConfig::default() };
    let input = Input { path, name: "bad".to_owned(), provenance: Provenance::default() };
    preprocess_clip(&input, &config, &RigLibrary::builtin()).map(|mut results| results.remove(0))
}

#[test]
fn sound_motion_is_left_as_it_is_at_any_rate_and_so_is_a_body_at_rest() {
    for kind in [MotionKind::Walk, MotionKind::Jog, MotionKind::Jump] {
        for rate_hz in [30.0, 60.0, 120.0, 200.0] {
            let motion = source(&made(kind).resampled(rate_hz));
            let (same, defects) = repaired(motion.clone(), 1.0).unwrap();
            assert!(defects.is_empty() && same == motion, "{kind:?} at {rate_hz} Hz: {defects:?}");
        }
    }
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let statue =
        Clip::new("statue", Arc::clone(&skeleton), RATE_HZ, vec![Pose::rest(&skeleton); 90]).unwrap();
    assert_eq!(repaired(source(&statue), 1.0).unwrap().1, []);
}

#[test]
fn a_spike_of_ten_metres_is_named_and_put_between_its_neighbours_and_nothing_else_changes() {
    let walk = source(&made(MotionKind::Walk));
    for (first, length, spike) in [
        (57, 1, Vec3::Y * 10.0),
        (57, 1, Vec3::Y * -10.0),
        (90, 2, Vec3::X * 10.0),
        (1, 1, Vec3::Z * -10.0),
        (100, 3, Vec3::new(10.0, -10.0, 10.0)),
    ] {
        let mut bad = walk.clone();
        for frame in first..first + length {
            bad.poses[frame].root_position += spike;
        }
        let (good, defects) = repaired(bad, 1.0).unwrap();
        let error = apart(&good, &walk);
        println!("{}: {error:.4} m off after it was repaired", defects[0]);
        assert!(
            matches!(&defects[..], [Defect::Spike { frames, joint, others: 21, distance_m, .. }]
                if *frames == [first, first + length - 1] && joint == "Hips" && (distance_m - spike.length()).abs() < 0.1),
            "{defects:?}"
        );
        // Feet swing on a curve.
        assert!(error < 0.015 * length as f32, "{error}");
        for frame in (0..walk.frames()).filter(|frame| !(first..first + length).contains(frame)) {
            assert_eq!(good.poses[frame], walk.poses[frame]);
        }
    }
}

#[test]
fn a_spike_of_one_joint_is_named_by_that_joint() {
    let walk = source(&made(MotionKind::Walk));
    let mut bad = walk.clone();
    // An upper arm that is flipped over for a frame takes elbow and wrist with it.
    bad.poses[70].local_rotations[humanoid::LEFT_ARM.0] *= Quat::from_rotation_z(std::f32::consts::PI);
    let (good, defects) = repaired(bad, 1.0).unwrap();
    println!("{}", defects[0]);
    let text = defects[0].to_string();
    assert!(
        text.contains("frame 70 (1.17 s)") && text.contains("\"LeftForeArm\" and another leave"),
        "{text}"
    );
    assert!(apart(&good, &walk) < 0.02);
}

#[test]
fn a_spike_in_a_file_does_no_harm_to_its_recording_and_is_in_the_manifest() {
    let walk = made(MotionKind::Walk);
    let mut bad = walk.clone();
    bad.poses[57].root_position.y += 10.0;
    bad.poses[120].root_position.x -= 10.0;
    let ((clean, sound), (recording, entry)) = (preprocessed(&walk).unwrap(), preprocessed(&bad).unwrap());
    println!("{:#?}", entry.warnings);
    assert!(
        ["frame 57 (", "frame 120 ("].iter().all(|frame| entry.warnings.iter().any(|w| w.starts_with(frame)))
    );
    assert!(sound.warnings.iter().all(|w| !w.contains("leave the motion")), "{:?}", sound.warnings);
    let moved = |a: &Recording, b: &Recording| {
        a.positions.values().iter().zip(b.positions.values()).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
    };
    assert!(moved(&clean, &recording) < 0.02, "{}", moved(&clean, &recording));
    let peaks = [sound.impulses.peak_force_bw, entry.impulses.peak_force_bw];
    println!("peaks of the estimate, clean and repaired: {peaks:?}");
    assert!((peaks[0] - peaks[1]).abs() < 0.15, "{peaks:?}");
}

#[test]
fn rejects_a_jump_that_does_not_come_back_wherever_it_is() {
    let walk = source(&made(MotionKind::Walk));
    let last = walk.frames() - 1;
    for (from, to, named) in [
        (60, last + 1, "frames 59 and 60 (1.00 s)"),
        (0, 1, "frames 0 and 1 (0.02 s)"),
        (last, last + 1, &format!("frames {} and {last} (3.00 s)", last - 1)),
        (60, 64, "frames 59 and 60 (1.00 s)"),
    ] {
        let mut bad = walk.clone();
        for pose in &mut bad.poses[from..to] {
            pose.root_position.x += 10.0;
        }
        let error = repaired(bad, 1.0).unwrap_err();
        println!("{error}");
        assert!(
            error.contains(named) && error.contains("\"Hips\"") && error.contains("cut the clip"),
            "{error}"
        );
    }
    let mut bad = made(MotionKind::Walk);
    bad.poses[100..].iter_mut().for_each(|pose| pose.root_position.z += 10.0);
    let error = preprocessed(&bad).unwrap_err().to_string();
    assert!(error.contains("bad.bvh: between frames 99 and 100"), "{error}");
}

#[test]
fn limbs_that_jump_and_stay_are_named_and_left() {
    let mut bad = source(&made(MotionKind::Walk));
    for pose in &mut bad.poses[80..] {
        pose.local_rotations[humanoid::LEFT_ARM.0] *= Quat::from_rotation_z(std::f32::consts::PI);
    }
    let (same, defects) = repaired(bad.clone(), 1.0).unwrap();
    println!("{}", defects[0]);
    assert!(matches!(&defects[..], [Defect::Wild { frames: [80, 80], joint, .. }] if joint == "LeftForeArm"));
    assert_eq!(same, bad);
}

#[test]
fn rejects_a_motion_of_many_spikes() {
    let mut bad = source(&made(MotionKind::Walk));
    for frame in (10..100).step_by(9) {
        bad.poses[frame].root_position.y -= 10.0;
    }
    let error = repaired(bad, 1.0).unwrap_err();
    println!("{error}");
    assert!(error.contains("10 of 181 frames") && error.contains("the first is frame 10"), "{error}");
}

#[test]
fn frames_that_repeat_the_one_before_are_named_and_left() {
    let mut bad = source(&made(MotionKind::Walk));
    for frame in [40, 91] {
        bad.poses[frame] = bad.poses[frame - 1].clone();
    }
    let (same, defects) = repaired(bad.clone(), 1.0).unwrap();
    println!("{}", defects[0]);
    assert_eq!(defects, [Defect::Repeated { frames: vec![40, 91] }]);
    assert_eq!(same, bad);
    assert!(defects[0].to_string().starts_with("2 frames repeat the one before them, 40, 91, while"));
}

#[test]
fn a_frozen_stretch_is_named_with_its_length_in_the_midst_and_at_the_ends() {
    let walk = source(&made(MotionKind::Walk));
    let last = walk.frames() - 1;
    // The motion stops and goes on from there.
    for (at, copies) in [(60, 45), (0, 30), (last, 12)] {
        let mut bad = walk.clone();
        bad.poses.splice(at..at, vec![walk.poses[at].clone(); copies]);
        let (same, defects) = repaired(bad.clone(), 1.0).unwrap();
        println!("{}", defects[0]);
        assert!(matches!(&defects[..], [Defect::Frozen { frames, seconds }]
            if *frames == [at, at + copies] && (seconds * RATE_HZ - copies as f32).abs() < 1e-3));
        assert_eq!(same, bad);
    }
    // The motion goes on unseen, and the body jumps to where it has gone.
    let mut bad = walk.clone();
    bad.poses[60..121].fill(walk.poses[60].clone());
    let error = repaired(bad, 1.0).unwrap_err();
    println!("{error}");
    assert!(
        error.contains("between frames 120 and 121")
            && error.contains("frames 60 to 120 are the same (1.00 s)")
    );
}

#[test]
fn motion_of_which_every_frame_is_stored_several_times_is_taken_at_its_own_rate() {
    let walk = source(&made(MotionKind::Walk));
    for times in [2, 3, 4] {
        for cut in [0, 1] {
            let poses = walk.poses.iter().flat_map(|pose| vec![pose.clone(); times]).skip(cut).collect();
            let stored = SourceMotion { poses, frame_rate_hz: RATE_HZ * times as f32, ..walk.clone() };
            let (own, defects) = repaired(stored, 1.0).unwrap();
            println!("{}", defects[0]);
            assert!(matches!(&defects[..], [Defect::Multiplied { times: found, .. }] if *found == times));
            assert_eq!(own.frame_rate_hz, RATE_HZ);
            assert_eq!(own.poses, walk.poses[cut..], "nothing but the copies is gone");
        }
    }
    // In a file: the same recording as that of the file without copies.
    let plain = made(MotionKind::Walk);
    let poses = plain.poses.iter().flat_map(|pose| [pose.clone(), pose.clone()]).collect();
    let doubled = Clip::new("doubled", Arc::clone(&plain.skeleton), 2.0 * RATE_HZ, poses).unwrap();
    let ((clean, _), (recording, entry)) = (preprocessed(&plain).unwrap(), preprocessed(&doubled).unwrap());
    assert!(entry.warnings.iter().any(|w| w.contains("stored 2 times")), "{:?}", entry.warnings);
    let sum = |r: &Recording| {
        r.simulation.as_ref().unwrap().contact_impulse.values().iter().map(|j| j.y).sum::<f32>()
    };
    assert_eq!(clean.frames(), recording.frames());
    assert!((sum(&clean) - sum(&recording)).abs() < 0.01 * sum(&clean));
}

/// A body that is dropped from `height_m` at rest, bends its knees as it lands and stands; the first frame is in mid-air.
fn dropped(height_m: f32) -> Clip {
    let jump = made(MotionKind::Jump);
    let lowest = |pose: &Pose| {
        jump.skeleton.forward_kinematics(pose).positions.iter().map(|p| p.y).fold(f32::MAX, f32::min)
    };
    // From the frame of the jump that is highest above the ground.
    let apex = (0..jump.frames())
        .max_by(|a, b| lowest(&jump.poses[*a]).total_cmp(&lowest(&jump.poses[*b])))
        .unwrap();
    assert!(lowest(&jump.poses[apex]) > height_m, "the jump is too low");
    Clip::new("dropped", Arc::clone(&jump.skeleton), RATE_HZ, jump.poses[apex..].to_vec()).unwrap()
}

#[test]
fn a_clip_that_begins_or_ends_in_mid_air_is_told_so_and_closes_with_its_momentum() {
    let begins = dropped(0.1);
    let mut backwards = begins.clone();
    backwards.poses.reverse();
    for (clip, told, wrong) in
        [(&begins, "it begins in mid-air", "it ends"), (&backwards, "it ends in mid-air", "it begins")]
    {
        let (recording, entry) = preprocessed(clip).unwrap();
        let warning = entry
            .warnings
            .iter()
            .find(|w| w.starts_with(told))
            .unwrap_or_else(|| panic!("{:?}", entry.warnings));
        println!("{warning}");
        assert!(entry.warnings.iter().all(|w| !w.starts_with(wrong)), "{:?}", entry.warnings);
        assert!(warning.contains(" frames (") && warning.contains("m above it"), "{warning}");
        let report = &entry.impulses;
        println!(
            "Σ J / m g T {:.3}, less the momentum gained {:.3}",
            report.vertical_closure, report.corrected_closure
        );
        assert!((report.corrected_closure - 1.0).abs() < 0.01, "{report:?}");
        let end = if told.contains("begins") { 1 } else { recording.frames() - 1 };
        let borne: f32 =
            recording.simulation.as_ref().unwrap().contact_impulse[end].iter().map(|j| j.y).sum();
        assert!(
            borne.abs() * RATE_HZ < 0.02 * 75.0 * GRAVITY,
            "the ground bears {borne} N·s of a body in the air"
        );
        assert_eq!(entry.replay.resets, 0);
    }
    let (_, entry) = preprocessed(&made(MotionKind::Walk)).unwrap();
    assert!(entry.warnings.iter().all(|w| !w.contains("mid-air")), "{:?}", entry.warnings);
}
