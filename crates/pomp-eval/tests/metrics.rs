//! Every metric on hand-made recordings whose value is known, and the broken motion beside the sound one.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use glam::{Quat, Vec3};
use pomp_eval::{Comparison, EvalError, Metrics, Summary, Track, evaluate};
use pomp_motion::{
    Clip, FrameTable, Gait, GenerationTrack, GlobalPose, Pose, Recording, SimulationTrack, Skeleton, humanoid,
};
use pomp_terrain::HeightMap;
use std::sync::Arc;

const RATE_HZ: f32 = 60.0;
const HEIGHT_M: f32 = 1.75;

fn flat() -> HeightMap {
    HeightMap::flat(40.0, 0.5).unwrap()
}

/// A T-pose moved and turned by `place(t)` per frame, both feet labelled in contact.
fn posed(frames: usize, place: impl Fn(f32, &mut Pose)) -> Recording {
    let skeleton = Arc::new(Skeleton::humanoid(HEIGHT_M));
    let poses = (0..frames)
        .map(|frame| {
            let mut pose = Pose::rest(&skeleton);
            place(frame as f32 / RATE_HZ, &mut pose);
            pose
        })
        .collect();
    let mut recording = Recording::of_clip(&Clip::new("hand_made", skeleton, RATE_HZ, poses).unwrap());
    recording.foot_contact.fill([true; 4]);
    recording
}

fn statue(frames: usize) -> Recording {
    posed(frames, |_, _| {})
}

fn character(recording: &Recording) -> Metrics {
    evaluate(recording, &flat(), Track::Character).unwrap()
}

#[track_caller]
fn near(value: Option<f64>, expected: f64, tolerance: f64) {
    let value = value.expect("the metric applies");
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

fn moved(recording: &Recording, change: impl Fn(usize, &mut GlobalPose)) -> Recording {
    let poses: Vec<GlobalPose> = (0..recording.frames())
        .map(|frame| {
            let mut pose = recording.global_pose(frame);
            change(frame, &mut pose);
            pose
        })
        .collect();
    let skeleton = Arc::clone(&recording.skeleton);
    Recording {
        foot_contact: recording.foot_contact.clone(),
        ..Recording::of_global_poses("moved", skeleton, RATE_HZ, &poses)
    }
}

#[test]
fn a_statue_scores_zero_wherever_motion_or_error_is_measured() {
    let metrics = character(&statue(120));
    near(metrics.duration_s, 2.0, 1e-9);
    for value in [
        metrics.foot_sliding_cm_per_frame,
        metrics.contact_slide_cm_s,
        metrics.jerk_mean_m_s3,
        metrics.high_jerk_percent,
        metrics.joint_rotation_deg_s,
        metrics.positive_work_w_kg,
        metrics.root_speed_m_s,
        metrics.falls,
    ] {
        near(value, 0.0, 1e-9);
    }
    near(metrics.penetration_p95_mm, 0.0, 1e-3);
    near(metrics.float_p95_mm, 0.0, 1e-3);
    near(metrics.upright_s, 2.0, 1e-9);
    assert_eq!(metrics.contact_speed_ratio, None, "a foot that never moves has no largest speed");
    assert_eq!(metrics.path_error_mean_m, None);
    assert_eq!(metrics.contact_impulse_closure, None);
}

#[test]
fn sliding_is_the_speed_that_was_added() {
    let sliding = character(&posed(120, |t, pose| pose.root_position.x += 0.3 * t));
    near(sliding.contact_slide_cm_s, 30.0, 0.01);
    // On the ground the weight 2 − 2^0 is 1: 0.3 m/s are 0.5 cm in 1/60 s.
    near(sliding.foot_sliding_cm_per_frame, 0.5, 1e-3);
    near(sliding.root_speed_m_s, 0.3, 1e-4);
    let faster = character(&posed(120, |t, pose| pose.root_position.x += 0.6 * t));
    assert!(faster.foot_sliding_cm_per_frame > sliding.foot_sliding_cm_per_frame);
}

#[test]
fn sliding_weighs_by_height_and_stops_at_two_and_a_half_centimetres() {
    let at = |height: f32| {
        let metrics = character(&posed(60, |t, pose| pose.root_position += Vec3::new(0.6 * t, height, 0.0)));
        metrics.foot_sliding_cm_per_frame
    };
    near(at(0.0125), 1.0 * (2.0 - 2f64.sqrt()), 1e-3);
    assert_eq!(at(0.03), None);
}

#[test]
fn the_speed_ratio_compares_contact_with_swing() {
    // In contact for a second at 0.1 m/s, then in the air at 1 m/s.
    let mut recording = posed(121, |t, pose| {
        pose.root_position.z += if t <= 1.0 { 0.1 * t } else { 0.1 + (t - 1.0) };
    });
    for contact in &mut recording.foot_contact[61..] {
        *contact = [false; 4];
    }
    near(character(&recording).contact_speed_ratio, 0.1, 1e-3);
    near(character(&recording).duty_factor_left, 61.0 / 121.0, 1e-9);
}

#[test]
fn sunk_and_lifted_feet_measure_their_depth_and_height() {
    let sunk = character(&posed(60, |_, pose| pose.root_position.y -= 0.02));
    near(sunk.penetration_mean_mm, 20.0, 1e-2);
    near(sunk.penetration_p95_mm, 20.0, 1e-2);
    near(sunk.float_mean_mm, 0.0, 1e-9);
    let lifted = character(&posed(60, |_, pose| pose.root_position.y += 0.03));
    near(lifted.float_mean_mm, 30.0, 1e-2);
    near(lifted.penetration_mean_mm, 0.0, 1e-9);
}

#[test]
fn heights_are_measured_over_the_terrain() {
    let step = HeightMap::from_fn(41, 41, [-10.0, -10.0], 0.5, |_, _| 0.05).unwrap();
    let metrics = evaluate(&statue(30), &step, Track::Character).unwrap();
    near(metrics.penetration_mean_mm, 50.0, 1e-2);
}

#[test]
fn the_jerk_of_a_cubic_is_its_third_derivative() {
    let cubic = character(&posed(60, |t, pose| pose.root_position.z += 0.5 * t * t * t));
    // f32 positions near 1 m carry 6e-8 m; three differences at 60 Hz make that about 0.1 m/s³.
    near(cubic.jerk_mean_m_s3, 3.0, 0.2);
}

#[test]
fn jitter_raises_jerk_and_a_glitch_makes_high_jerk_frames() {
    let calm = posed(120, |t, pose| pose.root_position.z += 1.2 * t);
    let jittered = moved(&calm, |frame, pose| {
        let sign = if frame % 2 == 0 { 1.0 } else { -1.0 };
        for p in &mut pose.positions {
            p.y += 0.001 * sign;
        }
    });
    // ±1 mm every other frame: the third difference of (−1)^i is 8 in size.
    near(character(&jittered).jerk_mean_m_s3, 0.001 * 8.0 * 60f64.powi(3), 1.0);
    assert!(character(&jittered).jerk_mean_m_s3 > character(&calm).jerk_mean_m_s3);
    let glitch = moved(&calm, |frame, pose| {
        if frame == 60 {
            pose.positions[humanoid::LEFT_HAND.0].y += 0.02;
        }
    });
    // 2 cm in one frame exceed 10 000 m/s³ (12 960) in the two differences that weigh it by 3.
    near(character(&glitch).high_jerk_percent, 100.0 * 2.0 / 117.0, 1e-6);
    near(character(&calm).high_jerk_percent, 0.0, 1e-9);
}

#[test]
fn a_frozen_statue_is_less_lively_than_a_turning_head() {
    let nodding = character(&posed(120, |t, pose| {
        pose.local_rotations[humanoid::HEAD.0] = Quat::from_rotation_x(0.5 * t);
    }));
    near(nodding.joint_rotation_deg_s, 0.5f64.to_degrees() / 22.0, 0.02);
    assert!(nodding.joint_rotation_deg_s > character(&statue(120)).joint_rotation_deg_s);
}

#[test]
fn work_is_what_lifts_the_body_and_swings_its_limbs() {
    let rising = character(&posed(121, |t, pose| pose.root_position.y += 0.5 * t));
    near(rising.positive_work_w_kg, 9.81 * 0.5, 1e-3);
    let sinking = character(&posed(121, |t, pose| pose.root_position.y -= 0.2 * t));
    near(sinking.positive_work_w_kg, 0.0, 1e-6);
    let gliding = character(&posed(121, |t, pose| pose.root_position.z += 1.2 * t));
    near(gliding.positive_work_w_kg, 0.0, 1e-3);

    // A forearm that swings once a second about the upright axis: twice a second the kinetic energy of forearm and hand rises to
    // that of their largest speeds; it is that of the arm, of the centre of mass and of the rest together (König).
    let (swing, rate) = (0.6f64, std::f64::consts::TAU);
    let waving = character(&posed(123, |t, pose| {
        let angle = swing * (rate * f64::from(t)).sin();
        pose.local_rotations[humanoid::LEFT_FORE_ARM.0] = Quat::from_rotation_y(angle as f32);
    }));
    let (forearm, hand) = (0.0162, 0.0061);
    let length = 0.135 * f64::from(HEIGHT_M);
    let squares = (forearm * 0.25 + hand) * (length * swing * rate).powi(2);
    near(waving.positive_work_w_kg, squares, 0.03 * squares);
}

fn toppled(t: f32) -> bool {
    (1.0..2.0).contains(&t)
}

#[test]
fn a_fall_is_counted_timed_and_recovered() {
    let fall = |until: f32| {
        character(&posed(240, move |t, pose| {
            if toppled(t) || (t >= 2.0 && t < until) {
                pose.root_position.y = 0.2;
                pose.local_rotations[0] = Quat::from_rotation_x(-1.5);
            }
        }))
    };
    let recovered = fall(2.0);
    near(recovered.falls, 1.0, 0.0);
    near(recovered.falls_recovered, 1.0, 0.0);
    near(recovered.first_fall_s, 1.0, 1e-6);
    near(recovered.upright_s, 3.0, 1e-6);
    let lying = fall(10.0);
    near(lying.falls, 1.0, 0.0);
    near(lying.falls_recovered, 0.0, 0.0);
    near(lying.upright_s, 1.0, 1e-6);
    assert_eq!(character(&statue(240)).first_fall_s, None);
}

#[test]
fn half_up_is_not_up_and_getting_up_is_timed() {
    // Down from 1 to 1.5 s, then upright again, but labelled as getting up until 2.5 s.
    let mut recording = posed(240, |t, pose| {
        if (1.0..1.5).contains(&t) {
            pose.root_position.y = 0.2;
            pose.local_rotations[0] = Quat::from_rotation_x(-1.5);
        }
    });
    near(character(&recording).upright_s, 3.5, 1e-6);
    for (frame, gait) in recording.gait.iter_mut().enumerate() {
        *gait = if (90..150).contains(&frame) { Gait::GetUp.one_hot() } else { Gait::Stand.one_hot() };
    }
    let metrics = character(&recording);
    near(metrics.upright_s, 2.5, 1e-6);
    near(metrics.falls_recovered, 1.0, 0.0);
    near(metrics.down_s, 1.5, 1e-6);
    near(metrics.get_up_s, 1.0, 1e-6);
}

#[test]
fn a_short_stumble_and_a_crouch_are_no_falls() {
    let stumble = character(&posed(120, |t, pose| {
        if (1.0..1.25).contains(&t) {
            pose.local_rotations[0] = Quat::from_rotation_x(1.2);
        }
    }));
    near(stumble.falls, 0.0, 0.0);
    let crouch = character(&posed(120, |_, pose| pose.root_position.y *= 0.6));
    near(crouch.falls, 0.0, 0.0);
}

/// A statue of 75 kg that the ground carries, with a body per foot joint.
fn simulated(frames: usize) -> Recording {
    let mut recording = statue(frames);
    let weight_per_frame = 75.0 * 9.81 / RATE_HZ;
    let mut contact_impulse = FrameTable::with_columns(5);
    for _ in 0..frames {
        contact_impulse.push(&[
            Vec3::ZERO,
            Vec3::Y * weight_per_frame * 0.5,
            Vec3::ZERO,
            Vec3::Y * weight_per_frame * 0.25,
            Vec3::Y * weight_per_frame * 0.25,
        ]);
    }
    recording.simulation = Some(SimulationTrack {
        body_names: ["Hips", "LeftFoot", "LeftToe", "RightFoot", "RightToe"].map(str::to_owned).to_vec(),
        body_mass_kg: vec![71.0, 1.0, 1.0, 1.0, 1.0],
        contact_impulse: contact_impulse.clone(),
        impulse_estimator: "simulation".to_owned(),
        sim_contact_impulse: contact_impulse,
        positions: recording.positions.clone(),
        quaternions: recording.quaternions.clone(),
        velocities: recording.velocities.clone(),
        assist_force: vec![Vec3::ZERO; frames],
        assist_torque: vec![Vec3::ZERO; frames],
    });
    recording
}

#[test]
fn the_ground_that_carries_a_standing_body_closes_its_impulse() {
    let mut recording = simulated(60);
    recording.foot_contact.fill([false; 4]);
    let metrics = evaluate(&recording, &flat(), Track::Simulated).unwrap();
    near(metrics.contact_impulse_closure, 1.0, 1e-5);
    near(metrics.contact_force_peak_bw, 1.0, 1e-5);
    near(metrics.assist_force_peak_n, 0.0, 0.0);
    // Contacts come from the bodies that feel the ground, not from the labels.
    near(metrics.duty_factor_left, 1.0, 0.0);
    near(metrics.float_mean_mm, 0.0, 1e-3);
    assert_eq!(evaluate(&recording, &flat(), Track::Character).unwrap().duty_factor_left, None);
}

#[test]
fn an_assist_that_carries_is_reported_and_lowers_the_closure() {
    let mut recording = simulated(60);
    let simulation = recording.simulation.as_mut().unwrap();
    let weight = 75.0 * 9.81;
    simulation.assist_force = vec![Vec3::Y * weight * 0.2; 60];
    simulation.assist_force[10] = Vec3::Y * weight * 0.5;
    simulation.assist_torque[3] = Vec3::new(0.0, 3.0, 4.0);
    let frames = 60;
    let mut impulse = FrameTable::with_columns(5);
    for row in simulation.sim_contact_impulse.rows() {
        impulse.push(&row.iter().map(|j| *j * 0.8).collect::<Vec<_>>());
    }
    simulation.sim_contact_impulse = impulse;
    let metrics = character(&recording);
    near(metrics.assist_force_mean_bw, (0.2 * 59.0 + 0.5) / f64::from(frames), 1e-5);
    near(metrics.assist_force_peak_bw, 0.5, 1e-5);
    near(metrics.assist_force_peak_n, f64::from(weight) * 0.5, 0.01);
    near(metrics.assist_torque_peak_nm, 5.0, 1e-5);
    near(metrics.assist_torque_mean_nm, 5.0 / 60.0, 1e-5);
    near(metrics.contact_impulse_closure, 0.8, 1e-5);
    near(metrics.assist_vertical_share, (0.2 * 59.0 + 0.5) / 60.0, 1e-5);
}

fn commanded(frames: usize, aside: f32, turned: f32) -> Recording {
    let mut recording = posed(frames, |t, pose| pose.root_position.z += 1.0 * t);
    recording.generation = Some(GenerationTrack {
        target_positions: recording.positions.clone(),
        pushes: Vec::new(),
        control: (0..frames).map(|f| [aside, f as f32 / RATE_HZ, turned, 1.0]).collect(),
        frame_time_us: Some((0..frames).map(|f| 1000.0 + 10.0 * f as f32).collect()),
        ground_offset: None,
    });
    recording
}

#[test]
fn path_heading_and_speed_errors_are_those_that_were_built_in() {
    for track in [Track::Character, Track::Target] {
        let metrics = evaluate(&commanded(101, 0.25, 0.2), &flat(), track).unwrap();
        near(metrics.path_error_mean_m, 0.25, 1e-5);
        near(metrics.path_error_p95_m, 0.25, 1e-5);
        // The command's heading is turned by 0.2 rad against the line to it.
        near(metrics.path_aside_mean_m, 0.25 * 0.2f64.cos(), 1e-5);
        near(metrics.heading_error_deg, 0.2f64.to_degrees(), 1e-3);
        near(metrics.speed_error_m_s, 0.0, 1e-3);
        near(metrics.frame_time_p50_ms, 1.5, 1e-6);
        near(metrics.frame_time_p99_ms, 1.99, 1e-6);
        assert_eq!(metrics.joint_rotation_deg_s.is_some(), track == Track::Character);
    }
    let mut unclocked = commanded(101, 0.25, 0.2);
    unclocked.generation.as_mut().unwrap().frame_time_us = None;
    let metrics = character(&unclocked);
    assert_eq!((metrics.frame_time_p50_ms, metrics.frame_time_p99_ms), (None, None));
    near(metrics.path_error_mean_m, 0.25, 1e-5);
    let good = character(&commanded(101, 0.0, 0.0));
    assert!(good.path_error_mean_m < character(&commanded(101, 0.1, 0.0)).path_error_mean_m);
}

#[test]
fn a_goal_is_what_the_command_of_the_last_second_stands_at() {
    // It walks to z = 2 m and stands there, 0.3 m before the goal, turned away from it by 0.1 rad.
    let mut recording = posed(240, |t, pose| {
        pose.root_position.z += t.min(2.0);
        pose.local_rotations[0] = Quat::from_rotation_y(0.4);
    });
    let control = |f: usize| [0.0, (f as f32 / RATE_HZ).min(2.0) + 0.3, 0.5, if f < 120 { 1.0 } else { 0.0 }];
    recording.generation = Some(GenerationTrack {
        target_positions: recording.positions.clone(),
        pushes: Vec::new(),
        control: (0..240).map(control).collect(),
        frame_time_us: None,
        ground_offset: None,
    });
    let metrics = character(&recording);
    near(metrics.goal_error_m, 0.3, 1e-5);
    near(metrics.goal_heading_error_deg, 0.1f64.to_degrees(), 1e-2);
    // A command that still moves, turns or waits in the last second has none.
    for (axis, value) in [(1, 5.0), (2, 0.51), (3, 0.2)] {
        let mut other = recording.clone();
        other.generation.as_mut().unwrap().control[200][axis] = value;
        let metrics = character(&other);
        assert_eq!((metrics.goal_error_m, metrics.goal_heading_error_deg), (None, None));
    }
    assert_eq!(character(&commanded(101, 0.25, 0.2)).goal_error_m, None);
}

/// A character that is where, and faces where, `of(t)` says (metres along z, radians), under a command of speed and heading.
fn led(seconds: f32, command: impl Fn(f32) -> [f32; 2], of: impl Fn(f32) -> [f32; 2]) -> Recording {
    let frames = (seconds * RATE_HZ) as usize;
    let mut recording = posed(frames, |t, pose| {
        let [along, heading] = of(t);
        pose.root_position.z += along;
        pose.local_rotations[0] = Quat::from_rotation_y(heading);
    });
    let control = |frame: usize| {
        let [speed, heading] = command(frame as f32 / RATE_HZ);
        [0.0, 0.0, heading, speed]
    };
    recording.generation = Some(GenerationTrack {
        target_positions: recording.positions.clone(),
        pushes: Vec::new(),
        control: (0..frames).map(control).collect(),
        frame_time_us: None,
        ground_offset: None,
    });
    recording
}

/// 1 m/s from 2 s to 6 s.
fn go_and_stop(t: f32) -> [f32; 2] {
    [if (2.0..6.0).contains(&t) { 1.0 } else { 0.0 }, 0.0]
}

fn responses(metrics: &Metrics) -> [Option<f64>; 4] {
    [
        metrics.response_start_s,
        metrics.response_stop_s,
        metrics.response_turn_s,
        metrics.responses_reached_percent,
    ]
}

#[test]
fn a_start_and_a_stop_take_the_time_that_was_built_in() {
    // It begins to move 0.4 s after the command and stops 0.7 s after it. An average over 0.5 s is at nine tenths 0.2 s later.
    let metrics = character(&led(9.0, go_and_stop, |t| [(t - 2.4).clamp(0.0, 4.3), 0.0]));
    near(metrics.response_start_s, 0.4 + 0.2, 0.02);
    near(metrics.response_stop_s, 0.7 + 0.2, 0.02);
    near(metrics.responses_reached_percent, 100.0, 1e-9);
    assert_eq!(metrics.response_turn_s, None);
    // That of two starts is their mean.
    let again = |t: f32| go_and_stop(t % 9.0);
    let metrics =
        character(&led(18.0, again, |t| [(t - 2.4).clamp(0.0, 4.0) + (t - 9.0 - 2.8).clamp(0.0, 3.6), 0.0]));
    near(metrics.response_start_s, 0.6 + 0.2, 0.02);
}

#[test]
fn a_character_that_follows_its_command_exactly_takes_the_time_of_the_command() {
    // 1.1 m/s at 1.2 m/s²: nine tenths after 0.825 s, and a little later on the average over 0.5 s.
    let ramp = |t: f32| (1.2 * (t - 2.0)).clamp(0.0, 1.1) - (1.2 * (t - 6.0)).clamp(0.0, 1.1);
    let along =
        |t: f32| (0..(t * 600.0) as usize).map(|i| ramp((i as f32 + 0.5) / 600.0) / 600.0).sum::<f32>();
    let metrics = character(&led(9.0, |t| [ramp(t), 0.0], |t| [along(t), 0.0]));
    println!("a start {:?} s, a stop {:?} s", metrics.response_start_s, metrics.response_stop_s);
    near(metrics.response_start_s, 0.84, 0.02);
    near(metrics.response_stop_s, 0.84, 0.02);
}

#[test]
fn a_turn_takes_the_time_that_was_built_in_and_may_pass_straight_back() {
    // By a right angle to the left, from 135° to 225°, which is −135°, while the character counts on.
    let [from, to] = [2.36, -2.353_185];
    let command = |t: f32| [1.2, if t < 3.0 { from } else { to }];
    let turning = |after: f32| move |t: f32| [1.2 * t, if t < 3.0 + after { from } else { to }];
    let metrics = character(&led(8.0, command, turning(0.5)));
    near(metrics.response_turn_s, 0.5 + 0.2, 0.02);
    near(metrics.responses_reached_percent, 100.0, 1e-9);
    assert_eq!((metrics.response_start_s, metrics.response_stop_s), (None, None));
    // One that turned before the command did has not answered it, and one that turns the other way never gets there.
    let before = character(&led(8.0, command, turning(-0.5)));
    assert_eq!(responses(&before), [None, None, None, Some(0.0)]);
    let away = character(&led(8.0, command, |t| [1.2 * t, if t < 3.5 { from } else { from - 1.57 }]));
    assert_eq!(responses(&away), [None, None, None, Some(0.0)]);
}

#[test]
fn what_is_not_answered_before_the_command_changes_again_has_no_time() {
    // One that never begins to walk has no stop either, though it stands when it is asked to.
    let never = character(&led(9.0, go_and_stop, |_| [0.0; 2]));
    assert_eq!(responses(&never), [None, None, None, Some(0.0)]);
    // One that walks at eight tenths of the speed, and then on and on.
    let slow = character(&led(9.0, go_and_stop, |t| [0.8 * (t - 2.0).max(0.0), 0.0]));
    assert_eq!(responses(&slow), [None, None, None, Some(0.0)]);
    // Nine tenths are reached 0.3 s before the command ends, or 0.3 s after.
    let late =
        |seconds: f32| character(&led(9.0, go_and_stop, move |t| [(t - 2.0 - seconds).clamp(0.0, 5.0), 0.0]));
    near(late(3.5).response_start_s, 3.7, 0.02);
    assert_eq!(late(4.1).response_start_s, None);
}

#[test]
fn commands_that_never_stay_constant_or_only_change_pace_have_no_responses() {
    let none = [None; 4];
    let circle = character(&led(20.0, |t| [1.1, 0.37 * t], |t| [1.1 * t, 0.37 * t]));
    assert_eq!(responses(&circle), none);
    let slalom = |t: f32| 0.56 * (0.69 * t).sin();
    assert_eq!(responses(&character(&led(20.0, |t| [1.1, slalom(t)], |t| [1.1 * t, slalom(t)]))), none);
    let pace = character(&led(9.0, |t| [if t < 4.0 { 1.0 } else { 2.0 }, 0.0], |t| [t, 0.0]));
    assert_eq!(responses(&pace), none);
    assert_eq!(responses(&character(&commanded(101, 0.25, 0.2))), none);
    assert_eq!(responses(&character(&statue(120))), none);
}

#[test]
fn recordings_of_one_to_three_frames_are_measured_where_they_can_be() {
    for frames in 1..4 {
        let metrics = character(&statue(frames));
        assert_eq!(metrics.jerk_mean_m_s3, None);
        assert_eq!(metrics.root_speed_m_s.is_some(), frames > 1);
        near(metrics.upright_s, frames as f64 / 60.0, 1e-9);
    }
}

#[test]
fn a_summary_takes_means_over_the_recordings_that_have_the_metric() {
    let slow = character(&posed(60, |t, pose| pose.root_position.z += 1.0 * t));
    let fast = character(&posed(60, |t, pose| pose.root_position.z += 2.0 * t));
    let with_assist = character(&simulated(60));
    let summary = Summary::of(&[slow.clone(), fast, with_assist]).unwrap();
    let speed = summary.estimate("root_speed_m_s").unwrap();
    assert!((speed.mean - 1.0).abs() < 1e-3);
    assert!((speed.half_interval_95.unwrap() - 4.303 / 3f64.sqrt()).abs() < 1e-2);
    let assist = summary.estimate("assist_force_mean_n").unwrap();
    assert_eq!((assist.count, assist.half_interval_95), (1, None));
    assert_eq!(summary.estimate("path_error_mean_m"), None);

    let table = Comparison::new().with("generated", summary).with("mocap", Summary::from(&slow)).to_string();
    let line = table.lines().find(|l| l.starts_with("assist_force_mean_n")).unwrap();
    assert!(line.contains('–') && line.contains("↓"), "{line}");
    let widths: Vec<usize> = table.lines().map(|l| l.chars().count()).collect();
    assert!(widths.iter().all(|w| *w == widths[0]), "columns are aligned:\n{table}");
}

#[test]
fn what_does_not_apply_is_null_in_json_and_a_dash_in_the_table() {
    let metrics = character(&statue(60));
    let json = serde_json::to_value(&metrics).unwrap();
    assert!(json["path_error_mean_m"].is_null());
    assert_eq!(json["falls"], 0.0);
    let text = metrics.to_string();
    assert!(text.lines().any(|l| l.starts_with("path_error_mean_m") && l.trim_end().ends_with('–')));
    assert_eq!(text.lines().count(), Metrics::INFO.len());
}

#[test]
fn rejects_nan_in_every_array_it_reads() {
    let nan = f32::NAN;
    let mut positions = statue(10);
    positions.positions[4][2].x = nan;
    let mut rotations = statue(10);
    rotations.quaternions[4][2].x = nan;
    let mut control = commanded(10, 0.0, 0.0);
    control.generation.as_mut().unwrap().control[5][2] = nan;
    let mut cost = commanded(10, 0.0, 0.0);
    cost.generation.as_mut().unwrap().frame_time_us.as_mut().unwrap()[5] = f32::INFINITY;
    let mut assist = simulated(10);
    assist.simulation.as_mut().unwrap().assist_torque[5].z = nan;
    let mut mass = simulated(10);
    mass.simulation.as_mut().unwrap().body_mass_kg[0] = nan;
    let mut impulse = simulated(10);
    impulse.simulation.as_mut().unwrap().contact_impulse[3][1].y = nan;
    for recording in [positions, rotations, control, cost, assist, mass, impulse] {
        assert!(evaluate(&recording, &flat(), Track::Character).is_err());
    }
    let mut turned = simulated(10);
    turned.simulation.as_mut().unwrap().quaternions[3][1].w = nan;
    assert!(evaluate(&turned, &flat(), Track::Simulated).is_err());
}

#[test]
fn rejects_a_track_that_is_not_there() {
    for track in [Track::Simulated, Track::Target] {
        let error = evaluate(&statue(10), &flat(), track).unwrap_err();
        assert!(matches!(error, EvalError::MissingTrack { .. }), "{error}");
    }
}

#[test]
fn rejects_a_foreign_skeleton() {
    let mut recording = statue(10);
    let mut joints = recording.skeleton.joints().to_vec();
    joints[4].name = "LeftToeBase".to_owned();
    recording.skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let error = evaluate(&recording, &flat(), Track::Character).unwrap_err();
    assert!(error.to_string().contains("LeftToeBase"), "{error}");
}

#[test]
fn rejects_massless_bodies() {
    let mut recording = simulated(10);
    recording.simulation.as_mut().unwrap().body_mass_kg = vec![0.0; 5];
    assert!(matches!(
        evaluate(&recording, &flat(), Track::Simulated).unwrap_err(),
        EvalError::BadRecording { .. }
    ));
}

#[test]
fn rejects_a_summary_of_nothing() {
    assert!(matches!(Summary::of(&[]).unwrap_err(), EvalError::NothingToSummarise));
}
