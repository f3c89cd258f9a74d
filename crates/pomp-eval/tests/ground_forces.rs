//! What holds a walker up and how the ground pushes back, on hand-made walks whose forces are known.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use glam::Vec3;
use pomp_eval::{Metrics, Track, WalkingForces, evaluate};
use pomp_motion::{
    Clip, EffortTrack, FrameTable, Gait, Pose, Recording, SimulationTrack, Skeleton, humanoid,
};
use pomp_terrain::HeightMap;
use std::sync::Arc;

const RATE_HZ: f32 = 60.0;
const HEIGHT_M: f32 = 1.75;
const WEIGHT_N: f32 = 75.0 * 9.81;
const SPEED_M_S: f32 = 1.2;
/// Frames of a stance, and from the stance of one foot to that of the other.
const STANCE: usize = 40;
const STEP: usize = 33;
const STEPS: usize = 12;
const BODIES: [&str; 13] = [
    "Hips",
    "LeftUpLeg",
    "LeftLeg",
    "LeftFoot",
    "LeftToe",
    "RightUpLeg",
    "RightLeg",
    "RightFoot",
    "RightToe",
    "LeftArm",
    "LeftForeArm",
    "RightArm",
    "RightForeArm",
];

fn body(name: &str) -> usize {
    BODIES.iter().position(|body| *body == name).unwrap()
}

/// A figure that glides along +Z, labelled walking, whose feet bear in turn what `force` says of a share of their stance: up and
/// ahead, body weights.
fn walk(force: impl Fn(f64) -> [f64; 2]) -> Recording {
    let frames = 10 + STEPS * STEP + STANCE;
    let skeleton = Arc::new(Skeleton::humanoid(HEIGHT_M));
    let poses = (0..frames).map(|frame| {
        let mut pose = Pose::rest(&skeleton);
        pose.root_position.z += SPEED_M_S * frame as f32 / RATE_HZ;
        pose
    });
    let clip = Clip::new("walk", Arc::clone(&skeleton), RATE_HZ, poses.collect()).unwrap();
    let mut recording = Recording::of_clip(&clip);
    recording.gait.fill(Gait::Walk.one_hot());
    let mut rows = vec![vec![Vec3::ZERO; BODIES.len()]; frames];
    for step in 0..STEPS {
        let foot = body(["LeftFoot", "RightFoot"][step % 2]);
        for k in 0..STANCE {
            let [up, ahead] = force(k as f64 / (STANCE - 1) as f64);
            let impulse = Vec3::new(0.0, up as f32, ahead as f32) * (WEIGHT_N / RATE_HZ);
            // Heel and toes share it.
            rows[5 + step * STEP + k][foot] = impulse * 0.25;
            rows[5 + step * STEP + k][foot + 1] = impulse * 0.75;
        }
    }
    let mut impulses = FrameTable::with_columns(BODIES.len());
    rows.iter().for_each(|row| impulses.push(row));
    recording.simulation = Some(SimulationTrack {
        body_names: BODIES.map(str::to_owned).to_vec(),
        body_mass_kg: std::iter::once(63.0).chain([1.0; BODIES.len() - 1]).collect(),
        contact_impulse: impulses.clone(),
        impulse_estimator: "simulation".to_owned(),
        sim_contact_impulse: impulses,
        positions: recording.positions.clone(),
        quaternions: recording.quaternions.clone(),
        velocities: recording.velocities.clone(),
        assist_force: vec![Vec3::ZERO; frames],
        assist_torque: vec![Vec3::ZERO; frames],
    });
    recording
}

/// A value of a curve at a share of it.
fn at(curve: &[f64], share: f64) -> f64 {
    let place = share * (curve.len() - 1) as f64;
    let below = (place as usize).min(curve.len() - 2);
    curve[below] + (curve[below + 1] - curve[below]) * (place - below as f64)
}

/// The forces of the reference, in body weights of a foot that bears 0.85 on average.
fn like_people(share: f64) -> [f64; 2] {
    let people = WalkingForces::reference();
    [0.85 * at(&people.vertical, share), 0.85 * at(&people.forward, share)]
}

/// Efforts of drives and assist, none of which does anything.
fn at_rest(recording: &Recording) -> EffortTrack {
    EffortTrack {
        joint_torque: FrameTable::filled(recording.frames(), BODIES.len(), 0.0),
        assist_limit: [0.45 * WEIGHT_N, 0.6 * WEIGHT_N],
        contact_point: None,
    }
}

fn on(recording: &Recording, ground: &HeightMap, track: Track) -> Metrics {
    evaluate(recording, ground, track).unwrap()
}

fn flat() -> HeightMap {
    HeightMap::flat(60.0, 0.5).unwrap()
}

fn simulated(recording: &Recording) -> Metrics {
    on(recording, &flat(), Track::Simulated)
}

#[track_caller]
fn near(value: Option<f64>, expected: f64, tolerance: f64) {
    let value = value.expect("the metric applies");
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

#[test]
fn a_walk_with_a_persons_forces_is_a_persons() {
    let people = WalkingForces::reference();
    let metrics = simulated(&walk(like_people));
    near(metrics.walking_stances, STEPS as f64, 0.0);
    near(metrics.stance_vertical_r, 1.0, 0.005);
    near(metrics.stance_mean_vertical_r, 1.0, 0.005);
    near(metrics.stance_forward_r, 1.0, 0.005);
    let largest = people.vertical.iter().copied().fold(0.0, f64::max);
    near(metrics.stance_vertical_peak_bw, 0.85 * largest, 0.01);
    near(metrics.stance_propulsion_peak_bw, 0.85 * people.forward.iter().copied().fold(0.0, f64::max), 0.005);
    // A mean curve is smoother than one stance.
    assert!(metrics.stance_roughness.unwrap() < 1.2, "{:?}", metrics.stance_roughness);
}

#[test]
fn a_force_with_one_peak_is_unlike_a_persons_and_a_trembling_one_is_rough() {
    let arch = simulated(&walk(|share| [0.1 + (std::f64::consts::PI * share).sin().powi(3) * 1.8, 0.0]));
    let trembling = simulated(&walk(|share| {
        let [up, ahead] = like_people(share);
        [up * (1.0 + 0.5 * (share * 125.0).sin()), ahead]
    }));
    let sound = simulated(&walk(like_people));
    println!(
        "r of one peak {:.2}, roughness of the trembling {:.1}",
        arch.stance_vertical_r.unwrap(),
        trembling.stance_roughness.unwrap()
    );
    assert!(arch.stance_vertical_r.unwrap() < 0.6);
    assert!(trembling.stance_roughness.unwrap() > 5.0 * sound.stance_roughness.unwrap());
    assert!(trembling.stance_vertical_r < sound.stance_vertical_r);
    // Pushing where a person brakes, and the other way round.
    let against = simulated(&walk(|share| [like_people(share)[0], -like_people(share)[1]]));
    near(against.stance_forward_r, -1.0, 0.005);
}

#[test]
fn stances_count_where_walking_is_labelled_and_the_body_moves() {
    let mut jogged = walk(like_people);
    jogged.gait.fill(Gait::Jog.one_hot());
    let metrics = simulated(&jogged);
    near(metrics.walking_stances, 0.0, 0.0);
    assert_eq!(metrics.stance_vertical_r, None);
}

#[test]
fn a_clip_shows_the_best_estimate_and_its_replay_the_simulators_own_force() {
    let mut recording = walk(like_people);
    let mut doubled = FrameTable::with_columns(BODIES.len());
    let simulation = recording.simulation.as_mut().unwrap();
    for row in simulation.contact_impulse.rows() {
        doubled.push(&row.iter().map(|impulse| *impulse * 2.0).collect::<Vec<_>>());
    }
    simulation.sim_contact_impulse = doubled;
    let clip = on(&recording, &flat(), Track::Character).stance_vertical_peak_bw.unwrap();
    near(simulated(&recording).stance_vertical_peak_bw, 2.0 * clip, 1e-4);
}

#[test]
fn the_assist_is_split_along_the_path_and_across_it() {
    let mut recording = walk(like_people);
    let frames = recording.frames();
    let simulation = recording.simulation.as_mut().unwrap();
    // Ahead and back in turn, and always to the left, with a fifth upwards that is neither.
    for (frame, force) in simulation.assist_force.iter_mut().enumerate() {
        let along = if frame % 4 == 0 { -0.1 } else { 0.1 };
        *force = Vec3::new(0.03, 0.2, along) * WEIGHT_N;
    }
    let metrics = simulated(&recording);
    near(metrics.assist_along_bw, 0.1, 1e-5);
    near(metrics.assist_across_bw, 0.03, 1e-5);
    let back = frames.div_ceil(4) as f64 / frames as f64;
    near(metrics.assist_ahead_bw, 0.1 * (1.0 - 2.0 * back), 1e-5);
    near(metrics.assist_vertical_share, 0.2, 1e-5);
}

#[test]
fn propulsion_and_braking_are_shared_by_feet_and_assist() {
    // Each stance brakes by 0.1 in its first half and pushes by 0.1 in its second.
    let mut recording = walk(|share| [1.0, if share < 0.5 { -0.1 } else { 0.1 }]);
    near(simulated(&recording).propulsion_feet_share, 1.0, 0.0);
    near(simulated(&recording).braking_feet_share, 1.0, 0.0);
    let frames = recording.frames();
    let of_feet = 0.1 * (STEPS * STANCE / 2) as f64;
    // In a quarter of the frames the assist pushes ahead by as much as gives the feet four fifths of all.
    let assist = 0.25 * of_feet / (frames / 4) as f64;
    let simulation = recording.simulation.as_mut().unwrap();
    for force in &mut simulation.assist_force[..frames / 4] {
        *force = Vec3::Z * assist as f32 * WEIGHT_N;
    }
    let metrics = simulated(&recording);
    near(metrics.propulsion_feet_share, 0.8, 1e-4);
    near(metrics.braking_feet_share, 1.0, 0.0);
    let clip = on(&recording, &flat(), Track::Character);
    assert_eq!(clip.propulsion_feet_share, None, "the estimate of a clip knows no assist");
}

#[test]
fn frames_at_the_bounds_of_the_assist_are_counted() {
    let mut recording = walk(like_people);
    let frames = recording.frames();
    assert_eq!(simulated(&recording).assist_force_bound_percent, None, "no bound is told");
    recording.efforts = Some(at_rest(&recording));
    let simulation = recording.simulation.as_mut().unwrap();
    let tenth = frames / 10;
    simulation.assist_force[..tenth].fill(Vec3::new(0.27, 0.1, -0.36) * WEIGHT_N);
    simulation.assist_force[tenth..].fill(Vec3::Y * 0.9 * WEIGHT_N);
    simulation.assist_torque[..2 * tenth].fill(Vec3::Y * 0.599 * WEIGHT_N);
    simulation.assist_torque[2 * tenth..].fill(Vec3::Y * 0.58 * WEIGHT_N);
    let metrics = simulated(&recording);
    near(metrics.assist_force_bound_percent, 100.0 * tenth as f64 / frames as f64, 1e-9);
    near(metrics.assist_torque_bound_percent, 200.0 * tenth as f64 / frames as f64, 1e-9);
    recording.efforts.as_mut().unwrap().assist_limit = [0.0, 0.0];
    assert_eq!(simulated(&recording).assist_torque_bound_percent, None, "there is no assist");
}

#[test]
fn friction_used_is_the_ratio_to_the_normal_of_the_ground() {
    let level = simulated(&walk(|share| [1.0, if share < 0.9 { 0.2 } else { 0.5 }]));
    near(level.friction_used_median, 0.2, 1e-5);
    near(level.friction_used_p95, 0.5, 1e-5);
    // A vertical force on a slope of one in four uses a quarter.
    let slope = HeightMap::from_fn(121, 121, [-30.0, -30.0], 0.5, |x, _| 0.25 * x).unwrap();
    near(on(&walk(|_| [1.0, 0.0]), &slope, Track::Simulated).friction_used_median, 0.25, 1e-4);
}

#[test]
fn the_centre_of_pressure_is_that_of_heel_and_toes_by_their_loads() {
    let mut recording = walk(|_| [1.0, 0.0]);
    assert_eq!(simulated(&recording).pressure_inside_percent, None, "where the ground pushed is not told");
    let points = |recording: &Recording, toe_ahead_m: &dyn Fn(usize, usize) -> f32| {
        let mut all = FrameTable::with_columns(BODIES.len());
        for frame in 0..recording.frames() {
            let mut row = vec![Vec3::ZERO; BODIES.len()];
            for (side, ankle) in [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT].into_iter().enumerate() {
                let ankle = recording.positions[frame][ankle.0];
                let foot = body(["LeftFoot", "RightFoot"][side]);
                row[foot] = ankle;
                row[foot + 1] = ankle + Vec3::Z * toe_ahead_m(frame, side);
            }
            all.push(&row);
        }
        EffortTrack { contact_point: Some(all), ..at_rest(recording) }
    };
    // Three quarters of the load lie ahead by this: the centre is inside while it is less than 0.112 body heights.
    let edge = 0.112 * HEIGHT_M / 0.75;
    recording.efforts = Some(points(&recording, &|_, _| edge - 0.01));
    near(simulated(&recording).pressure_inside_percent, 100.0, 0.0);
    near(simulated(&recording).pressure_way_percent, 0.0, 1e-3);
    recording.efforts = Some(points(&recording, &|_, _| edge + 0.01));
    near(simulated(&recording).pressure_inside_percent, 0.0, 0.0);
    // 3 mm a frame, from the fifth frame of a stance to the fifth last.
    recording.efforts = Some(points(&recording, &|frame, side| {
        let since_strike = (frame + 2 * STEP - 5 - side * STEP) % (2 * STEP);
        since_strike as f32 * 0.003
    }));
    let way_m = 0.75 * 0.003 * (STANCE - 1 - 8) as f64;
    near(simulated(&recording).pressure_way_percent, 100.0 * way_m / (0.152 * f64::from(HEIGHT_M)), 1e-3);
}

#[test]
fn torques_are_told_per_kilogram_and_against_strength() {
    let mut recording = walk(like_people);
    let frames = recording.frames();
    let mut torques = FrameTable::with_columns(BODIES.len());
    for frame in 0..frames {
        let mut row = vec![0.0; BODIES.len()];
        row[body("LeftUpLeg")] = 75.0;
        row[body("RightUpLeg")] = 75.0;
        row[body("LeftFoot")] = if frame < frames / 4 { 250.0 } else { 75.0 };
        row[body("Hips")] = 0.0;
        torques.push(&row);
    }
    assert_eq!(simulated(&recording).hip_torque_p95_nm_kg, None, "no torques are told");
    recording.efforts = Some(EffortTrack { joint_torque: torques, ..at_rest(&recording) });
    let metrics = simulated(&recording);
    near(metrics.hip_torque_p95_nm_kg, 1.0, 1e-6);
    near(metrics.knee_torque_p95_nm_kg, 0.0, 0.0);
    near(metrics.ankle_torque_p95_nm_kg, 250.0 / 75.0, 1e-5);
    near(metrics.torque_at_strength_percent, 100.0 * (frames / 4) as f64 / frames as f64, 1e-9);
}

#[test]
fn steps_are_as_wide_as_the_feet_are_apart_whatever_the_direction() {
    let recording = walk(like_people);
    let apart =
        recording.positions[0][humanoid::LEFT_FOOT.0].x - recording.positions[0][humanoid::RIGHT_FOOT.0].x;
    near(simulated(&recording).step_width_cm, 100.0 * f64::from(apart), 0.1);
    let turned = |rotation: glam::Quat| {
        let mut turned = recording.clone();
        let simulation = turned.simulation.as_mut().unwrap();
        for frame in 0..recording.frames() {
            for joint in 0..humanoid::JOINTS {
                simulation.positions[frame][joint] = rotation * simulation.positions[frame][joint];
                simulation.quaternions[frame][joint] = rotation * simulation.quaternions[frame][joint];
            }
        }
        simulated(&turned).step_width_cm
    };
    near(turned(glam::Quat::from_rotation_y(1.0)), 100.0 * f64::from(apart), 0.1);
}

#[test]
fn the_centre_of_mass_rises_with_the_body_and_is_told_over_the_ground() {
    let recording = walk(like_people);
    let height = simulated(&recording).com_height_m.unwrap();
    assert!((0.5 * f64::from(HEIGHT_M)..0.65 * f64::from(HEIGHT_M)).contains(&height), "{height}");
    let lower = HeightMap::from_fn(121, 121, [-30.0, -30.0], 0.5, |_, _| -0.1).unwrap();
    near(on(&recording, &lower, Track::Simulated).com_height_m, height + 0.1, 1e-5);
}
