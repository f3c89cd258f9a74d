//! Contacts and gaits of hand-made motions whose truth is known.

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{
    Clip, ContactConfig, FrameTable, Gait, GaitLabelConfig, MotionError, Pose, Skeleton, foot_contacts,
    foot_contacts_of_positions, gait_labels, gait_labels_of_positions, humanoid,
};
use std::sync::Arc;

/// Joint positions of a T-pose, changed per frame by `change(time, positions)`.
fn motion(rate: f32, seconds: f32, mut change: impl FnMut(f32, &mut [Vec3])) -> (Skeleton, FrameTable<Vec3>) {
    let skeleton = Skeleton::humanoid(1.75);
    let rest = skeleton.forward_kinematics(&Pose::rest(&skeleton)).positions;
    let mut table = FrameTable::with_columns(skeleton.len());
    for frame in 0..=(seconds * rate).round() as usize {
        let mut row = rest.clone();
        change(frame as f32 / rate, &mut row);
        table.push(&row);
    }
    (skeleton, table)
}

fn shift(row: &mut [Vec3], joints: &[usize], by: Vec3) {
    for &joint in joints {
        row[joint] += by;
    }
}

const LEFT: [usize; 2] = [humanoid::LEFT_FOOT.0, humanoid::LEFT_TOE.0];
const RIGHT: [usize; 2] = [humanoid::RIGHT_FOOT.0, humanoid::RIGHT_TOE.0];

fn contacts(rate: f32, seconds: f32, change: impl FnMut(f32, &mut [Vec3])) -> Vec<[bool; 4]> {
    let (skeleton, table) = motion(rate, seconds, change);
    foot_contacts_of_positions(&skeleton, &table, rate, &ContactConfig::default())
        .expect("made for this test")
}

/// Position of a foot that stands for 0.6 s and swings for 0.4 s, and whether it stands; steps of `stride`.
fn step(time: f32, stride: Vec3) -> (Vec3, bool) {
    let (cycle, within) = ((time / 1.0).floor(), time.rem_euclid(1.0));
    let swing = ((within - 0.6) / 0.4).max(0.0);
    let eased = 0.5 - 0.5 * (swing * std::f32::consts::PI).cos();
    // A foot first rises, then travels: it does not pass through the riser.
    let lift = (swing * std::f32::consts::PI).sin() * (0.12 + stride.y.abs());
    (stride * (cycle + eased) + Vec3::Y * lift, swing == 0.0)
}

fn walk(stride: Vec3) -> impl Fn(f32, &mut [Vec3]) {
    move |time, row| {
        shift(row, &LEFT, step(time, stride).0);
        shift(row, &RIGHT, step(time + 0.5, stride).0 - stride * 0.5);
        shift(row, &[0], stride * time);
    }
}

fn share_agreeing(found: &[[bool; 4]], rate: f32, truth: impl Fn(f32) -> [bool; 4]) -> f32 {
    let agreeing: usize = found
        .iter()
        .enumerate()
        .map(|(frame, row)| row.iter().zip(truth(frame as f32 / rate)).filter(|(a, b)| **a == *b).count())
        .sum();
    agreeing as f32 / (4 * found.len()) as f32
}

#[test]
fn a_standing_body_has_four_contacts() {
    assert!(contacts(60.0, 2.0, |_, _| {}).iter().all(|row| *row == [true; 4]));
}

#[test]
fn steps_are_found_on_flat_ground_slopes_and_stairs_at_any_rate() {
    for (ground, rise) in [("flat", 0.0), ("slope", 0.25), ("stairs up", 0.4), ("stairs down", -0.4)] {
        for rate in [30.0, 60.0, 120.0] {
            let stride = Vec3::new(0.0, rise, 1.2);
            let found = contacts(rate, 4.0, walk(stride));
            let share = share_agreeing(&found, rate, |time| {
                let (left, right) = (step(time, stride).1, step(time + 0.5, stride).1);
                [left, left, right, right]
            });
            println!("{ground} at {rate} Hz: {:.1} % of contacts right", share * 100.0);
            assert!(share > 0.9, "{ground} at {rate} Hz: {share}");
        }
    }
}

#[test]
fn a_foot_held_in_the_air_is_no_contact() {
    let height = |time: f32| 0.3 * ((time - 1.0).clamp(0.0, 0.5) - (time - 3.0).clamp(0.0, 0.5)) / 0.5;
    let found = contacts(60.0, 5.0, |time, row| shift(row, &LEFT, Vec3::Y * height(time)));
    for (frame, row) in found.iter().enumerate() {
        assert!(row[2] && row[3], "the standing foot lost contact at frame {frame}");
        if (100..175).contains(&frame) {
            assert!(!row[0] && !row[1], "the held foot touches at frame {frame}");
        }
    }
    assert!(found[10][0] && found[290][0]);
}

#[test]
fn heels_lifted_on_tiptoe_are_no_contact() {
    let found = contacts(60.0, 3.0, |time, row| {
        let up = 0.1 * ((time - 1.0) / 0.3).clamp(0.0, 1.0);
        shift(row, &[LEFT[0], RIGHT[0]], Vec3::Y * up);
    });
    assert!(found[150] == [false, true, false, true], "{:?}", found[150]);
}

#[test]
fn the_apex_of_a_jump_is_no_contact() {
    let found = contacts(60.0, 3.0, |time, row| {
        let t = (time - 1.0).clamp(0.0, 0.6);
        let all: Vec<usize> = (0..humanoid::JOINTS).collect();
        shift(row, &all, Vec3::Y * (0.5 * 9.81 * t * (0.6 - t)));
    });
    assert!(found[66..92].iter().all(|row| *row == [false; 4]));
    assert!(found[..56].iter().chain(&found[100..]).all(|row| *row == [true; 4]));
}

#[test]
fn small_bodies_and_large_ones_have_the_same_contacts() {
    let (skeleton, table) = motion(60.0, 4.0, walk(Vec3::new(0.0, 0.0, 1.2)));
    let half =
        FrameTable::from_values(skeleton.len(), table.values().iter().map(|p| *p * 0.5).collect()).unwrap();
    let config = ContactConfig::default();
    let large = foot_contacts_of_positions(&skeleton, &table, 60.0, &config).unwrap();
    let small = foot_contacts_of_positions(&skeleton.scaled(0.5), &half, 60.0, &config).unwrap();
    assert_eq!(large, small);
}

#[test]
fn rejects_positions_of_another_skeleton() {
    let table = FrameTable::filled(3, 5, Vec3::ZERO);
    let error =
        foot_contacts_of_positions(&Skeleton::humanoid(1.75), &table, 60.0, &ContactConfig::default());
    assert!(matches!(error, Err(MotionError::SizeMismatch { expected: 22, found: 5, .. })));
}

fn gaits(
    seconds: f32,
    contact: impl Fn(f32) -> [bool; 4],
    change: impl FnMut(f32, &mut [Vec3]),
) -> Vec<[f32; Gait::COUNT]> {
    let (skeleton, table) = motion(60.0, seconds, change);
    let contacts: Vec<[bool; 4]> = (0..table.frames()).map(|frame| contact(frame as f32 / 60.0)).collect();
    let weights = gait_labels_of_positions(&skeleton, &table, &contacts, 60.0, &GaitLabelConfig::default())
        .expect("made for this test");
    for row in &weights {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        assert_eq!(row[Gait::Bump.index()], 0.0, "a bump comes from the simulation only");
    }
    for pair in weights.windows(2) {
        let change = pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(change < 0.12, "the weights jump by {change}");
    }
    weights
}

fn share(weights: &[[f32; Gait::COUNT]], gait: Gait) -> f32 {
    weights.iter().map(|row| row[gait.index()]).sum::<f32>() / weights.len() as f32
}

fn all(row: &mut [Vec3], by: Vec3) {
    row.iter_mut().for_each(|p| *p += by);
}

const DOWN: [bool; 4] = [true; 4];

/// Alternating single support, each foot down for `down` of a 1 s cycle.
fn alternating(time: f32, cycle: f32, down: f32) -> [bool; 4] {
    let left = (time / cycle).rem_euclid(1.0) < down;
    let right = (time / cycle + 0.5).rem_euclid(1.0) < down;
    [left, left, right, right]
}

#[test]
fn a_still_body_stands_and_shifting_weight_is_standing_too() {
    assert!(share(&gaits(3.0, |_| DOWN, |_, _| {}), Gait::Stand) > 0.999);
    let swaying = gaits(3.0, |_| DOWN, |time, row| row[0].x += 0.1 * (4.0 * time).sin());
    assert!(share(&swaying, Gait::Stand) > 0.999);
}

#[test]
fn stepping_without_flight_is_walking_and_with_flight_is_jogging() {
    let walking = gaits(4.0, |t| alternating(t, 1.1, 0.6), |t, row| all(row, Vec3::Z * 1.3 * t));
    assert!(share(&walking, Gait::Walk) > 0.99, "{}", share(&walking, Gait::Walk));
    let jogging = gaits(4.0, |t| alternating(t, 0.7, 0.38), |t, row| all(row, Vec3::Z * 2.2 * t));
    assert!(share(&jogging, Gait::Jog) > 0.99, "{}", share(&jogging, Gait::Jog));
}

#[test]
fn running_on_the_spot_is_jogging_only_if_the_pelvis_falls() {
    let bounce = |t: f32| {
        let within = t.rem_euclid(0.35) - 0.25;
        if within > 0.0 { 0.5 * 9.81 * within * (0.1 - within) } else { 0.1 * within * (within + 0.25) }
    };
    let contact = |t: f32| alternating(t, 0.7, 0.25 / 0.7);
    let flying = gaits(4.0, contact, |t, row| all(row, Vec3::Y * bounce(t)));
    assert!(share(&flying, Gait::Jog) > 0.9, "{}", share(&flying, Gait::Jog));
    let sliding = gaits(4.0, contact, |_, _| {});
    assert!(share(&sliding, Gait::Jog) < 0.01, "{}", share(&sliding, Gait::Jog));
}

#[test]
fn a_low_pelvis_over_planted_feet_crouches_also_on_a_platform() {
    for platform in [0.0, 2.0] {
        let crouching = gaits(
            4.0,
            |_| DOWN,
            |time, row| {
                all(row, Vec3::Y * platform);
                let upper: Vec<usize> =
                    (0..humanoid::JOINTS).filter(|j| ![2, 3, 4, 6, 7, 8].contains(j)).collect();
                shift(row, &upper, Vec3::NEG_Y * 0.35 * (time - 1.0).clamp(0.0, 1.0));
            },
        );
        assert!(share(&crouching[130..], Gait::Crouch) > 0.99);
        assert!(share(&crouching[..70], Gait::Stand) > 0.99);
    }
}

#[test]
fn a_flight_in_free_fall_is_a_jump_with_margins_and_a_lift_is_none() {
    let flight = |time: f32| if (1.0..1.5).contains(&time) { [false; 4] } else { DOWN };
    let jumping = gaits(3.0, flight, |time, row| {
        let t = (time - 1.0).clamp(0.0, 0.5);
        all(row, Vec3::Y * (0.5 * 9.81 * t * (0.5 - t)));
    });
    assert!(share(&jumping[60..90], Gait::Jump) > 0.99);
    assert!(jumping[50][Gait::Jump.index()] > 0.5 && jumping[100][Gait::Jump.index()] > 0.5);
    assert!(share(&jumping[..35], Gait::Stand) > 0.99 && share(&jumping[120..], Gait::Stand) > 0.99);
    let lifted = gaits(3.0, flight, |time, row| all(row, Vec3::Y * 0.4 * (time - 1.0).clamp(0.0, 0.5)));
    assert!(share(&lifted, Gait::Jump) < 0.01);
}

#[test]
fn a_body_on_the_ground_lies_then_gets_up_then_stands() {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let poses: Vec<Pose> = (0..360)
        .map(|frame| {
            let up = ((frame as f32 / 60.0 - 2.0) / 1.5).clamp(0.0, 1.0);
            let mut pose = Pose::rest(&skeleton);
            pose.local_rotations[0] = Quat::from_rotation_x(-1.5 * (1.0 - up));
            pose.root_position.y = 0.12 + (pose.root_position.y - 0.12) * up;
            pose
        })
        .collect();
    let clip = Clip::new("get_up", skeleton, 60.0, poses).unwrap();
    let contacts = foot_contacts(&clip, &ContactConfig::default());
    let weights = gait_labels(&clip, &contacts, &GaitLabelConfig::default()).unwrap();
    let at = |seconds: f32| Gait::dominant(&weights[(seconds * 60.0) as usize]);
    assert_eq!(at(0.5), Gait::Lie);
    assert_eq!(at(1.9), Gait::Lie);
    assert_eq!(at(2.75), Gait::GetUp);
    assert_eq!(at(5.0), Gait::Stand);
    let order: Vec<Gait> = weights.iter().map(Gait::dominant).fold(Vec::new(), |mut order, gait| {
        if order.last() != Some(&gait) {
            order.push(gait);
        }
        order
    });
    assert_eq!(order[..3], [Gait::Lie, Gait::GetUp, Gait::Stand]);
}

#[test]
fn rejects_contacts_of_another_clip() {
    let (skeleton, table) = motion(60.0, 1.0, |_, _| {});
    let error =
        gait_labels_of_positions(&skeleton, &table, &[[true; 4]; 7], 60.0, &GaitLabelConfig::default());
    assert!(matches!(error, Err(MotionError::SizeMismatch { expected: 61, found: 7, .. })));
}
