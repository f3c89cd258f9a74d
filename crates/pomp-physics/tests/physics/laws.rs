//! Weight, momentum, friction, ground.

use crate::support::*;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{Pose, humanoid};
use pomp_physics::{DynamicConfig, PoseVelocity, Push};

fn push(body: usize, impulse_ns: Vec3) -> Push {
    Push { body, impulse_ns, point: None }
}

#[test]
fn a_standing_body_rests_its_whole_weight_on_the_ground_and_a_lifted_one_none() {
    let config = DynamicConfig::default();
    for mass_kg in [40.0, 75.0, 200.0] {
        let config = DynamicConfig { mass_kg, ..config.clone() };
        let mut module = module_with(&config, &flat());
        let frames = follow(&mut module, 180, |_| stand(), no_pushes);
        let settled = &frames[60..];
        let ratio = vertical_impulse(settled) / (config.body_weight_n() * settled.len() as f32 * DT);
        let assist: f32 = settled.iter().map(|f| f.assist_force.y * DT).sum();
        println!("{mass_kg} kg: contacts {ratio:.5} m g T, vertical assist {assist:.4} N s");
        assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    }
    let mut module = module_with(&config, &flat());
    let lifted = Pose { root_position: stand().root_position + Vec3::Y, ..stand() };
    let frames = follow(&mut module, 15, |_| lifted.clone(), no_pushes);
    let control = vertical_impulse(&frames);
    println!("in the air: {control} N s");
    assert_eq!(control, 0.0);
}

#[test]
fn the_points_where_the_ground_pushes_balance_the_moments_of_a_standing_body() {
    let config = DynamicConfig::default();
    let mut module = module_with(&config, &flat());
    let frames = follow(&mut module, 240, |_| stand(), no_pushes);
    let (frame, center) = (&frames[239], module.center_of_mass());
    let about = |points: &[Vec3]| -> Vec3 {
        let forces =
            points.iter().zip(&frame.contact_impulse).map(|(at, impulse)| (at - center).cross(impulse / DT));
        let root = frame.pose.positions[0];
        forces.sum::<Vec3>() + frame.assist_torque + (root - center).cross(frame.assist_force)
    };
    let (found, control) = (about(&frame.contact_point), about(&frame.pose.positions));
    println!("moment about the centre of mass {found:.3} N m; with forces at the joints {control:.3} N m");
    // Horizontal axes: friction that turns a foot about the vertical has no point.
    assert!(found.x.hypot(found.z) < 0.05, "{found}");
    assert!(control.x.hypot(control.z) > 0.15, "{control}");
    let untouched = humanoid::HEAD.0;
    assert_eq!(frame.contact_point[untouched], frame.pose.positions[untouched]);
}

#[test]
fn contact_assist_push_and_gravity_impulses_sum_to_the_change_of_momentum() {
    let config = DynamicConfig::default();
    let mut module = module_with(&config, &ground(2.0, -1.0, 4.0, |x, z| 0.03 * (5.0 * x + 4.0 * z).sin()));
    let start = walk(0.0);
    let raised = Pose { root_position: start.root_position + Vec3::Y * 0.05, ..start };
    module.reset(&raised, &PoseVelocity::zero(22)).unwrap();
    let mut worst = 0.0f32;
    let mut largest_change = 0.0f32;
    for i in 0..120 {
        let t = i as f32 * DT;
        let pushes =
            if i == 60 { vec![push(humanoid::SPINE2.0, Vec3::new(60.0, 20.0, -10.0))] } else { vec![] };
        let before = module.momentum();
        let frame = module.step(&walk(t), &walk(t + DT), &pushes).unwrap();
        let change = module.momentum() - before;
        let given = frame.contact_impulse.iter().copied().sum::<Vec3>()
            + frame.assist_force * DT
            + Vec3::NEG_Y * (config.body_weight_n() * DT)
            + pushes.iter().map(|p| p.impulse_ns).sum::<Vec3>();
        worst = worst.max((change - given).length());
        largest_change = largest_change.max(change.length());
    }
    println!("worst residual {worst:.5} N s; largest change in a frame {largest_change:.1} N s");
    assert!(worst < 0.02, "{worst}");
    assert!(largest_change > 20.0);
}

#[test]
fn on_ground_that_accelerates_the_body_is_drawn_the_other_way_until_it_no_longer_does() {
    let config = DynamicConfig::default();
    let mut module = module_with(&config, &ground(2.0, -1.0, 4.0, |_, _| 0.0));
    module.reset(&walk(0.0), &PoseVelocity::zero(22)).unwrap();
    let mass_kg: f32 = module.body_masses().iter().sum();
    let mut worst = 0.0f32;
    for i in 0..60 {
        let acceleration = if i < 30 { Vec3::new(2.0, 0.5, -1.0) } else { Vec3::ZERO };
        module.accelerate_ground(acceleration).unwrap();
        let before = module.momentum();
        let t = i as f32 * DT;
        let frame = module.step(&walk(t), &walk(t + DT), &[]).unwrap();
        let change = module.momentum() - before;
        let given = frame.contact_impulse.iter().copied().sum::<Vec3>()
            + frame.assist_force * DT
            + (Vec3::NEG_Y * config.gravity_m_s2 - acceleration) * (mass_kg * DT);
        worst = worst.max((change - given).length());
    }
    assert!(worst < 0.02, "{worst} N s");
    assert!(module.accelerate_ground(Vec3::NAN).is_err());
}

#[test]
fn a_thrown_body_falls_on_a_parabola_and_needs_the_ground_to_stop() {
    let mut module = module(&ground(3.0, -3.0, 3.0, |_, _| -40.0));
    module.set_assist_scale(0.0);
    let mut velocity = PoseVelocity::zero(22);
    velocity.root_linear = Vec3::new(1.0, 3.0, -0.5);
    velocity.angular[0] = Vec3::new(1.0, 2.0, 0.5);
    module.reset(&crouch(0.2), &velocity).unwrap();
    let start = module.center_of_mass();
    let launch = module.momentum() / 75.0;
    for _ in 0..60 {
        let frame = module.step(&stand(), &stand(), &[]).unwrap();
        assert_eq!(frame.contact_impulse.iter().copied().sum::<Vec3>(), Vec3::ZERO);
        assert_eq!(frame.assist_force, Vec3::ZERO);
    }
    let end = module.center_of_mass();
    // Semi-implicit Euler falls g h t / 2 more than the parabola.
    let expected = start + launch - Vec3::Y * (0.5 * 9.81 * (1.0 + DT));
    println!("centre of mass after 1 s: {end}, parabola {expected}");
    assert!((end - expected).length() < 0.06, "{}", (end - expected).length());

    let mut module = crate::support::module(&flat());
    module.set_assist_scale(0.0);
    module.set_strength_scale(0.0);
    let lifted = Pose { root_position: stand().root_position + Vec3::Y * 0.5, ..stand() };
    let frames = follow_from(&mut module, &lifted, 240);
    let speed = frames.last().unwrap().root_linear_velocity.length();
    println!("on the ground after 4 s: root speed {speed:.3} m/s");
    assert!(speed < 0.3);
}

fn follow_from(
    module: &mut pomp_physics::DynamicModule,
    pose: &Pose,
    frames: usize,
) -> Vec<pomp_physics::Frame> {
    follow(module, frames, |_| pose.clone(), no_pushes)
}

#[test]
fn a_push_of_100_ns_on_the_chest_moves_the_pelvis_and_none_does_not() {
    let displacement = |impulse: f32| {
        let mut module = module(&flat());
        let frames = follow(
            &mut module,
            120,
            |_| stand(),
            |i| {
                if (30..36).contains(&i) {
                    vec![push(humanoid::SPINE2.0, Vec3::X * (impulse / 6.0))]
                } else {
                    Vec::new()
                }
            },
        );
        let peak = frames.iter().map(|f| f.pose.positions[0].x.abs()).fold(0.0f32, f32::max);
        (peak, frames.last().unwrap().pose.positions[0].x.abs(), frames.iter().any(|f| f.recovered.is_some()))
    };
    let (none, _, _) = displacement(0.0);
    let (small, _, _) = displacement(50.0);
    let (large, after, recovered) = displacement(100.0);
    println!(
        "pelvis: 0 N s {:.2} cm, 50 N s {:.2} cm, 100 N s {:.2} cm, {:.2} cm after 1.4 s",
        none * 100.0,
        small * 100.0,
        large * 100.0,
        after * 100.0
    );
    assert!(none < 0.002 && small > 5.0 * none && large > small && large > 0.04, "{none} {small} {large}");
    assert!(!recovered);
}

#[test]
fn a_push_beside_the_centre_of_mass_turns_the_body_and_one_through_it_does_not() {
    let turn = |lever: f32| {
        let mut module = module(&ground(3.0, -3.0, 3.0, |_, _| -40.0));
        module.set_assist_scale(0.0);
        module.reset(&Pose::rest(&skeleton()), &PoseVelocity::zero(22)).unwrap();
        let rest = Pose::rest(&skeleton());
        let com = module.center_of_mass();
        let push =
            Push { body: 0, impulse_ns: Vec3::Z * 20.0, point: Some(Vec3::new(com.x + lever, com.y, com.z)) };
        let frame = module.step(&rest, &rest, &[push]).unwrap();
        let frame_after = module.step(&rest, &rest, &[]).unwrap();
        assert!(frame.recovered.is_none());
        frame_after.root_angular_velocity.y
    };
    let (through, left, right) = (turn(0.0), turn(0.1), turn(-0.1));
    println!("yaw rate: through {through:.4}, left {left:.4}, right {right:.4} rad/s");
    assert!(through.abs() < 0.02 && left < -0.1 && right > 0.1);
}

#[test]
fn the_assist_is_zero_at_scale_zero_and_never_above_its_caps() {
    let config = DynamicConfig::default();
    let weight = config.body_weight_n();
    let run = |scale: f32| {
        let mut module = module_with(&config, &flat());
        module.set_assist_scale(scale);
        // The target runs away, so that every cap is reached.
        let frames = follow(
            &mut module,
            60,
            |t| {
                let mut pose = stand();
                pose.root_position += Vec3::new(2.0 * t, 1.0 * t, 3.0 * t);
                pose.local_rotations[0] = Quat::from_rotation_y(3.0 * t);
                pose
            },
            no_pushes,
        );
        let peak = |f: &dyn Fn(&pomp_physics::Frame) -> f32| frames.iter().map(f).fold(0.0f32, f32::max);
        (
            peak(&|f| Vec3::new(f.assist_force.x, 0.0, f.assist_force.z).length() / weight),
            peak(&|f| f.assist_force.y.abs() / weight),
            peak(&|f| f.assist_torque.length() / weight),
        )
    };
    assert_eq!(run(0.0), (0.0, 0.0, 0.0));
    let assist = config.assist;
    for scale in [0.5, 1.0] {
        let (horizontal, vertical, torque) = run(scale);
        println!(
            "scale {scale}: horizontal {horizontal:.3}, vertical {vertical:.4} BW, torque {torque:.3} BW m"
        );
        let within = |value: f32, cap: f32| value <= cap * scale * 1.011 && value > cap * scale * 0.9;
        assert!(within(horizontal, assist.horizontal_limit_bw));
        assert!(within(vertical, assist.horizontal_limit_bw * assist.vertical_share));
        assert!(within(torque, assist.angular_limit_bw_m));
    }
}

#[test]
fn a_blow_is_left_to_the_feet_and_what_the_assist_has_long_carried_is_not() {
    // Largest force across in the four frames after a push, body weights; the target moves away at `speed`.
    let after_push = |struck_limit_bw: f32, speed: f32| {
        let mut config = DynamicConfig::default();
        config.assist.struck_limit_bw = struck_limit_bw;
        let mut module = module_with(&config, &flat());
        let at = 240;
        let target =
            |t: f32| Pose { root_position: stand().root_position + Vec3::X * (speed * t), ..stand() };
        let frames = follow(&mut module, at + 4, target, |frame| {
            if frame == at { vec![push(humanoid::SPINE2.0, Vec3::Z * 60.0)] } else { vec![] }
        });
        let across = |force: Vec3| Vec3::new(force.x, 0.0, force.z).length() / config.body_weight_n();
        frames[at..].iter().map(|frame| across(frame.assist_force)).fold(0.0f32, f32::max)
    };
    let (caught, left) = (after_push(0.544, 0.0), after_push(0.1, 0.0));
    println!("standing: {caught:.3} BW without the bound, {left:.3} with it");
    assert!(caught > 0.3 && left < 0.15 && left > 0.1, "{caught} {left}");
    let pulled = after_push(0.1, 3.0);
    println!("pulled for four seconds: {pulled:.3} BW");
    assert!(pulled > 0.5, "{pulled}");
}

#[test]
fn feet_hold_on_a_slope_with_friction_and_slide_without() {
    let slope = 0.25f32;
    let terrain = ground(3.0, -3.0, 6.0, |_, z| -slope * z);
    let slide = |friction: f32| {
        // Help to stay upright, none along the slope.
        let mut config = DynamicConfig { friction, ..DynamicConfig::default() };
        config.assist.horizontal_stiffness_bw_per_m = 0.0;
        let mut module = module_with(&config, &terrain);
        let mut pose = stand();
        for ankle in [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT] {
            pose.local_rotations[ankle.0] = Quat::from_rotation_x(slope.atan());
        }
        let frames = follow(&mut module, 60, |_| pose.clone(), no_pushes);
        let foot = |i: usize| frames[i].pose.positions[humanoid::LEFT_FOOT.0];
        (foot(59) - foot(10)).length()
    };
    let (rough, smooth) = (slide(0.9), slide(0.0));
    println!("slid in 0.8 s: friction 0.9 {rough:.4} m, friction 0 {smooth:.3} m");
    assert!(rough < 0.02 && smooth > 0.3, "{rough} {smooth}");
}

#[test]
fn bodies_rest_at_the_height_of_a_tilted_asymmetric_ground() {
    // Rising along x by 0.3, along z by −0.1, with a ridge on one side: no symmetry hides a swapped axis.
    let height = |x: f32, z: f32| 0.3 * x - 0.1 * z + if x > 1.0 { 0.5 * (x - 1.0) } else { 0.0 };
    let terrain = ground(3.0, -2.0, 5.0, height);
    for (x, z) in [(-1.5, 0.5), (0.0, 3.0), (1.6, -1.0), (2.0, 4.0)] {
        let mut module = module(&terrain);
        module.set_assist_scale(0.0);
        module.set_strength_scale(0.0);
        let mut pose = stand();
        pose.root_position = Vec3::new(x, height(x, z) + 1.2, z);
        let frames = follow_from(&mut module, &pose, 150);
        let last = frames.last().unwrap();
        let lowest = last.pose.positions.iter().map(|p| p.y - height(p.x, p.z)).fold(f32::INFINITY, f32::min);
        let root = last.pose.positions[0];
        println!("({x}, {z}): lowest joint {lowest:.3} m above the ground, root at {root}");
        assert!(lowest > -0.03 && lowest < 0.1, "{lowest}");
        assert!(frames.iter().all(|f| f.recovered.is_none()));
    }
}

#[test]
fn the_soles_are_level_and_carry_the_rest_pose_at_the_height_of_the_ground() {
    for factor in [0.7, 1.0, 1.15] {
        let skeleton = skeleton().scaled(factor);
        let config = DynamicConfig::default();
        let mut module = pomp_physics::DynamicModule::new(&skeleton, &config, &flat()).unwrap();
        let rest = Pose::rest(&skeleton);
        module.reset(&rest, &PoseVelocity::zero(22)).unwrap();
        let mut last = None;
        for _ in 0..60 {
            last = Some(module.step(&rest, &rest, &[]).unwrap());
        }
        let frame = last.unwrap();
        let share = |joint: usize| frame.contact_impulse[joint].y / (config.body_weight_n() * DT);
        let sunk = rest.root_position.y - frame.pose.positions[0].y;
        println!(
            "scale {factor}: sunk {:.2} mm; shares left foot {:.3} toe {:.3}, right foot {:.3} toe {:.3}",
            sunk * 1e3,
            share(3),
            share(4),
            share(7),
            share(8)
        );
        assert!(sunk.abs() < 0.004, "{sunk}");
        assert!((share(3) + share(4) - share(7) - share(8)).abs() < 0.1);
    }
}
