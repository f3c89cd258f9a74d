//! Contact impulses: the laws that the estimate keeps, force plates that are refused, and real plates.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and says what it measured")]

use pomp_estimate::ReplayConfig;
use pomp_estimate::impulses::{ImpulseConfig, ImpulseEstimate, estimate, expectations};
use pomp_formats::{BvhWriteOptions, write_bvh};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::RigLibrary;
use pomp_motion::{Clip, FrameTable, Pose, SimulationTrack, Skeleton, humanoid};
use pomp_preprocess::validation::{PlateError, Plates, Trial, trials, validate};
use pomp_preprocess::{PreprocessConfig, PreprocessError};
use pomp_synthetic::{MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::path::Path;
use std::sync::Arc;

const RATE_HZ: f32 = 60.0;
const MASS_KG: f32 = 75.0;
const GRAVITY: f32 = 9.81;

/// A clip of `frames` frames whose rest pose stands at `root(frame)`.
fn clip(frames: usize, root: impl Fn(usize) -> Vec3) -> Clip {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let poses = (0..frames)
        .map(|frame| {
            let mut pose = Pose::rest(&skeleton);
            pose.root_position += root(frame);
            pose
        })
        .collect();
    Clip::new("made", skeleton, RATE_HZ, poses).unwrap()
}

/// A replay in which nothing happened but `load(frame)` on one body, N·s.
fn track(clip: &Clip, body: usize, load: impl Fn(usize) -> f32) -> SimulationTrack {
    let (frames, joints) = (clip.frames(), clip.skeleton.len());
    let mut impulse = FrameTable::with_columns(joints);
    for frame in 0..frames {
        let mut row = vec![Vec3::ZERO; joints];
        row[body].y = load(frame);
        impulse.push(&row);
    }
    SimulationTrack {
        body_names: clip.skeleton.joints().iter().map(|j| j.name.clone()).collect(),
        body_mass_kg: vec![MASS_KG / joints as f32; joints],
        contact_impulse: impulse.clone(),
        impulse_estimator: "simulation".to_owned(),
        sim_contact_impulse: impulse,
        positions: FrameTable::filled(frames, joints, Vec3::ZERO),
        quaternions: FrameTable::filled(frames, joints, Quat::IDENTITY),
        velocities: FrameTable::filled(frames, joints, Vec3::ZERO),
        assist_force: vec![Vec3::ZERO; frames],
        assist_torque: vec![Vec3::ZERO; frames],
    }
}

fn estimated(clip: &Clip, contact: &[[bool; 4]], track: &SimulationTrack) -> ImpulseEstimate {
    let ground = HeightMap::flat(40.0, 1.0).unwrap();
    estimate(clip, contact, &ground, track, GRAVITY, &ImpulseConfig::default())
}

fn weight_ns() -> f32 {
    MASS_KG * GRAVITY / RATE_HZ
}

/// Force of the ground in a frame over body weight: on everything, on the left and on the right foot.
fn forces(estimate: &ImpulseEstimate, frame: usize) -> [Vec3; 3] {
    let row = &estimate.contact_impulse[frame];
    let foot = |joint: usize| (row[joint] + row[joint + 1]) / weight_ns();
    let total: Vec3 = row.iter().sum();
    [total / weight_ns(), foot(humanoid::LEFT_FOOT.0), foot(humanoid::RIGHT_FOOT.0)]
}

#[test]
fn standing_still_the_ground_carries_the_weight_on_both_feet_alike() {
    let clip = clip(120, |_| Vec3::ZERO);
    let result = estimated(&clip, &[[true; 4]; 120], &track(&clip, 0, |_| 0.0));
    for frame in 0..120 {
        let [total, left, right] = forces(&result, frame);
        assert!((total - Vec3::Y).length() < 1e-4, "frame {frame}: {total}");
        assert!((left.y - 0.5).abs() < 0.01 && (right.y - 0.5).abs() < 0.01, "{left} {right}");
    }
    assert!((result.report.vertical_closure - 1.0).abs() < 1e-4);
}

#[test]
fn who_leans_to_the_left_loads_the_left_foot() {
    let clip = clip(120, |_| Vec3::X * 0.05);
    // The feet stay where they are in the world of the contacts only as a rest pose: leaning is a shift of the trunk.
    let mut leaning = clip.clone();
    for pose in &mut leaning.poses {
        pose.local_rotations[humanoid::SPINE.0] = Quat::from_rotation_z(-0.25);
    }
    let upright = estimated(&clip, &[[true; 4]; 120], &track(&clip, 0, |_| 0.0));
    let result = estimated(&leaning, &[[true; 4]; 120], &track(&clip, 0, |_| 0.0));
    let [_, left, right] = forces(&result, 60);
    println!("leaning left: {left} on the left foot, {right} on the right");
    assert!(left.y > 0.6 && (left.y + right.y - 1.0).abs() < 1e-3);
    assert!((forces(&upright, 60)[1].y - 0.5).abs() < 0.01);
}

#[test]
fn a_jump_has_no_force_in_flight_and_the_momentum_of_its_motion() {
    // Push for 0.2 s, fly for 0.4 s, land for 0.2 s.
    let (push, flight) = (0.2f32, 0.4f32);
    let speed = 0.5 * GRAVITY * flight;
    let height = |frame: usize| {
        let t = frame as f32 / RATE_HZ - 1.0;
        let rise = 0.5 * speed / push * t * t;
        let land = push + flight;
        match t {
            t if t < 0.0 => 0.0,
            t if t < push => rise,
            t if t < land => 0.5 * speed * push + speed * (t - push) - 0.5 * GRAVITY * (t - push).powi(2),
            t if t < land + push => 0.5 * speed / push * (land + push - t).powi(2),
            _ => 0.0,
        }
    };
    let clip = clip(180, |frame| Vec3::Y * height(frame));
    let in_air = |frame: usize| (73..=95).contains(&frame);
    let contact: Vec<[bool; 4]> = (0..180).map(|frame| [!in_air(frame); 4]).collect();
    let result = estimated(&clip, &contact, &track(&clip, 0, |_| 0.0));
    let filtered = result.motion_force_bw[75].y;
    println!(
        "by the filter alone 3 frames after take-off: {filtered} BW; peak {}",
        result.report.peak_force_bw
    );
    // Two frames after take-off and before landing the filter's smear is as large as a real push.
    for frame in 75..=93 {
        assert_eq!(forces(&result, frame)[0], Vec3::ZERO, "frame {frame}");
    }
    assert!(filtered.abs() > 0.02, "the control: the filter smears the take-off into the flight");
    let closed = result.report.vertical_closure - 1.0 - result.report.momentum_change;
    assert!(closed.abs() < 1e-4, "Σ J − m g T differs from m Δv by {closed} of m g T");
    assert!((result.report.peak_force_bw - 2.0).abs() < 0.3);
}

#[test]
fn impulse_is_weight_plus_change_of_momentum_whatever_the_clip_does() {
    let ground = HeightMap::flat(40.0, 1.0).unwrap();
    for kind in [MotionKind::Walk, MotionKind::Jog, MotionKind::Jump] {
        let made = generate(&MotionRequest { duration_s: 3.0, ..MotionRequest::new(kind) }, &ground).unwrap();
        let track = track(&made.clip, 0, |_| 0.0);
        let result =
            estimate(&made.clip, &made.foot_contact, &ground, &track, GRAVITY, &ImpulseConfig::default());
        let report = &result.report;
        println!("{kind:?}: closure {}, Δv {}", report.vertical_closure, report.momentum_change);
        assert!((report.vertical_closure - 1.0 - report.momentum_change).abs() < 2e-3, "{kind:?}");
        for frame in 0..made.clip.frames() {
            let [total, ..] = forces(&result, frame);
            assert!(total.y >= 0.0, "the ground pulls in frame {frame} of {kind:?}");
            assert!(Vec3::new(total.x, 0.0, total.z).length() <= 0.91 * total.y + 1e-3, "{total}");
        }
    }
}

#[test]
fn a_recording_that_is_lifted_as_a_whole_at_its_end_is_not_thrown_up() {
    let lift = [0.007, 0.022];
    let up = clip(90, |frame| Vec3::Y * if frame < 88 { 0.0 } else { lift[frame - 88] });
    let early = clip(90, |frame| Vec3::Y * if frame > 1 { 0.0 } else { lift[1 - frame] });
    for clip in [up, early] {
        let standing = estimated(&clip, &[[true; 4]; 90], &track(&clip, 0, |_| 0.0)).report;
        // The control: in the air before that, a body can be stopped or pushed up as a whole.
        let mut contact = [[true; 4]; 90];
        for frame in [4, 85] {
            contact[frame] = [false; 4];
        }
        let landing = estimated(&clip, &contact, &track(&clip, 0, |_| 0.0)).report;
        println!("closure {} standing, {} in the air", standing.vertical_closure, landing.vertical_closure);
        assert!((standing.vertical_closure - 1.0).abs() < 0.01);
        assert!(landing.momentum_change.abs() > 0.05);
        for report in [standing, landing] {
            assert!((report.corrected_closure - 1.0).abs() < 1e-3, "{report:?}");
        }
    }
}

#[test]
fn hard_landings_keep_their_peaks_and_their_momentum() {
    // A fall of 0.4 s ends within 0.05 s, under 9 body weights.
    let (fall, stop, truth) = (0.4f32, 0.05f32, 9.0f32);
    let speed = GRAVITY * fall;
    let clip = clip(150, |frame| {
        let t = (frame as f32 - 60.0) / RATE_HZ;
        let left = (fall + stop - t).max(0.0);
        Vec3::Y
            * match t {
                t if t < 0.0 => 0.5 * speed * (fall + stop),
                t if t < fall => 0.5 * speed * (fall + stop) - 0.5 * GRAVITY * t * t,
                _ => 0.5 * speed / stop * left * left,
            }
    });
    let contact: Vec<[bool; 4]> = (0..150).map(|frame| [!(62..=84).contains(&frame); 4]).collect();
    let ground = HeightMap::flat(40.0, 1.0).unwrap();
    let peak = |landing_bandwidth_hz: f32| {
        let config = ImpulseConfig { landing_bandwidth_hz, ..ImpulseConfig::default() };
        let report = estimate(&clip, &contact, &ground, &track(&clip, 0, |_| 0.0), GRAVITY, &config).report;
        assert!((report.corrected_closure - 1.0).abs() < 1e-3, "{report:?}");
        report.peak_force_bw
    };
    let (kept, blunt) = (peak(ImpulseConfig::default().landing_bandwidth_hz), peak(10.0));
    println!("peak {kept} BW, {blunt} BW in the band of walking, {truth} BW in truth");
    assert!(kept > blunt + 0.3 && kept < truth + 0.5);
}

#[test]
fn a_walker_hands_the_weight_over_from_foot_to_foot() {
    let ground = HeightMap::flat(40.0, 1.0).unwrap();
    let request = MotionRequest { duration_s: 4.0, ..MotionRequest::new(MotionKind::Walk) };
    let made = generate(&request, &ground).unwrap();
    let result = estimated(&made.clip, &made.foot_contact, &track(&made.clip, 0, |_| 0.0));
    let mut steepest = 0.0f32;
    for frame in 60..180 {
        let ([_, before, _], [_, left, right]) = (forces(&result, frame - 1), forces(&result, frame));
        let down = made.foot_contact[frame];
        if down == [true, true, false, false] && made.foot_contact[frame - 2] == down {
            assert!(right.y.abs() < 1e-4, "frame {frame}: {right} on a foot in the air");
        }
        steepest = steepest.max((left.y - before.y).abs());
    }
    println!("steepest change of a foot's load: {steepest} BW a frame");
    assert!(steepest < 0.45);
}

#[test]
fn hands_bear_what_the_replay_puts_on_them_if_the_clip_has_them_on_the_ground() {
    let hand = humanoid::LEFT_HAND.0;
    // Lying in the air above the ground, or with the hands down: only the second can load them.
    for (height, share) in [(0.0f32, 0.0f32), (-1.42, 0.5)] {
        let clip = clip(60, |_| Vec3::Y * height);
        let mut track = track(&clip, hand, |_| 6.0);
        for frame in 0..60 {
            track.sim_contact_impulse[frame][humanoid::LEFT_FOOT.0].y = 6.0;
        }
        let result = estimated(&clip, &[[true; 4]; 60], &track);
        let load = result.contact_impulse[30][hand].y / weight_ns();
        println!("hand at {:.2} m: {load} BW", clip.global_poses()[30].positions[hand].y);
        assert!((load - share).abs() < 0.01);
        assert!((forces(&result, 30)[0].y - 1.0).abs() < 1e-3);
    }
}

/// A walk as BVH with plates that carry `mass_kg` evenly for `seconds`.
fn trial(folder: &Path, mass_kg: f32, seconds: f32) -> Trial {
    let ground = HeightMap::flat(40.0, 1.0).unwrap();
    let request = MotionRequest { duration_s: 2.0, ..MotionRequest::new(MotionKind::Walk) };
    let walk = generate(&request, &ground).unwrap().clip;
    write_bvh(&folder.join("walk.bvh"), &walk, &BvhWriteOptions::default()).unwrap();
    let mut rows = HEADER.to_owned();
    for k in 0..=(seconds * 100.0) as usize {
        let half = mass_kg * GRAVITY / 2.0;
        rows += &format!("{},0,{half},0,0,0,0,0,{half},0,0,0,0\n", k as f32 / 100.0);
    }
    std::fs::write(folder.join("walk_grf.csv"), rows).unwrap();
    std::fs::write(
        folder.join("manifest.csv"),
        "path,grf,mass_kg_use,labels\nwalk.bvh,walk_grf.csv,60,walk\n",
    )
    .unwrap();
    trials(folder).unwrap().remove(0)
}

const HEADER: &str =
    "t,L_fx_N,L_fy_N,L_fz_N,L_px_cm,L_py_cm,L_pz_cm,R_fx_N,R_fy_N,R_fz_N,R_px_cm,R_py_cm,R_pz_cm\n";

#[test]
fn a_trial_is_compared_with_every_estimator() {
    let folder = tempfile::tempdir().unwrap();
    let trial = trial(folder.path(), 60.0, 2.0);
    let result = validate(&trial, &PreprocessConfig::default(), &RigLibrary::builtin()).unwrap();
    assert_eq!(result.scores.len(), 4);
    assert!((result.measured_weight - 1.0).abs() < 1e-3);
    assert!(result.scores[0].vertical_rmse_bw.unwrap() < result.scores[1].vertical_rmse_bw.unwrap());
}

#[test]
fn a_mass_that_is_a_little_wrong_is_found_by_the_plates_and_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut errors = Vec::new();
    for mass_kg in [60.0, 63.0] {
        let trial = trial(folder.path(), mass_kg, 2.0);
        let result = validate(&trial, &PreprocessConfig::default(), &RigLibrary::builtin()).unwrap();
        let weight = result.shown_weight.unwrap();
        println!("{mass_kg} kg on the plates: {weight:.4} of the weight stated");
        errors.push(result.stored_by_shown_weight.unwrap().vertical_rmse_bw.unwrap());
        assert!((weight - f64::from(mass_kg) / 60.0).abs() < 0.02);
    }
    assert!((errors[0] - errors[1]).abs() < 1e-6, "{errors:?}");
}

#[test]
fn a_body_at_rest_is_expected_to_be_borne_by_its_feet() {
    let clip = clip(120, |_| Vec3::ZERO);
    let config = PreprocessConfig::default();
    let expected = expectations(&clip, &[[true; 4]; 120], config.physics()).unwrap();
    let pose = &clip.global_poses()[0];
    let ground = pose.positions[humanoid::LEFT_TOE.0].y - humanoid::TOE_HEIGHT * 1.75;
    for frame in &expected {
        let force: Vec3 = frame.supports.iter().map(|s| s.force_n).sum();
        assert!((force - Vec3::Y * (MASS_KG * GRAVITY)).length() < 0.5, "{force}");
        assert!(frame.accelerations.iter().all(|a| a.length() < 1e-3));
        // Each force acts at the sole of its body.
        for support in &frame.supports {
            let place = pose.positions[support.body] + pose.rotations[support.body] * support.point;
            assert!((place.y - ground).abs() < 0.01, "{place}");
        }
    }
    let replay = ReplayConfig { feed_forward: false, ..ReplayConfig::default() };
    let untold = PreprocessConfig { replay, ..config };
    assert!(expectations(&clip, &[[true; 4]; 120], untold.physics()).unwrap().is_empty());
}

#[test]
fn rejects_plates_of_another_time_than_the_clips() {
    let folder = tempfile::tempdir().unwrap();
    let trial = trial(folder.path(), 60.0, 0.2);
    let error = validate(&trial, &PreprocessConfig::default(), &RigLibrary::builtin()).unwrap_err();
    println!("{error}");
    assert!(matches!(error, PreprocessError::Plates(PlateError::NoOverlap { .. })));
}

#[test]
fn rejects_a_mass_that_the_plates_contradict() {
    let folder = tempfile::tempdir().unwrap();
    let trial = trial(folder.path(), 80.0, 2.0);
    let error = validate(&trial, &PreprocessConfig::default(), &RigLibrary::builtin()).unwrap_err();
    println!("{error}");
    assert!(matches!(error, PreprocessError::Plates(PlateError::WrongMass { .. })));
}

#[test]
fn rejects_a_skeleton_without_legs() {
    let folder = tempfile::tempdir().unwrap();
    let trial = trial(folder.path(), 60.0, 2.0);
    let frame = "0 90 0 0 0 0 0 0 0\n".repeat(120);
    let text = format!(
        "HIERARCHY\nROOT base\n{{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
         JOINT lever\n{{\nOFFSET 0 40 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n\
         End Site\n{{\nOFFSET 0 40 0\n}}\n}}\n}}\nMOTION\nFrames: 120\nFrame Time: 0.0166667\n{frame}"
    );
    std::fs::write(&trial.clip, text).unwrap();
    let error =
        validate(&trial, &PreprocessConfig::default(), &RigLibrary::builtin()).unwrap_err().to_string();
    println!("{error}");
    assert!(error.contains("walk.bvh") && error.contains("human body"));
}

/// The error of reading `text` as plates.
fn refused(text: &str) -> PlateError {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plates.csv");
    std::fs::write(&path, text).unwrap();
    let error = Plates::read(&path).unwrap_err();
    println!("{error}");
    error
}

#[test]
fn rejects_plates_without_a_column() {
    let error = refused(&HEADER.replace("R_fy_N", "R_force"));
    assert!(matches!(error, PlateError::MissingColumns { missing, .. } if missing == ["R_fy_N"]));
}

#[test]
fn rejects_plates_with_a_value_that_is_no_number() {
    let error = refused(&format!("{HEADER}0,0,1,0,0,0,0,0,1,0,0,0,0\n0.01,0,NaN,0,0,0,0,0,1,0,0,0,0\n"));
    assert!(matches!(error, PlateError::BadValue { line: 3, column, .. } if column == "L_fy_N"));
}

#[test]
fn rejects_plates_whose_time_stands_still() {
    let error = refused(&format!("{HEADER}0,0,1,0,0,0,0,0,1,0,0,0,0\n0,0,1,0,0,0,0,0,1,0,0,0,0\n"));
    assert!(matches!(error, PlateError::BadValue { line: 3, column, .. } if column == "t"));
}

#[test]
fn rejects_a_manifest_without_masses() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("manifest.csv"), "path,grf\na.bvh,a.csv\n").unwrap();
    let error = trials(folder.path()).unwrap_err();
    assert!(matches!(error, PlateError::MissingColumns { missing, .. } if missing == ["mass_kg_use"]));
}

#[test]
fn real_walks_agree_with_their_plates() {
    let Some(data) = pomp_testing::recorded("grf", "impulses of real walks against force plates") else {
        return;
    };
    let trials = trials(&data).unwrap();
    let walks = trials.iter().filter(|trial| trial.name.starts_with("nimble_Subject4__walking"));
    let told = PreprocessConfig::default();
    let replay = ReplayConfig { feed_forward: false, ..ReplayConfig::default() };
    let untold = PreprocessConfig { replay, ..PreprocessConfig::default() };
    let (mut foot, mut total, mut peak) = (Vec::new(), [vec![], vec![]], [vec![], vec![]]);
    for trial in walks {
        for (way, config) in [&told, &untold].into_iter().enumerate() {
            let result = validate(trial, config, &RigLibrary::builtin()).unwrap();
            total[way].extend(result.scores[1].vertical_rmse_bw);
            peak[way].extend(result.scores[1].peak_bw);
            if way == 0 {
                foot.extend(result.scores[0].foot_vertical_rmse_bw);
            }
        }
    }
    let median = |values: Vec<f64>| pomp_motion::statistics::median(&values).unwrap();
    let (foot, total, peak) = (median(foot), total.map(median), peak.map(median));
    println!("stored, vertical force on a foot, RMSE over walks: {foot:.3} BW");
    println!(
        "replay, whole vertical force, RMSE {:.3} BW, peak {:.2} BW; {:.3} and {:.2} with drives that are told nothing",
        total[0], peak[0], total[1], peak[1]
    );
    assert!(foot < 0.10);
    assert!(total[0] < 0.16 && total[0] < 0.9 * total[1]);
    assert!(peak[0] < 1.7 && peak[0] < 0.9 * peak[1]);
}
