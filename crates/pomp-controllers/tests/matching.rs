//! Motion matching on procedural and recorded clips: the search, and a character that it leads.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, outside the functions that clippy exempts"
)]

mod clips;

use clips::{clip_of, moving, phased_clip_of, recorded, states, synthetic};
use glam::{Quat, Vec2, Vec3};
use pomp_controllers::matching::{
    AHEAD, Ahead, MatchedFeatures, MatchingClip, MatchingController, MatchingDatabase, MatchingWeights, Place,
};
use pomp_controllers::{Controller, ControllerError};
use pomp_motion::features::{
    CharacterState, InputFrame, KEY_OFFSETS, KEYS, OutputFrame, PAST_KEYS, WindowKey,
};
use pomp_motion::random::Draws;
use pomp_motion::{FRAME_RATE_HZ, Gait, Recording, RootFrame};
use pomp_synthetic::{Ends, MotionKind};
use std::sync::Arc;
use std::time::Instant;

const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;

/// A database by feet and hips over recordings.
fn database(recordings: &[Recording]) -> Arc<MatchingDatabase> {
    let clips = recordings.iter().map(clip_of).collect();
    let weights = MatchingWeights::default();
    Arc::new(MatchingDatabase::new(clips::skeleton(), clips, MatchedFeatures::Pose, &weights).unwrap())
}

/// A window that asks a character in `frame` to be where `path` says, in seconds from now.
fn keys(frame: &RootFrame, path: impl Fn(f32) -> (Vec2, f32)) -> [WindowKey; KEYS] {
    KEY_OFFSETS.map(|offset| {
        let (position, yaw) = path(offset.max(0) as f32 * FRAME_S);
        WindowKey {
            position: frame.ground_to_world(position),
            yaw: frame.yaw + yaw,
            gait: Gait::Walk.one_hot(),
        }
    })
}

/// A window that asks for `ahead`.
fn keys_ahead(frame: &RootFrame, ahead: &Ahead) -> [WindowKey; KEYS] {
    keys(frame, |seconds| {
        let frames = (seconds / FRAME_S).round() as usize;
        AHEAD.iter().position(|at| *at == frames).map_or((Vec2::ZERO, 0.0), |key| ahead[key])
    })
}

/// A path from the present on: straight ahead, or along a circle.
fn arc(speed_m_s: f32, turn_rad_s: f32) -> impl Fn(f32) -> (Vec2, f32) {
    move |seconds| {
        let turn = turn_rad_s * seconds;
        let place = if turn.abs() < 1e-6 {
            Vec2::new(0.0, speed_m_s * seconds)
        } else {
            Vec2::new(1.0 - turn.cos(), turn.sin()) * (speed_m_s / turn_rad_s)
        };
        (place, turn)
    }
}

fn step(controller: &mut dyn Controller, state: &CharacterState, keys: &[WindowKey; KEYS]) -> OutputFrame {
    let codes: Vec<f32> = (0..KEYS * 10).map(|value| value as f32).collect();
    let input =
        InputFrame { state, keys, phase_codes: &codes, contact_impulse: &[], weight_impulse_ns: 12.0 };
    controller.step(&input, &|_, _| 0.0).unwrap()
}

/// A database with random queries: 10,000 of them, near entries and far from them, asking for other ways on.
fn assert_as_brute_force(database: &MatchingDatabase, what: &str) {
    let mut draws = Draws::new(7, 0);
    let (mut searches, mut times) = (Vec::new(), [0.0; 2]);
    for number in 0..10_000 {
        let [from, to] = [(); 2].map(|()| database.place(draws.below(database.entries())));
        let mut ahead = database.ahead(to);
        ahead.iter_mut().for_each(|(place, _)| *place += Vec2::splat(0.1 * draws.centred()));
        let query = database.query(from, &ahead);
        let going_on = if number % 3 == 0 { f32::INFINITY } else { database.distance(from, &query) };
        searches.push((query, [None, Some(from)][number % 2], going_on));
    }
    let clock = Instant::now();
    let found: Vec<_> =
        searches.iter().map(|(query, at, below)| database.nearest(query, *at, *below)).collect();
    times[0] = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    for (number, ((query, at, below), found)) in searches.iter().zip(found).enumerate() {
        let all = database.nearest_of_all(query, *at, *below);
        assert_eq!(found, all, "{what}, query {number}");
        if let (Some((place, cost)), Some(at)) = (found, at) {
            assert!(place.clip != at.clip || place.frame.abs_diff(at.frame) > 20);
            assert!(cost < *below);
        }
    }
    times[1] = clock.elapsed().as_secs_f64();
    println!(
        "{what}: {} entries, {:.3} ms a search by boxes, {:.3} ms through all entries",
        database.entries(),
        times[0] * 0.1,
        times[1] * 0.1
    );
}

#[test]
fn boxes_find_what_a_search_through_all_entries_finds() {
    assert_as_brute_force(&database(&synthetic()), "procedural clips");
    let recordings = recorded("motion matching on recorded clips");
    if !recordings.is_empty() {
        assert_as_brute_force(&database(&recordings), "recorded clips");
    }
}

#[test]
fn a_frame_of_the_database_finds_itself() {
    let mut recordings = synthetic();
    recordings.extend(recorded("frames of recorded clips that find themselves"));
    let database = database(&recordings);
    for entry in 0..database.entries() {
        let place = database.place(entry);
        let query = database.query(place, &database.ahead(place));
        assert_eq!(database.distance(place, &query), 0.0);
        assert_eq!(database.nearest(&query, None, f32::INFINITY), Some((place, 0.0)));
        // Going on is as good as it gets.
        assert_eq!(database.nearest(&query, Some(place), 0.0), None);
    }
}

/// A database by phases over the procedural clips, where the pose decides among so many.
fn phased(candidates: usize) -> MatchingDatabase {
    let clips = synthetic().iter().map(phased_clip_of).collect();
    let weights = MatchingWeights::default();
    let database = MatchingDatabase::new(clips::skeleton(), clips, MatchedFeatures::Phase, &weights).unwrap();
    database.with_candidates(candidates, &weights)
}

#[test]
fn by_phases_a_frame_of_the_database_finds_itself_and_goes_on() {
    for candidates in [1, 20] {
        let database = phased(candidates);
        assert_eq!(database.width(), 2 + 12);
        for entry in (0..database.entries()).step_by(7) {
            let place = database.place(entry);
            let ahead = database.ahead(place);
            let query = database.query(place, &ahead);
            assert_eq!(database.nearest(&query, None, f32::INFINITY).unwrap().1, 0.0);
            assert_eq!(
                database.jump(place, &ahead, false),
                None,
                "{candidates}: going on is as good as it gets"
            );
        }
    }
    // The pose of a frame begins there.
    let (recordings, database) = (synthetic(), phased(20));
    for (clip, frame) in [(1, 200), (6, 77), (3, 150), (8, 300)] {
        let place = Place { clip, frame };
        let state = states(&recordings[clip]).swap_remove(frame);
        let ahead = database.ahead(place);
        assert_eq!(database.first(&state.positions_root, &state.velocities_root, &ahead), Some(place));
    }
}

#[test]
fn among_the_frames_that_phases_find_the_most_alike_pose_is_jumped_to() {
    let (alone, several, by_pose) = (phased(1), phased(20), database(&synthetic()));
    let mut draws = Draws::new(11, 0);
    let (mut jumps, mut costs) = (0, [0.0f64; 2]);
    for _ in 0..2_000 {
        let [from, to] = [(); 2].map(|()| several.place(draws.below(several.entries())));
        let ahead = several.ahead(to);
        let query = by_pose.query(from, &ahead);
        let cost = |place: Place| f64::from(by_pose.distance(place, &query));
        let found = several.jump(from, &ahead, true).unwrap();
        let first = alone.jump(from, &ahead, true).unwrap();
        assert!(cost(found) <= cost(first), "the nearest by phases is one of those among which poses decide");
        costs[0] += cost(first) / 2_000.0;
        costs[1] += cost(found) / 2_000.0;
        if let Some(better) = several.jump(from, &ahead, false) {
            assert!(cost(better) < cost(from));
            jumps += 1;
        }
    }
    println!(
        "cost of the pose and way: {:.2} by phases alone, {:.2} among 20; {jumps} jumps",
        costs[0], costs[1]
    );
    assert!(costs[1] < 0.97 * costs[0], "{costs:?}");
    assert!((200..2_000).contains(&jumps), "{jumps}");
}

#[test]
fn by_phases_it_turns_and_paces_as_it_is_asked_to() {
    let database = Arc::new(phased(20));
    for (speed, turn) in [(1.2, 0.35), (2.4, 0.0), (0.8, -0.35)] {
        let mut controller = MatchingController::new(Arc::clone(&database));
        let [way, turned] = led(&mut controller, speed, turn);
        println!("asked {speed} m/s, {turn} rad/s: {way} m/s, {turned} rad/s");
        assert!((way - speed).abs() < 0.15 && (turned - turn).abs() < 0.1, "{speed} {turn}");
    }
}

#[test]
fn a_vector_has_27_values_in_standard_deviations_times_the_weight_of_its_group() {
    let database = database(&synthetic());
    assert_eq!(database.width(), 27);
    let count = database.entries() as f64;
    let rows: Vec<Vec<f32>> = (0..database.entries())
        .map(|entry| database.query(database.place(entry), &database.ahead(database.place(entry))))
        .collect();
    let moments = |value: usize| {
        let values = rows.iter().map(|row| f64::from(row[value]));
        let mean = values.clone().sum::<f64>() / count;
        (mean, (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt())
    };
    let groups =
        [(0..3, 0.75), (3..6, 0.75), (6..9, 1.0), (9..12, 1.0), (12..15, 1.0), (15..21, 1.0), (21..27, 1.5)];
    for (group, weight) in groups {
        let deviations: Vec<f64> = group
            .clone()
            .map(|value| {
                let (mean, deviation) = moments(value);
                assert!(mean.abs() < 1e-3, "value {value} has the mean {mean}");
                deviation
            })
            .collect();
        let mean = deviations.iter().sum::<f64>() / deviations.len() as f64;
        assert!((mean - weight).abs() < 1e-3, "{group:?}: {deviations:?}");
    }
}

#[test]
fn the_first_frame_follows_on_the_pose_and_way_of_the_state_with_no_offset() {
    let recordings = synthetic();
    let database = database(&recordings);
    let mut controller = MatchingController::new(Arc::clone(&database));
    for (clip, frame) in [(1, 200), (6, 77), (3, 150), (8, 300)] {
        let place = Place { clip, frame };
        let mut state = states(&recordings[clip]).swap_remove(frame);
        state.frame = RootFrame { origin: Vec3::new(3.0, 0.0, -2.0), yaw: 2.0 };
        controller.restart();
        let output = step(&mut controller, &state, &keys_ahead(&state.frame, &database.ahead(place)));
        assert_eq!(controller.playing(), Some(Place { clip, frame: frame + 1 }));
        let next = states(&recordings[clip]).swap_remove(frame + 1);
        for (a, b) in output.positions_root.iter().zip(&next.positions_root) {
            assert!(a.distance(*b) < 1e-4, "{a} is not {b}");
        }
        for (a, b) in output.rotations_local.iter().zip(&next.rotations_local) {
            assert!(a.angle_between(*b) < 1e-3);
        }
    }
}

#[test]
fn it_begins_from_the_pose_that_is_there_and_leaves_it_within_half_a_second() {
    let recordings = synthetic();
    let database = database(&recordings);
    // A pose that no clip has: the trunk bent and the arms raised.
    let raised = |state: &mut CharacterState| {
        for (joint, axis) in [(11, Vec3::X), (16, Vec3::Z), (12, -Vec3::Z)] {
            state.rotations_local[joint] *= Quat::from_axis_angle(axis, 0.8);
        }
        state.root_velocity = Vec2::new(0.3, 0.2);
    };
    let mut state = states(&recordings[1]).swap_remove(200);
    raised(&mut state);
    let before = state.rotations_local.clone();
    let mut controller = MatchingController::new(Arc::clone(&database));
    let apart =
        |a: &[Quat], b: &[Quat]| a.iter().zip(b).map(|(a, b)| a.angle_between(*b)).fold(0.0, f32::max);
    let mut from_start = Vec::new();
    let mut from_clip = Vec::new();
    for _ in 0..40 {
        let output = step(&mut controller, &state, &keys(&state.frame, arc(1.2, 0.0)));
        let playing = controller.playing().unwrap();
        from_start.push(apart(&output.rotations_local, &before));
        from_clip.push(apart(
            &output.rotations_local,
            &database.clips()[playing.clip].rotations_local[playing.frame],
        ));
        if from_start.len() == 1 {
            assert!((output.root_velocity - Vec2::new(0.3, 0.2)).length() < 0.25, "{}", output.root_velocity);
        }
        state = output.state_in(output.next_frame(&state.frame, FRAME_S));
    }
    println!(
        "turned by {:.2} rad in the first frame; {:.2} rad from the clip after it, {:.3} later",
        from_start[0], from_clip[0], from_clip[39]
    );
    assert!(from_start[0] < 0.15, "the first frame is near to the pose that was there: {from_start:?}");
    assert!(from_clip[0] > 0.6 && from_clip[30..].iter().any(|angle| *angle < 0.05), "{from_clip:?}");
}

#[test]
fn an_output_agrees_with_itself_and_with_what_was_shown() {
    let database = database(&synthetic());
    let mut controller = MatchingController::new(Arc::clone(&database));
    let mut state = states(&synthetic()[1]).swap_remove(0);
    let mut jumps = 0;
    for number in 0..600 {
        let turn = if number < 200 { 0.0 } else { 0.6 };
        let before = controller.playing();
        let output = step(&mut controller, &state, &keys(&state.frame, arc(1.2, turn)));
        let jumped = before
            .is_some_and(|before| controller.playing() != Some(Place { frame: before.frame + 1, ..before }));
        jumps += usize::from(jumped);
        let next = output.next_frame(&state.frame, FRAME_S);
        let reached = output.state_in(next);
        // Bones are the skeleton's.
        let pose = clips::skeleton().forward_kinematics(&reached.to_pose());
        for (joint, world) in reached.positions_root.iter().zip(&pose.positions) {
            assert!(next.to_world(*joint).distance(*world) < 1e-3);
        }
        if number > 0 {
            // A step of half a metre in a frame would be 30 m/s.
            let fastest = reached
                .positions_root
                .iter()
                .zip(&state.positions_root)
                .zip(&reached.velocities_root)
                .map(|((now, before), velocity)| {
                    let moved = (next.to_world(*now) - state.frame.to_world(*before)) / FRAME_S;
                    assert!((moved - next.vector_to_world(*velocity)).length() < 0.02, "frame {number}");
                    moved.length()
                })
                .fold(0.0, f32::max);
            assert!(fastest < 9.0, "frame {number}: a joint at {fastest} m/s");
        }
        assert!((output.gait.iter().sum::<f32>() - 1.0).abs() < 1e-3);
        // The window's future codes, held.
        assert_eq!(output.phase_codes[0], (PAST_KEYS * 10) as f32);
        assert_eq!(output.phase_codes.len(), (KEYS - PAST_KEYS) * 10);
        assert_eq!(output.trajectory[0], (Vec2::ZERO, 0.0));
        state = reached;
    }
    println!("{jumps} jumps in 10 s");
    assert!((3..100).contains(&jumps), "{jumps}");
}

/// Mean speed (m/s) and turn (rad/s) over ten seconds of a controller that is asked for them, after five.
fn led(controller: &mut MatchingController, speed: f32, turn: f32) -> [f32; 2] {
    let mut state = states(&synthetic()[1]).swap_remove(200);
    let (mut turned, mut way) = (0.0, 0.0);
    for frame in 0..900 {
        let output = step(controller, &state, &keys(&state.frame, arc(speed, turn)));
        if frame >= 300 {
            turned += output.yaw_rate * FRAME_S;
            way += output.root_velocity.length() * FRAME_S;
        }
        state = output.state_in(output.next_frame(&state.frame, FRAME_S));
    }
    [way / 10.0, turned / 10.0]
}

#[test]
fn it_turns_and_paces_as_it_is_asked_to() {
    let database = database(&synthetic());
    for (speed, turn) in [(1.2, 0.35), (1.2, -0.7), (2.4, 0.0), (0.8, 0.35)] {
        let mut controller = MatchingController::new(Arc::clone(&database));
        let [way, turned] = led(&mut controller, speed, turn);
        println!("asked {speed} m/s, {turn} rad/s: {way} m/s, {turned} rad/s");
        assert!((way - speed).abs() < 0.15, "{speed} {turn}");
        assert!((turned - turn).abs() < 0.1, "{speed} {turn}");
    }
}

#[test]
fn a_frame_takes_less_than_a_fifth_of_a_millisecond_with_50_000_entries() {
    let recordings: Vec<Recording> = (0..6).flat_map(|_| synthetic()).collect();
    let database = database(&recordings);
    assert!(database.entries() > 50_000, "{}", database.entries());
    let mut controller = MatchingController::new(database);
    let mut state = states(&recordings[1]).swap_remove(200);
    let clock = Instant::now();
    for number in 0..1200 {
        let turn = if number % 240 < 120 { 0.3 } else { -0.5 };
        let output = step(&mut controller, &state, &keys(&state.frame, arc(1.1, turn)));
        state = output.state_in(output.next_frame(&state.frame, FRAME_S));
    }
    let frame_ms = clock.elapsed().as_secs_f64() * 1e3 / 1200.0;
    println!("{frame_ms:.4} ms a frame");
    if !cfg!(debug_assertions) {
        assert!(frame_ms < 0.2, "{frame_ms} ms");
    }
}

#[test]
fn it_searches_at_once_when_the_command_jumps() {
    let database = database(&synthetic());
    // Frames from a new command to the first jump, for commands at every place between two searches.
    let delay = |turn: f32, settled: usize| {
        let mut controller = MatchingController::new(Arc::clone(&database));
        let mut state = states(&synthetic()[1]).swap_remove(200);
        for _ in 0..settled {
            let output = step(&mut controller, &state, &keys(&state.frame, arc(1.2, 0.0)));
            state = output.state_in(output.next_frame(&state.frame, FRAME_S));
        }
        (0..30).find(|_| {
            let before = controller.playing().unwrap();
            let output = step(&mut controller, &state, &keys(&state.frame, arc(1.2, turn)));
            state = output.state_in(output.next_frame(&state.frame, FRAME_S));
            controller.playing() != Some(Place { frame: before.frame + 1, ..before })
        })
    };
    let sharp: Vec<Option<usize>> = (60..66).map(|settled| delay(1.2, settled)).collect();
    println!("frames until the jump: {sharp:?}");
    assert!(sharp.iter().all(|delay| *delay == Some(0)), "{sharp:?}");
    // A small change waits for its turn.
    let slight: Vec<Option<usize>> = (60..66).map(|settled| delay(0.3, settled)).collect();
    println!("after a slight change: {slight:?}");
    assert!(slight.iter().any(|delay| *delay != Some(0)), "{slight:?}");
}

#[test]
fn it_goes_on_from_the_end_of_a_clip_for_ever() {
    // One short clip: at its end there is nothing but itself, and of it nothing beyond what is near.
    let walk = clip_of(&moving(MotionKind::Walk, 1.2, 0.0, Ends::Steady, 1));
    for frames in [90, 35, 23] {
        let clips = vec![walk.part(60..60 + frames)];
        let weights = MatchingWeights::default();
        let database =
            MatchingDatabase::new(clips::skeleton(), clips, MatchedFeatures::Pose, &weights).unwrap();
        let mut controller = MatchingController::new(Arc::new(database));
        let mut state = states(&synthetic()[1]).swap_remove(200);
        let mut way = 0.0;
        for _ in 0..600 {
            let output = step(&mut controller, &state, &keys(&state.frame, arc(1.2, 0.0)));
            assert!(output.positions_root.iter().all(|joint| joint.is_finite()));
            way += output.root_velocity.length() * FRAME_S;
            state = output.state_in(output.next_frame(&state.frame, FRAME_S));
        }
        let speed = way / 10.0;
        assert!((0.9..1.6).contains(&speed), "{frames} frames: {speed} m/s");
    }
}

#[test]
fn a_clone_goes_on_from_the_same_frame() {
    let database = database(&synthetic());
    let mut one = MatchingController::new(database).boxed();
    let mut state = states(&synthetic()[1]).swap_remove(200);
    for _ in 0..100 {
        let output = step(one.as_mut(), &state, &keys(&state.frame, arc(1.2, 0.5)));
        state = output.state_in(output.next_frame(&state.frame, FRAME_S));
    }
    let mut other = one.clone();
    for _ in 0..100 {
        let keys = keys(&state.frame, arc(1.2, -0.5));
        let output = step(one.as_mut(), &state, &keys);
        assert_eq!(output, step(other.as_mut(), &state, &keys));
        state = output.state_in(output.next_frame(&state.frame, FRAME_S));
    }
}

#[test]
fn rejects_a_state_and_a_command_that_are_not_finite() {
    let recordings = synthetic();
    let mut controller = MatchingController::new(database(&recordings));
    let state = states(&recordings[1]).swap_remove(200);
    let refused = |controller: &mut MatchingController, state: &CharacterState, keys: &[WindowKey; KEYS]| {
        let input =
            InputFrame { state, keys, phase_codes: &[], contact_impulse: &[], weight_impulse_ns: 12.0 };
        matches!(controller.step(&input, &|_, _| 0.0), Err(ControllerError::InputNotFinite { .. }))
    };
    let mut broken = keys(&state.frame, arc(1.2, 0.0));
    broken[KEYS - 1].position.x = f32::NAN;
    assert!(refused(&mut controller, &state, &broken));
    let good = keys(&state.frame, arc(1.2, 0.0));
    let mut nowhere = state.clone();
    nowhere.velocities_root[0].x = f32::INFINITY;
    assert!(refused(&mut controller, &nowhere, &good));
    assert!(!refused(&mut controller, &state, &good));
}

#[test]
fn a_database_without_a_usable_frame_is_none() {
    let walk = clip_of(&moving(MotionKind::Walk, 1.2, 0.0, Ends::Steady, 1));
    let make = |clip: MatchingClip| {
        let weights = MatchingWeights::default();
        MatchingDatabase::new(clips::skeleton(), vec![clip], MatchedFeatures::Pose, &weights)
    };
    assert!(make(MatchingClip { usable: vec![false; walk.frames()], ..walk.clone() }).is_none());
    // The last 20 frames are no entries.
    assert!(make(walk.part(0..20)).is_none());
    assert_eq!(make(walk.part(0..21)).map(|database| database.entries()), Some(1));
}
