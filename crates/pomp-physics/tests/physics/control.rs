//! Limits, strength, falls, divergence, snapshots.

use crate::support::*;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{Pose, TerrainGrid, humanoid};
use pomp_physics::{
    DivergenceReason, DynamicConfig, DynamicModule, Frame, PoseVelocity, Push, WorldSnapshot,
};

fn push(body: usize, impulse_ns: Vec3) -> Push {
    Push { body, impulse_ns, point: None }
}

fn knee_angle(frame: &Frame) -> f32 {
    let local = frame.pose.to_local(&skeleton()).local_rotations[humanoid::LEFT_LEG.0];
    pomp_motion::rotation::log(local).x.to_degrees()
}

#[test]
fn limits_hold_an_overdriven_knee_that_would_bend_backwards_without_them() {
    let run = |enabled: bool| {
        let mut config = DynamicConfig::default();
        config.limits.enabled = enabled;
        let mut module = module_with(&config, &ground(3.0, -3.0, 3.0, |_, _| -1.0));
        let bend = |t: f32| {
            let mut pose = stand();
            pose.local_rotations[humanoid::LEFT_LEG.0] = Quat::from_rotation_x((-4.0 * t).max(-1.2));
            pose
        };
        let frames = follow(&mut module, 40, bend, no_pushes);
        frames.iter().map(knee_angle).fold(f32::INFINITY, f32::min)
    };
    let (held, free) = (run(true), run(false));
    println!("knee driven to -69 deg: {held:.1} deg with limits, {free:.1} deg without");
    assert!(held > -16.0 && free < -60.0, "{held} {free}");
}

#[test]
fn limits_hold_a_knee_against_a_load_from_outside() {
    let run = |enabled: bool| {
        let mut config = DynamicConfig::default();
        config.limits.enabled = enabled;
        let mut module = module_with(&config, &ground(3.0, -3.0, 3.0, |_, _| -40.0));
        module.set_strength_scale(0.0);
        module.set_assist_scale(0.0);
        let frames = follow(
            &mut module,
            30,
            |_| stand(),
            |i| if i < 3 { vec![push(humanoid::LEFT_FOOT.0, Vec3::Z * 8.0)] } else { vec![] },
        );
        frames.iter().map(knee_angle).fold(f32::INFINITY, f32::min)
    };
    let (held, free) = (run(true), run(false));
    println!("limp shank kicked forwards: knee {held:.1} deg with limits, {free:.1} deg without");
    assert!(held > -35.0 && free < -60.0, "{held} {free}");
}

#[test]
fn drives_respect_their_torque_limits() {
    let peak = |limit: f32| {
        let mut config = DynamicConfig::default();
        config.drives.hip.torque_limit_nm = limit;
        config.drives.knee.torque_limit_nm = limit;
        let mut module = module_with(&config, &flat());
        let frames = follow(&mut module, 60, |t| crouch(if t < 0.2 { 0.1 } else { 0.35 }), no_pushes);
        let peak = |joint: usize| frames.iter().map(|f| f.joint_torque[joint]).fold(0.0f32, f32::max);
        (
            peak(1).max(peak(5)).max(peak(2)).max(peak(6)),
            frames.iter().map(|f| f.saturated_joints).sum::<usize>(),
        )
    };
    let (free, free_saturated) = peak(5000.0);
    let (bounded, saturated) = peak(80.0);
    println!(
        "peak leg torque: {free:.0} N m unbounded ({free_saturated} saturations), {bounded:.1} N m bounded by 80 ({saturated})"
    );
    assert!(free > 120.0 && bounded <= 80.0 * 1.011 && saturated > free_saturated, "{free} {bounded}");
}

#[test]
fn a_limp_ragdoll_falls_and_stays_above_the_ground_and_a_strong_one_stands() {
    let lowest = |strength: f32, assist: f32| {
        let mut module = module(&flat());
        module.set_strength_scale(strength);
        module.set_assist_scale(assist);
        let nudge =
            |i| if i == 5 { vec![push(humanoid::SPINE2.0, Vec3::new(10.0, 0.0, -20.0))] } else { vec![] };
        let frames = follow(&mut module, 300, |_| stand(), nudge);
        let below =
            frames.iter().flat_map(|f| f.pose.positions.iter().map(|p| p.y)).fold(f32::INFINITY, f32::min);
        let speed = frames[240..].iter().map(|f| f.root_linear_velocity.length()).fold(0.0f32, f32::max);
        let recovered = frames.iter().filter(|f| f.recovered.is_some()).count();
        (frames.last().unwrap().pose.positions[0].y, below, speed, recovered)
    };
    let (limp, below, speed, recovered) = lowest(0.0, 0.0);
    let (strong, _, _, _) = lowest(1.0, 1.0);
    println!(
        "pelvis after 5 s: limp {limp:.3} m (lowest joint {below:.3} m, root speed {speed:.3} m/s, {recovered} recoveries), strong {strong:.3} m"
    );
    assert!(limp < 0.3 && below > -0.03 && recovered == 0 && speed < 0.2);
    assert!((strong - stand().root_position.y).abs() < 0.01);
}

#[test]
fn a_push_of_100_ns_moves_a_walker_one_of_300_ns_fells_it_and_nothing_explodes() {
    let long = ground(4.0, -2.0, 8.0, |_, _| 0.0);
    let lowest = |impulse: f32| {
        let mut module = module(&long);
        let frames = follow(&mut module, 180, walk, |i| {
            if (60..66).contains(&i) {
                vec![push(humanoid::SPINE2.0, Vec3::X * (impulse / 6.0))]
            } else {
                Vec::new()
            }
        });
        let tilt = frames
            .iter()
            .map(|f| (f.pose.rotations[0] * Vec3::Y).y.clamp(-1.0, 1.0).acos().to_degrees())
            .fold(0.0f32, f32::max);
        let speed =
            frames.iter().flat_map(|f| f.velocities.iter().map(|v| v.length())).fold(0.0f32, f32::max);
        let lateral = frames.iter().map(|f| f.pose.positions[0].x.abs()).fold(0.0f32, f32::max);
        let recovered = frames.iter().filter(|f| f.recovered.is_some()).count();
        println!(
            "{impulse} N s: tilt {tilt:.0} deg, pelvis {:.1} cm aside, fastest joint {speed:.1} m/s, {recovered} recoveries",
            lateral * 100.0
        );
        assert!(recovered == 0 && speed < 30.0);
        (tilt, lateral)
    };
    let (none, _) = lowest(0.0);
    let (_, aside) = lowest(100.0);
    let (staggered, _) = lowest(200.0);
    let (felled, _) = lowest(300.0);
    assert!(none < 5.0 && aside > 0.05 && staggered > 3.0 * none && felled > 60.0, "{none} {aside} {felled}");
}

#[test]
fn extreme_pushes_and_masses_neither_panic_nor_give_nan() {
    for mass_kg in [5.0, 75.0, 200.0, 500.0] {
        let config = DynamicConfig { mass_kg, ..DynamicConfig::default() };
        let mut module = module_with(&config, &flat());
        module.reset(&stand(), &PoseVelocity::zero(22)).unwrap();
        let mut recoveries = 0;
        for i in 0..240 {
            let impulse = if i % 20 == 10 { 10_000.0 } else { 0.0 };
            let body = (i / 20) % 22;
            let direction = [Vec3::X, Vec3::NEG_Y, Vec3::Z, Vec3::Y][(i / 20) % 4];
            let frame = module.step(&stand(), &stand(), &[push(body, direction * impulse)]).unwrap();
            recoveries += usize::from(frame.recovered.is_some());
            let finite = frame.pose.positions.iter().chain(&frame.velocities).chain(&frame.contact_impulse);
            assert!(finite.into_iter().all(|v| v.is_finite()), "frame {i} at {mass_kg} kg");
            assert!(frame.pose.rotations.iter().all(|q| q.is_normalized()));
        }
        println!("{mass_kg} kg, 10 kN s every 20 frames: {recoveries} recoveries");
    }
}

#[test]
fn a_diverged_frame_restores_the_pose_before_it_and_says_so() {
    let mut config = DynamicConfig::default();
    config.guard.max_root_speed_m_s = 2.0;
    let mut module = module_with(&config, &flat());
    let calm = follow(&mut module, 10, |_| stand(), no_pushes);
    assert!(calm.iter().all(|f| f.recovered.is_none()));
    let hit = module.step(&stand(), &stand(), &[push(0, Vec3::X * 1000.0)]).unwrap();
    let divergence = hit.recovered.expect("1000 N s throw 75 kg at more than 2 m/s");
    assert_eq!((divergence.reason, divergence.count), (DivergenceReason::RootSpeed, 1));
    assert_eq!(hit.pose, calm[9].pose);
    let after = module.step(&stand(), &stand(), &[]).unwrap();
    assert!(after.recovered.is_none() && (after.pose.positions[0] - hit.pose.positions[0]).length() < 0.01);
}

/// Depth in level ground at 0 of the lowest joint, metres.
fn depth(frame: &Frame) -> f32 {
    -frame.pose.positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min)
}

#[test]
fn what_has_come_below_the_surface_is_put_back_above_it_after_a_while_and_stays_there() {
    let run = |time_s: f32| {
        let mut config = DynamicConfig::default();
        config.guard.max_time_in_ground_s = time_s;
        let mut module = module_with(&config, &flat());
        follow(&mut module, 10, |_| stand(), no_pushes);
        // The feet are below the new ground then, where nothing bears them.
        let raised_m = 0.6;
        module.set_terrain(&ground(3.0, -3.0, 3.0, |_, _| raised_m)).unwrap();
        let mut target = stand();
        target.root_position.y += raised_m;
        let frames: Vec<Frame> = (0..120).map(|_| module.step(&target, &target, &[]).unwrap()).collect();
        let deep = frames.iter().filter(|frame| depth(frame) + raised_m > 0.05).count();
        let reasons: Vec<_> = frames.iter().filter_map(|frame| frame.recovered).map(|it| it.reason).collect();
        (deep, reasons, frames[119].pose.positions[0].y - target.root_position.y)
    };
    let guard = DynamicConfig::default().guard;
    let (deep, reasons, sunk) = run(guard.max_time_in_ground_s);
    let (deep_without, reasons_without, sunk_without) = run(1000.0);
    println!("{deep} frames in the ground, {sunk} m; without the guard {deep_without}, {sunk_without} m");
    assert_eq!(reasons, [DivergenceReason::InGround]);
    assert!(deep > 0 && deep as f32 * DT <= guard.max_time_in_ground_s + 1e-4);
    assert!(sunk.abs() < 0.02);
    // Links that cross the surface are pushed out of it, slowly.
    assert!(deep_without > 2 * deep && reasons_without.is_empty());
}

#[test]
fn a_blow_on_a_limb_beside_a_wall_throws_nobody_off() {
    // A body lies in a trench; a limb of a kilogram that is struck with 250 N·s is behind its wall in a frame.
    let trench = ground(3.0, -3.0, 3.0, |x, _| if x.abs() < 0.2 { -0.5 } else { 0.0 });
    let mut module = module_with(&DynamicConfig::default(), &trench);
    let bodies = module.body_names().len();
    let (mut fastest, mut given_up) = (0.0f32, 0);
    for turn in [0.0f32, 1.2, 2.4, 3.6] {
        let mut pose = stand();
        pose.root_position.y -= 0.3;
        pose.local_rotations[0] = Quat::from_rotation_y(turn) * pose.local_rotations[0];
        module.reset(&pose, &PoseVelocity::zero(bodies)).unwrap();
        module.set_strength_scale(0.05);
        module.set_assist_scale(0.0);
        for _ in 0..90 {
            module.step(&pose, &pose, &[]).unwrap();
        }
        module.set_strength_scale(1.0);
        let lying = module.save();
        for body in 0..bodies {
            for impulse in [Vec3::X, Vec3::NEG_X, Vec3::new(0.7, -0.2, 0.7), Vec3::new(-0.7, -0.2, 0.7)] {
                module.restore(&lying).unwrap();
                for i in 0..8 {
                    let blow = [push(body, impulse * 250.0)];
                    let frame = module.step(&pose, &pose, if i == 1 { &blow } else { &[] }).unwrap();
                    let reason = frame.recovered.map(|it| it.reason);
                    given_up += usize::from(reason == Some(DivergenceReason::ThrownOff));
                    let speed = module.momentum().length() / DynamicConfig::default().mass_kg;
                    fastest = fastest.max(speed);
                }
            }
        }
    }
    println!("the fastest flies off at {fastest} m/s; {given_up} frames given up");
    assert!(fastest < 6.0 && given_up > 0);
}

#[test]
fn a_body_that_is_put_into_the_ground_is_moved_out_of_it_and_stands() {
    let mut module = module(&flat());
    let mut sunk = stand();
    sunk.root_position.y -= 0.3;
    module.reset(&sunk, &PoseVelocity::zero(module.body_names().len())).unwrap();
    let lowest = module.pose().positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    assert!(lowest.abs() < 1e-4, "{lowest} m");
    let frames: Vec<Frame> = (0..60).map(|_| module.step(&stand(), &stand(), &[]).unwrap()).collect();
    assert!(frames.iter().all(|frame| frame.recovered.is_none() && depth(frame) < 0.01));
    let height = frames[59].pose.positions[0].y - stand().root_position.y;
    assert!(height.abs() < 0.02, "stands {height} m too high");
    // What is in the ground by less is left to the contacts.
    sunk.root_position.y = stand().root_position.y - 0.04;
    module.reset(&sunk, &PoseVelocity::zero(module.body_names().len())).unwrap();
    assert!((module.pose().positions[0] - sunk.root_position).length() < 1e-5);
}

#[test]
fn a_body_that_leaves_the_map_is_put_back_on_it() {
    let mut config = DynamicConfig::default();
    config.contact.border_m = 0.0;
    let mut module = module_with(&config, &ground(1.0, -1.0, 1.0, |_, _| 0.0));
    module.set_assist_scale(0.0);
    let mut pose = stand();
    pose.root_position.x = 3.0;
    let frames = follow(&mut module, 90, |_| pose.clone(), no_pushes);
    let fell = frames.iter().find_map(|f| f.recovered).expect("there is no ground at x = 3");
    assert_eq!(fell.reason, DivergenceReason::BelowGround);
    let last = frames.last().unwrap();
    assert!(frames.iter().filter(|frame| frame.recovered.is_some()).count() == 1 && depth(last) < 0.05);
    assert!(last.pose.positions[0].x.abs() < 1.0, "{} m", last.pose.positions[0].x);

    config.contact.border_m = 4.0;
    let mut module = module_with(&config, &ground(1.0, -1.0, 1.0, |_, _| 0.0));
    let frames = follow(&mut module, 90, |_| pose.clone(), no_pushes);
    assert!(frames.iter().all(|f| f.recovered.is_none()));
}

fn eventful(module: &mut DynamicModule, from: usize, to: usize) -> Vec<Frame> {
    (from..to)
        .map(|i| {
            let t = i as f32 * DT;
            let pushes = if i % 50 == 20 { vec![push(11, Vec3::new(30.0, 0.0, 10.0))] } else { vec![] };
            module.step(&walk(t), &walk(t + DT), &pushes).expect("finite targets and pushes")
        })
        .collect()
}

fn rough() -> TerrainGrid {
    ground(2.0, -1.0, 9.0, |x, z| 0.02 * (3.0 * x).sin() + 0.02 * (4.0 * z).cos())
}

#[test]
fn two_runs_are_bit_identical_also_in_a_used_module_and_a_disturbed_one_is_not() {
    let start = |module: &mut DynamicModule| {
        module.reset(&walk(0.0), &PoseVelocity::between(&walk(0.0), &walk(DT), DT)).unwrap();
    };
    let mut first = module(&rough());
    start(&mut first);
    let a = eventful(&mut first, 0, 300);
    let mut second = module(&rough());
    start(&mut second);
    let b = eventful(&mut second, 0, 300);
    start(&mut first);
    let c = eventful(&mut first, 0, 300);
    assert!(a == b, "two modules differ");
    assert!(a == c, "a used module differs");
    let mut other = module(&rough());
    start(&mut other);
    other.step(&walk(0.0), &walk(DT), &[push(0, Vec3::X * 0.01)]).unwrap();
    let d = eventful(&mut other, 1, 300);
    assert!(a[1..] != d[..], "a push of 0.01 N s left no trace");
}

#[test]
fn a_snapshot_continues_bit_for_bit_in_the_same_and_in_another_module() {
    let mut original = module(&rough());
    original.reset(&walk(0.0), &PoseVelocity::between(&walk(0.0), &walk(DT), DT)).unwrap();
    eventful(&mut original, 0, 100);
    original.set_assist_scale(0.7);
    let snapshot = original.save();
    let bytes = snapshot.to_bytes().unwrap();
    let expected = eventful(&mut original, 100, 400);
    original.set_assist_scale(0.1);
    original.restore(&snapshot).unwrap();
    assert!(eventful(&mut original, 100, 400) == expected, "the same module differs");
    let mut other = module(&rough());
    other.restore(&WorldSnapshot::from_bytes(&bytes).unwrap()).unwrap();
    assert!(eventful(&mut other, 100, 400) == expected, "another module from bytes differs");
    let mut ignorant = module(&rough());
    ignorant.reset(&walk(0.0), &PoseVelocity::zero(22)).unwrap();
    assert!(eventful(&mut ignorant, 100, 400) != expected, "the snapshot made no difference");
    println!("snapshot: {} kB", bytes.len() / 1000);
}

#[test]
fn a_long_run_keeps_rotations_unit_and_bones_their_length() {
    let mut module = module(&ground(2.0, -2.0, 2.0, |_, _| 0.0));
    let frames = follow(&mut module, 3600, sway, no_pushes);
    let pose = &frames.last().unwrap().pose;
    let skeleton = skeleton();
    for (i, joint) in skeleton.joints().iter().enumerate().skip(1) {
        let p = joint.parent.unwrap().0;
        let length = (pose.positions[i] - pose.positions[p]).length();
        assert!((length - joint.offset.length()).abs() < 1e-4);
        assert!((pose.rotations[i].length() - 1.0).abs() < 1e-5);
    }
    let error = |i: usize| joint_error_deg(&frames[i].pose, &sway((i + 1) as f32 * DT));
    let (early, late) = (mean((60..360).map(error)), mean((3240..3540).map(error)));
    println!("joint error: first minute's start {early:.3} deg, end {late:.3} deg");
    assert!(early < 0.6 && late < 0.6, "{early} {late}");
}

#[test]
fn a_reset_reproduces_pose_and_velocity() {
    let mut module = module(&flat());
    let (a, b) = (walk(0.4), walk(0.4 + DT));
    let velocity = PoseVelocity::between(&a, &b, DT);
    module.reset(&a, &velocity).unwrap();
    let expected = skeleton().forward_kinematics(&a);
    let found = module.pose();
    for i in 0..22 {
        assert!((expected.positions[i] - found.positions[i]).length() < 1e-5);
        assert!(expected.rotations[i].angle_between(found.rotations[i]) < 2e-3);
        assert!((module.velocity().angular[i] - velocity.angular[i]).length() < 1e-5);
    }
    let moved = skeleton().forward_kinematics(&b);
    let frame = module.step(&a, &b, &[]).unwrap();
    let fastest = (0..22).max_by(|&i, &j| {
        let d = |k: usize| (moved.positions[k] - expected.positions[k]).length();
        d(i).total_cmp(&d(j))
    });
    let i = fastest.unwrap();
    let kinematic = (moved.positions[i] - expected.positions[i]) / DT;
    assert!((frame.velocities[i] - kinematic).length() < 0.5, "{} {kinematic}", frame.velocities[i]);
    let unmoved: Pose = a.clone();
    assert_ne!(unmoved, b);
}

#[test]
fn the_first_step_after_a_reset_touches_the_ground_where_the_body_is_and_not_where_it_was() {
    let (a, b) = (walk(0.4), walk(0.4 + DT));
    let contacts = |rise: f32| {
        let mut module = module(&flat());
        let raised = |pose: &Pose| {
            let root_position = pose.root_position + Vec3::Y * rise;
            Pose { root_position, ..pose.clone() }
        };
        let (a, b) = (raised(&a), raised(&b));
        module.reset(&a, &PoseVelocity::between(&a, &b, DT)).unwrap();
        module.step(&a, &b, &[]).unwrap().contact_impulse
    };
    let (standing, high) = (contacts(0.0), contacts(2.0));
    println!("stance foot {} N s on the ground", standing[humanoid::LEFT_FOOT.0]);
    assert!(standing[humanoid::LEFT_FOOT.0].y > 5.0);
    for (body, impulse) in high.iter().enumerate() {
        assert_eq!(*impulse, Vec3::ZERO, "body {body} two metres above the ground");
    }
}
