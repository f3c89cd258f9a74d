//! Motion matching on a procedural clip, whose own trajectory it is asked for.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use glam::Vec3;
use pomp_bench::MatchedCharacter;
use pomp_controllers::matching::{MatchedFeatures, MatchingClip, MatchingDatabase, MatchingWeights, Place};
use pomp_generator::ControlPlan;
use pomp_motion::features::CharacterState;
use pomp_motion::{Recording, Skeleton};
use pomp_synthetic::{Ends, MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::sync::Arc;

/// A walk that begins and ends standing, from the origin along +Z.
fn walk(speed_m_s: f32, turn_rate_rad_s: f32, seed: u64) -> Recording {
    let request = MotionRequest {
        speed_m_s,
        turn_rate_rad_s,
        seed,
        duration_s: 8.0,
        ends: Ends::Standing,
        ..MotionRequest::new(MotionKind::Walk)
    };
    Recording::of_clip(&generate(&request, &ground()).unwrap().clip)
}

fn ground() -> HeightMap {
    HeightMap::flat(60.0, 1.0).unwrap()
}

fn matching_clip(recording: &Recording) -> MatchingClip {
    let mut states: Vec<CharacterState> = (0..recording.frames())
        .map(|frame| {
            let pose = recording.global_pose(frame);
            CharacterState::from_world(&recording.skeleton, &pose, &recording.velocities[frame], 0.0, 0.0)
        })
        .collect();
    for frame in 1..states.len() {
        let (before, after) = (states[frame - 1].frame, states[frame].frame);
        states[frame].yaw_rate = CharacterState::yaw_rate_between(&before, &after, 1.0 / 60.0);
    }
    MatchingClip::of_states(&states, recording.gait.clone(), vec![true; states.len()])
}

fn database(recordings: &[&Recording]) -> (Arc<MatchingDatabase>, Arc<Skeleton>) {
    let skeleton = Arc::clone(&recordings[0].skeleton);
    let clips = recordings.iter().map(|recording| matching_clip(recording)).collect();
    let weights = MatchingWeights::default();
    let database = MatchingDatabase::new(Arc::clone(&skeleton), clips, MatchedFeatures::Pose, &weights);
    (Arc::new(database.unwrap()), skeleton)
}

#[test]
fn it_reproduces_the_clip_whose_trajectory_it_is_asked_for() {
    let (wanted, other) = (walk(1.2, 0.15, 1), walk(1.2, -0.4, 2));
    let (database, skeleton) = database(&[&other, &wanted]);
    let plan = ControlPlan::of_recording(&wanted, 60.0).unwrap();
    let mut character = MatchedCharacter::new(Arc::clone(&database), &plan, 0);
    let terrain = ground();
    let first = wanted.global_pose(0).positions[0];
    let mut worst: f32 = 0.0;
    for frame in 1..wanted.frames() - 60 {
        let pose = skeleton.forward_kinematics(&character.step(&plan, &terrain).unwrap());
        assert_eq!(
            character.playing(),
            Some(Place { clip: 1, frame }),
            "it plays the clip from its start, frame by frame"
        );
        let shift = Vec3::new(first.x, 0.0, first.z);
        for (a, b) in pose.positions.iter().zip(&wanted.positions[frame]) {
            worst = worst.max(a.distance(*b - shift));
        }
    }
    println!("farthest joint from the clip: {worst} m");
    assert!(worst < 5e-3, "{worst}");
}

#[test]
fn it_turns_to_the_side_that_is_asked_for() {
    let (left, right) = (walk(1.2, 0.4, 1), walk(1.2, -0.4, 2));
    let (database, _) = database(&[&left, &right]);
    let terrain = ground();
    let end = |of: &Recording| {
        let plan = ControlPlan::of_recording(of, 60.0).unwrap();
        let mut character = MatchedCharacter::new(Arc::clone(&database), &plan, 0);
        (0..300).map(|_| character.step(&plan, &terrain).unwrap().root_position).last().unwrap()
    };
    let (to_left, to_right) = (end(&left), end(&right));
    println!("left {to_left}, right {to_right}");
    assert!(to_left.x > 0.5 && to_right.x < -0.5);
}

#[test]
fn a_jump_between_clips_leaves_no_seam() {
    let (slow, fast) = (walk(0.9, 0.0, 1), walk(1.5, 0.0, 2));
    let (database, skeleton) = database(&[&slow, &fast]);
    // Asks for the slow walk and, half way, for the fast one.
    let path =
        |speed: f32, z: f32| pomp_generator::control::Waypoint { x: 0.0, z, speed_mps: speed, gait: None };
    let waypoint = vec![path(0.9, 0.0), path(1.5, 4.0), path(1.5, 12.0)];
    let plan = ControlPlan::path(&pomp_generator::PathFile { waypoint }, 60.0).unwrap();
    let mut character = MatchedCharacter::new(Arc::clone(&database), &plan, 0);
    let terrain = ground();
    let mut played = Vec::new();
    let mut before: Option<Vec<Vec3>> = None;
    let mut fastest: f32 = 0.0;
    for _ in 0..420 {
        let pose = skeleton.forward_kinematics(&character.step(&plan, &terrain).unwrap());
        played.push(character.playing().unwrap().clip);
        if let Some(before) = before.replace(pose.positions.to_vec()) {
            let steps = before.iter().zip(&pose.positions).map(|(a, b)| a.distance(*b) * 60.0);
            fastest = fastest.max(steps.fold(0.0, f32::max));
        }
    }
    println!("fastest joint: {fastest} m/s");
    assert!(played.contains(&0) && played.contains(&1), "both clips are played");
    // A foot swings at four times the walking speed at most; a cut would show tens of m/s.
    assert!(fastest < 9.0, "{fastest}");
}

#[test]
fn a_database_without_a_usable_frame_is_none() {
    let recording = walk(1.2, 0.0, 1);
    let clip = MatchingClip { usable: vec![false; recording.frames()], ..matching_clip(&recording) };
    assert!(
        MatchingDatabase::new(
            Arc::clone(&recording.skeleton),
            vec![clip],
            MatchedFeatures::Pose,
            &MatchingWeights::default()
        )
        .is_none()
    );
}
