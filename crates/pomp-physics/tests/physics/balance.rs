//! Bodies that nothing outside holds up.

use crate::support::*;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{Pose, humanoid};
use pomp_physics::{
    BalanceConfig, DynamicConfig, DynamicModule, Expectation, Frame, GainScale, PoseVelocity, Push, Reaction,
};

/// The default with balance by the legs, at four steps a frame.
fn balancing() -> DynamicConfig {
    let balance = BalanceConfig { enabled: true, ..BalanceConfig::default() };
    DynamicConfig { steps_per_frame: 4, balance, ..DynamicConfig::default() }
}

/// The same, led by the wave of the target's height, with feet that come to bear over a time.
fn waving() -> DynamicConfig {
    let config = balancing();
    let balance = BalanceConfig { level_rad_s: 4.0, load_time_s: 0.2, ..config.balance };
    DynamicConfig { balance, ..config }
}

/// The default with neither balance nor assist.
fn unheld() -> DynamicConfig {
    let mut config = DynamicConfig { steps_per_frame: 4, ..DynamicConfig::default() };
    config.assist.horizontal_limit_bw = 0.0;
    config.assist.angular_limit_bw_m = 0.0;
    config
}

fn pelvis(frame: &Frame) -> f32 {
    frame.pose.positions[humanoid::HIPS.0].y
}

/// Shifts of the weight over planted feet.
fn shift(t: f32) -> Pose {
    let mut pose = crouch(0.06 + 0.03 * (std::f32::consts::TAU * 0.5 * t).sin());
    pose.root_position.z += 0.03;
    pose
}

/// A push of 20 N·s on the back, after two seconds.
fn pushed(frame: usize) -> Vec<Push> {
    let impulse_ns = Vec3::Z * 20.0;
    if frame == 120 { vec![Push { body: humanoid::SPINE2.0, impulse_ns, point: None }] } else { vec![] }
}

#[test]
fn a_body_stands_and_bends_its_knees_with_nothing_outside_to_hold_it_and_falls_without_balance() {
    let mut module = module_with(&balancing(), &flat());
    let frames = follow(&mut module, 600, shift, pushed);
    let lowest = frames.iter().map(pelvis).fold(f32::INFINITY, f32::min);
    let weight = balancing().body_weight_n();
    let ratio = vertical_impulse(&frames[120..]) / (weight * frames[120..].len() as f32 * DT);
    println!("lowest pelvis {lowest:.2} m, contacts {ratio:.3} m g T");
    assert!(frames.iter().all(|f| f.assist_force == Vec3::ZERO && f.assist_torque == Vec3::ZERO));
    assert!(frames.iter().all(|f| f.recovered.is_none()));
    assert!(lowest > 0.7 && (ratio - 1.0).abs() < 0.02);
    let limits = balancing().drives;
    let knees = frames.iter().map(|f| f.joint_torque[2].max(f.joint_torque[6])).fold(0.0, f32::max);
    assert!(knees < limits.knee.torque_limit_nm * 1.02, "{knees} N·m");

    let mut module = module_with(&unheld(), &flat());
    let control = follow(&mut module, 600, shift, pushed);
    let lowest = control.iter().map(pelvis).fold(f32::INFINITY, f32::min);
    println!("without balance: lowest pelvis {lowest:.2} m");
    assert!(lowest < 0.5);
}

#[test]
fn a_body_that_stands_on_a_higher_tread_than_its_target_stands_on_its_own() {
    let mut config = balancing();
    config.balance.footing_at_body = true;
    let tread = ground(3.0, -3.0, 3.0, |_, z| if z > -0.25 { 0.15 } else { 0.0 });
    // From the tread to the ground behind it, so slowly that it stands.
    let goes = |t: f32| {
        let mut pose = shift(t);
        pose.root_position += Vec3::new(0.0, 0.15, 0.0) - Vec3::new(0.0, 0.15, 0.5) * (0.1 * t).min(1.0);
        pose
    };
    let mut module = module_with(&config, &tread);
    let frames = follow(&mut module, 780, goes, |_| vec![]);
    let last = &frames[779].pose;
    println!(
        "the pelvis is {:.2} m high, {:.2} m ahead of its target",
        pelvis(&frames[779]),
        last.positions[0].z + 0.5
    );
    assert!(frames.iter().all(|f| f.assist_force == Vec3::ZERO && f.assist_torque == Vec3::ZERO));
    let lowest = frames.iter().map(pelvis).fold(f32::INFINITY, f32::min);
    assert!(lowest > 0.6, "{lowest}");
    assert!(last.positions[humanoid::LEFT_FOOT.0].z > -0.2, "it has stayed on the tread");
}

#[test]
fn the_feet_of_a_body_that_stands_under_strain_stay_where_they_are() {
    let mut module = module_with(&balancing(), &flat());
    // Its feet come to the ground as far apart as in its rest pose, and are then drawn together.
    let drawn = |t: f32| {
        let mut pose = shift(0.0);
        let angle = 0.1 * t.min(1.0);
        for (leg, side) in [(humanoid::LEFT_UP_LEG, -1.0), (humanoid::RIGHT_UP_LEG, 1.0)] {
            pose.local_rotations[leg.0] *= Quat::from_rotation_z(side * angle);
        }
        pose
    };
    let frames = follow(&mut module, 1200, drawn, |_| vec![]);
    let (settled, end) = (&frames[300], &frames[1199]);
    for foot in [humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE] {
        let crept = end.pose.positions[foot.0].distance(settled.pose.positions[foot.0]);
        println!("{foot:?} crept {:.2} mm in 15 s", 1000.0 * crept);
        assert!(crept < 0.001);
    }
}

/// Root mean square error of the vertical force on a body that bends and stretches its knees quickly, against what its motion asks for,
/// body weights.
fn force_error(follows_expectation: bool) -> f32 {
    let mut config = balancing();
    config.balance.follows_expectation = follows_expectation;
    let bends = |t: f32| {
        let mut pose = crouch(0.12 + 0.05 * (std::f32::consts::TAU * 1.5 * t).sin());
        pose.root_position.z += 0.03;
        pose
    };
    let mut module = module_with(&config, &flat());
    let joints = module.pose().positions.len();
    let height = |module: &DynamicModule, t: f32| {
        module.center_of_mass_in(&skeleton().forward_kinematics(&bends(t))).y
    };
    let begins = PoseVelocity::between(&bends(0.0), &bends(DT), DT);
    module.reset(&bends(0.0), &begins).expect("a finite pose");
    let mut squares = 0.0;
    for frame in 0..120 {
        let (from, to) = (frame as f32 * DT, (frame + 1) as f32 * DT);
        let [before, now, next] =
            [from - 0.5 * DT, 0.5 * (from + to), to + 0.5 * DT].map(|t| height(&module, t));
        let rises = (next - 2.0 * now + before) / (DT * DT);
        let expected = Expectation {
            supports: vec![],
            foot_loads_n: None,
            accelerations: vec![Vec3::Y * rises; joints],
            gains: vec![GainScale::NONE; joints],
            torques: vec![],
        };
        let done =
            module.step_expecting(&bends(from), &bends(to), &[], Some(&expected)).expect("finite poses");
        let weight = config.body_weight_n();
        let wanted = 1.0 + rises / config.gravity_m_s2;
        let error = vertical_impulse(&[done]) / (weight * DT) - wanted;
        squares += if frame < 30 { 0.0 } else { error * error };
    }
    (squares / 90.0).sqrt()
}

#[test]
fn a_body_that_follows_its_expectation_presses_on_the_ground_as_its_motion_asks() {
    let (late, told) = (force_error(false), force_error(true));
    println!("vertical error {late:.3} body weights, following the expectation {told:.3}");
    assert!(told < 0.5 * late, "{told} and {late}");
}

/// Share of the left foot in the vertical force under a body that stands, whose feet are expected to bear `foot_loads`, body weights.
fn left_share(foot_loads: [f32; 2]) -> f32 {
    let mut config = balancing();
    config.balance.follows_expectation = true;
    let mut module = module_with(&config, &flat());
    let stands = crouch(0.05);
    let begins = PoseVelocity::between(&stands, &stands, DT);
    module.reset(&stands, &begins).expect("a finite pose");
    let joints = module.pose().positions.len();
    let expected = Expectation {
        supports: vec![],
        foot_loads_n: Some(foot_loads.map(|load| load * config.body_weight_n())),
        accelerations: vec![Vec3::ZERO; joints],
        gains: vec![GainScale::NONE; joints],
        torques: vec![],
    };
    let mut feet = [0.0; 2];
    for _ in 0..20 {
        let done = module.step_expecting(&stands, &stands, &[], Some(&expected)).expect("finite poses");
        for (foot, ankle) in feet.iter_mut().zip([humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0]) {
            *foot += done.contact_impulse[ankle].y + done.contact_impulse[ankle + 1].y;
        }
    }
    feet[0] / (feet[0] + feet[1])
}

#[test]
fn a_foot_that_is_not_expected_to_bear_bears_less() {
    let (both, left, right) = (left_share([0.5, 0.5]), left_share([1.0, 0.0]), left_share([0.0, 1.0]));
    println!("share of the left foot: {both:.2}, expected alone {left:.2}, not expected {right:.2}");
    assert!((both - 0.5).abs() < 0.05 && left > both + 0.02 && right < both - 0.02);
}

/// Share of the force under the feet that the toes bear in four frames of a body whose target turns its feet downward by `pitch` radians.
fn toes_bear(pitch: f32, (toe_share, bearing_height_m): (f32, f32)) -> f32 {
    let mut config = balancing();
    // The load follows the weights where forces cost something.
    let (force_cost, recovery_force_cost) = (0.02, 0.02);
    config.balance =
        BalanceConfig { toe_share, bearing_height_m, force_cost, recovery_force_cost, ..config.balance };
    let mut module = module_with(&config, &flat());
    module.reset(&crouch(0.05), &PoseVelocity::zero(humanoid::JOINTS)).expect("a finite pose");
    let mut target = crouch(0.05);
    let ankles = [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0];
    for ankle in ankles {
        target.local_rotations[ankle] *= Quat::from_rotation_x(pitch);
    }
    let (mut toes, mut feet) = (0.0, 0.0);
    for _ in 0..4 {
        let done = module.step(&target, &target, &[]).expect("finite poses");
        for ankle in ankles {
            toes += done.contact_impulse[ankle + 1].y;
            feet += done.contact_impulse[ankle].y + done.contact_impulse[ankle + 1].y;
        }
    }
    toes / feet
}

#[test]
fn toes_bear_by_their_weight_and_more_where_the_target_lifts_the_heels() {
    let of = |pitch| [(0.3, 0.0), (0.05, 0.0), (0.3, 0.05)].map(|weights| toes_bear(pitch, weights));
    let (flat, lifted) = (of(0.0), of(0.15));
    println!(
        "toes bear {flat:.3?} of the weight under flat feet, {lifted:.3?} where the heels are to leave the ground"
    );
    assert!(flat[1] < flat[0] && lifted[1] < lifted[0]);
    // Flat feet bear as they did, within what the slope of the sole makes of it.
    assert!((flat[2] - flat[0]).abs() < 0.02);
    assert!(lifted[2] > lifted[0] + 0.05);
}

/// A step of the left foot, and accelerations in every direction.
fn reacting() -> Reaction {
    Reaction {
        steps: [Vec3::new(0.1, 0.05, 0.2), Vec3::ZERO],
        acceleration: Vec3::new(1.0, 2.0, -1.5),
        angular: Vec3::new(5.0, -8.0, 3.0),
    }
}

#[test]
fn momentum_changes_by_gravity_contacts_and_pushes_alone() {
    let reacts =
        [(balancing(), Reaction::default()), (waving(), Reaction::default()), (balancing(), reacting())];
    for (config, reaction) in reacts {
        let mut module =
            module_with(&config, &ground(2.0, -1.0, 8.0, |x, z| 0.01 * (5.0 * x + 4.0 * z).sin()));
        let (a, b) = (walk(0.0), walk(DT));
        module.reset(&a, &PoseVelocity::between(&a, &b, DT)).unwrap();
        module.set_reaction(&reaction);
        let (mut worst, mut largest) = (0.0f32, 0.0f32);
        for i in 0..180 {
            let t = i as f32 * DT;
            let pushes = match i {
                60 => {
                    vec![Push {
                        body: humanoid::SPINE2.0,
                        impulse_ns: Vec3::new(20.0, 0.0, -10.0),
                        point: None,
                    }]
                }
                _ => vec![],
            };
            let before = module.momentum();
            let frame = module.step(&walk(t), &walk(t + DT), &pushes).unwrap();
            let change = module.momentum() - before;
            let given = frame.contact_impulse.iter().copied().sum::<Vec3>()
                + Vec3::NEG_Y * (config.body_weight_n() * DT)
                + pushes.iter().map(|push| push.impulse_ns).sum::<Vec3>();
            worst = worst.max((change - given).length());
            largest = largest.max(change.length());
        }
        println!("worst residual {worst:.5} N s; largest change in a frame {largest:.1} N s");
        assert!(worst < 1e-3 * largest, "{worst}");
    }
}

#[test]
fn a_reaction_moves_a_foot_and_the_body_and_ends_with_a_reset() {
    let left = |frame: &Frame| frame.pose.positions[humanoid::LEFT_FOOT.0];
    let run = |reaction: &Reaction| {
        let mut module = module_with(&balancing(), &flat());
        module.reset(&stand(), &PoseVelocity::zero(humanoid::JOINTS)).unwrap();
        module.set_reaction(reaction);
        let frames: Vec<Frame> = (0..40).map(|_| module.step(&stand(), &stand(), &[]).unwrap()).collect();
        (module, frames)
    };
    let (mut module, stands) = run(&Reaction::default());
    let lifts = Reaction { steps: [Vec3::new(0.0, 0.08, 0.15), Vec3::ZERO], ..Reaction::default() };
    let (_, steps) = run(&lifts);
    let moved = steps.iter().zip(&stands).map(|(steps, stands)| left(steps) - left(stands));
    let moved = moved.fold(Vec3::ZERO, Vec3::max);
    let leans = Reaction { acceleration: Vec3::X, ..Reaction::default() };
    let (leaning, _) = run(&leans);
    let aside = leaning.center_of_mass().x - module.center_of_mass().x;
    println!("the foot is moved by {moved}, the centre of mass by {aside:.3} m");
    assert!(moved.y > 0.03 && moved.z > 0.05);
    assert!(aside > 0.005);

    module.set_reaction(&lifts);
    module.reset(&stand(), &PoseVelocity::zero(humanoid::JOINTS)).unwrap();
    let again: Vec<Frame> = (0..40).map(|_| module.step(&stand(), &stand(), &[]).unwrap()).collect();
    assert_eq!(again, stands, "a reset ends a reaction");
}

#[test]
fn a_standing_body_that_is_about_to_fall_sets_a_foot_where_it_falls() {
    let push = |frame: usize| {
        let impulse_ns = Vec3::Z * 45.0;
        if frame == 60 { vec![Push { body: humanoid::SPINE2.0, impulse_ns, point: None }] } else { vec![] }
    };
    let run = |catching_step_s: f32| {
        let balance = BalanceConfig { catching_step_s, ..balancing().balance };
        let mut module = module_with(&DynamicConfig { balance, ..balancing() }, &flat());
        follow(&mut module, 180, |_| stand(), push)
    };
    let feet = [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0];
    // How far a foot that bears has gone, and for how long the pelvis stays up after the push.
    let judge = |frames: &[Frame]| {
        let start = &frames[59].pose.positions;
        let bears = |frame: &Frame, foot: usize| frame.contact_impulse[foot].y > 0.2 * 735.0 * DT;
        let gone = frames[60..120].iter().flat_map(|frame| {
            feet.map(
                |foot| if bears(frame, foot) { frame.pose.positions[foot].z - start[foot].z } else { 0.0 },
            )
        });
        let up = frames[60..].iter().take_while(|frame| pelvis(frame) > 0.7).count();
        (gone.fold(0.0, f32::max), up)
    };
    let (stays, steps) = (judge(&run(0.0)), judge(&run(0.2)));
    println!("without steps {stays:?}, with steps {steps:?}");
    assert!(steps.0 > stays.0 + 0.15, "a foot lands ahead");
    assert!(steps.1 > stays.1 + 15, "it is up for longer");
}

#[test]
fn on_ice_a_body_can_neither_brake_nor_turn() {
    let slide = |friction: f32| -> (DynamicModule, Vec3, Vec3) {
        let mut module = module_with(&DynamicConfig { friction, ..balancing() }, &flat());
        let velocity = PoseVelocity { root_linear: Vec3::Z * 0.4, ..PoseVelocity::zero(22) };
        module.reset(&stand(), &velocity).unwrap();
        let before = module.momentum();
        for _ in 0..30 {
            module.step(&stand(), &stand(), &[]).unwrap();
        }
        let after = module.momentum();
        (module, before, after)
    };
    let (_, before, after) = slide(0.0);
    println!("ice: {before} to {after} N s");
    assert!(Vec3::new(after.x - before.x, 0.0, after.z - before.z).length() < 1e-3 * before.length());
    let (_, before, after) = slide(0.6);
    println!("floor: {before} to {after} N s");
    assert!(after.z < 0.8 * before.z, "feet that hold brake");

    // A target that turns the pelvis asks for a moment about the vertical, which ice does not give: the feet turn the other way.
    let turned = |friction: f32| {
        let mut module = module_with(&DynamicConfig { friction, ..balancing() }, &flat());
        let turn = |t: f32| {
            let mut pose = stand();
            pose.local_rotations[0] = Quat::from_rotation_y(0.8 * t.min(0.5));
            pose
        };
        let frames = follow(&mut module, 30, turn, no_pushes);
        let across = |pose: &pomp_motion::GlobalPose| {
            let across = pose.positions[humanoid::LEFT_FOOT.0] - pose.positions[humanoid::RIGHT_FOOT.0];
            across.z.atan2(across.x)
        };
        across(&frames[29].pose) - across(&frames[0].pose)
    };
    let (ice, floor) = (turned(0.0), turned(0.6));
    println!("turn of the feet: {ice:.3} rad on ice, {floor:.3} rad on the floor");
    assert!(ice.abs() > 3.0 * floor.abs());
}

#[test]
fn the_same_run_gives_the_same_bytes_and_goes_on_from_a_snapshot() {
    let terrain = flat();
    let mut module = module_with(&waving(), &terrain);
    let whole = follow(&mut module, 60, shift, no_pushes);
    let mut again = module_with(&waving(), &terrain);
    follow(&mut again, 30, shift, no_pushes);
    let saved = again.save();
    let mut third = module_with(&waving(), &terrain);
    third.restore(&saved).unwrap();
    for (i, frame) in whole.iter().enumerate().skip(30) {
        let t = i as f32 * DT;
        assert_eq!(third.step(&shift(t), &shift(t + DT), &[]).unwrap(), *frame);
    }
}

#[test]
fn who_begins_standing_has_the_centre_of_mass_over_the_feet_and_who_walks_begins_as_asked() {
    let module = module_with(&balancing(), &flat());
    // Leans 12 cm ahead on its heels.
    let mut leaning = crouch(0.04);
    leaning.root_position.z += 0.12;
    for foot in [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT] {
        leaning.local_rotations[foot.0] *= Quat::from_rotation_x(-0.2);
    }
    let still = PoseVelocity::zero(humanoid::JOINTS);
    let (begun, velocity) = module.balanced_start(&leaning, &still);
    let world = module.skeleton().forward_kinematics(&begun);
    let feet = [humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE];
    let middle = feet.iter().map(|joint| world.positions[joint.0] * 0.25).sum::<Vec3>();
    let mut resting = module_with(&balancing(), &flat());
    resting.reset(&begun, &velocity).unwrap();
    let center = resting.center_of_mass();
    println!("centre of mass {center}, middle of the feet {middle}");
    assert!((center - middle).with_y(0.0).length() < 0.01);
    assert_eq!(velocity, still);

    let walks = PoseVelocity { root_linear: Vec3::Z, ..still.clone() };
    assert_eq!(module.balanced_start(&leaning, &walks), (leaning.clone(), walks));
    let held = module_with(&DynamicConfig::default(), &flat());
    assert_eq!(held.balanced_start(&leaning, &still), (leaning, still));
}
