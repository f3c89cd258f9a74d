//! What the drives are told of a frame.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use crate::support::*;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::humanoid;
use pomp_physics::{
    DynamicConfig, DynamicModule, Expectation, Frame, GainScale, PhysicsError, PoseVelocity, Support,
};

const LEGS: [usize; 6] = [1, 2, 3, 5, 6, 7];
const BODIES: usize = 22;

/// Nothing expected: no support, no acceleration, the drives as they are.
fn at_rest() -> Expectation {
    Expectation {
        supports: Vec::new(),
        foot_loads_n: None,
        accelerations: vec![Vec3::ZERO; BODIES],
        gains: vec![GainScale::NONE; BODIES],
        torques: Vec::new(),
    }
}

/// Half of `force_n` on each foot, under the centre of mass.
fn on_both_feet(module: &DynamicModule, force_n: f32) -> Vec<Support> {
    let (pose, center) = (module.pose(), module.center_of_mass());
    [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0]
        .map(|body| {
            let ankle = pose.positions[body];
            let sole = Vec3::new(ankle.x, ankle.y - humanoid::ANKLE_HEIGHT * HEIGHT_M, center.z);
            let point = pose.rotations[body].inverse() * (sole - ankle);
            Support { body, point, force_n: Vec3::Y * (0.5 * force_n) }
        })
        .to_vec()
}

/// Lowest pelvis, metres below its target, while standing with bent knees for a second on legs with this share of
/// their gains.
fn sag(gains: f32, told: bool) -> f32 {
    let mut module = module(&flat());
    let pose = crouch(0.12);
    module.reset(&pose, &PoseVelocity::zero(BODIES)).unwrap();
    let weight = module.config().body_weight_n();
    let mut lowest = f32::INFINITY;
    for _ in 0..60 {
        let mut expected = at_rest();
        for joint in LEGS {
            expected.gains[joint] = GainScale { stiffness: gains, damping: gains };
        }
        if told {
            expected.supports = on_both_feet(&module, weight);
        } else {
            // Without weight nothing has to be held.
            expected.accelerations = vec![Vec3::NEG_Y * module.config().gravity_m_s2; BODIES];
        }
        let frame = module.step_expecting(&pose, &pose, &[], Some(&expected)).unwrap();
        lowest = lowest.min(frame.pose.positions[0].y);
    }
    pose.root_position.y - lowest
}

#[test]
fn soft_legs_that_are_told_what_they_bear_stand_where_others_sink() {
    let (stiff, soft, told) = (sag(1.0, false), sag(0.1, false), sag(0.1, true));
    println!(
        "the pelvis sinks by {:.1} cm on full gains, {:.1} cm on a tenth, {:.1} cm on a tenth and told",
        100.0 * stiff,
        100.0 * soft,
        100.0 * told
    );
    assert!(told < 0.3 * soft && told < 0.02, "{stiff} {soft} {told}");
}

/// Frames of a body in free fall, and its momentum at the end, N·s.
fn falling(expected: impl Fn(&DynamicModule) -> Option<Expectation>) -> (Vec<Frame>, Vec3) {
    let mut module = module(&ground(3.0, -3.0, 3.0, |_, _| -40.0));
    module.set_assist_scale(0.0);
    module.reset(&stand(), &PoseVelocity::zero(BODIES)).unwrap();
    let frames = (0..30)
        .map(|i| {
            let (from, to) = (sway(i as f32 * DT), sway((i + 1) as f32 * DT));
            let expected = expected(&module);
            module.step_expecting(&from, &to, &[], expected.as_ref()).unwrap()
        })
        .collect();
    (frames, module.momentum())
}

/// Nothing but gravity acts.
fn weightless() -> Expectation {
    let gravity = Vec3::NEG_Y * DynamicConfig::default().gravity_m_s2;
    Expectation { accelerations: vec![gravity; BODIES], ..at_rest() }
}

#[test]
fn a_body_that_is_told_to_fall_falls_as_one_that_is_told_nothing() {
    assert_eq!(falling(|_| Some(weightless())), falling(|_| None));
}

#[test]
fn what_a_body_is_told_helps_it_by_nothing_from_outside() {
    let (free, of_free) = falling(|_| None);
    let (told, of_told) = falling(|module| {
        let mut expected = Expectation { supports: on_both_feet(module, 735.0), ..weightless() };
        for joint in LEGS {
            expected.gains[joint] = GainScale { stiffness: 0.1, damping: 0.1 };
        }
        Some(expected)
    });
    let foot =
        |frames: &[Frame]| frames[29].pose.positions[humanoid::LEFT_FOOT.0] - frames[29].pose.positions[0];
    let thrust = foot(&free).distance(foot(&told));
    println!("legs thrust by {:.1} cm; momentum {of_free} N s, told {of_told}", 100.0 * thrust);
    // The legs do what they were told; the body as a whole falls as before.
    assert!(thrust > 0.005, "{thrust}");
    assert!((of_free - of_told).length() < 0.01 * of_free.length(), "{of_free} {of_told}");
}

#[test]
fn rejects_expectations_of_another_body() {
    let mut module = module(&flat());
    let mut refused = |spoil: &dyn Fn(&mut Expectation)| {
        let mut expected = at_rest();
        spoil(&mut expected);
        let before = module.pose();
        let error = module.step_expecting(&stand(), &stand(), &[], Some(&expected)).unwrap_err();
        assert_eq!(module.pose(), before);
        println!("{error}");
        error
    };
    let support = Support { body: 3, point: Vec3::ZERO, force_n: Vec3::Y };
    let short = refused(&|e| e.accelerations.truncate(21));
    assert!(matches!(short, PhysicsError::SizeMismatch { expected: 22, found: 21, .. }));
    assert!(matches!(refused(&|e| e.gains.clear()), PhysicsError::SizeMismatch { found: 0, .. }));
    let nowhere = refused(&|e| e.supports = vec![support, Support { body: 22, ..support }]);
    assert!(matches!(nowhere, PhysicsError::NoSuchSupport { support: 1, body: 22, .. }));
    let nan = refused(&|e| e.supports = vec![Support { force_n: Vec3::NAN, ..support }]);
    assert!(nan.to_string().contains("support 0"));
    assert!(refused(&|e| e.accelerations[7] = Vec3::INFINITY).to_string().contains("body 7"));
    let negative = refused(&|e| e.gains[2] = GainScale { stiffness: -1.0, damping: 1.0 });
    assert!(matches!(negative, PhysicsError::BadGainScale { joint: 2, .. }));
}

#[test]
fn drives_that_are_told_torques_alone_give_them_and_hold_nothing() {
    let elbow = humanoid::LEFT_FORE_ARM.0;
    let config = DynamicConfig { gravity_m_s2: 0.0, ..DynamicConfig::default() };
    let in_the_air = || {
        let mut module = module_with(&config, &ground(3.0, -3.0, 3.0, |_, _| -40.0));
        module.reset(&stand(), &PoseVelocity::zero(BODIES)).unwrap();
        module.set_assist_scale(0.0);
        module
    };
    let told = |torque: Vec3| {
        let mut module = in_the_air();
        let mut torques = vec![Vec3::ZERO; BODIES];
        torques[elbow] = torque;
        let expected = Expectation::of_torques(torques, config.gravity_m_s2);
        // A target far from the body, which the drives do not hold.
        let mut far = stand();
        far.local_rotations[elbow] *= Quat::from_rotation_y(1.0);
        let frame = module.step_expecting(&far, &far, &[], Some(&expected)).unwrap();
        (frame.joint_torque[elbow], module.velocity().angular[elbow].y)
    };
    let (still, forward, back) = (told(Vec3::ZERO), told(Vec3::Y * 5.0), told(Vec3::Y * -5.0));
    println!("torque N·m and rate rad/s: {still:?}, {forward:?}, {back:?}");
    assert!(still.0 < 1e-3 && still.1.abs() < 0.05);
    assert!((forward.0 - 5.0).abs() < 1e-3 && (back.0 - 5.0).abs() < 1e-3);
    assert!(forward.1 > 0.3 && back.1 < -0.3);
    let limit = in_the_air().feed_forward_limit_nm(elbow);
    assert!(
        (told(Vec3::Y * 1e4).0 - limit).abs() < 0.01 * limit,
        "bounded by the share of the drive's limit"
    );
}

#[test]
fn rejects_torques_of_another_size_or_that_are_not_finite() {
    let mut module = module(&flat());
    let stand = stand();
    let few = Expectation { torques: vec![Vec3::ZERO; 3], ..at_rest() };
    let odd = Expectation { torques: vec![Vec3::NAN; BODIES], ..at_rest() };
    let error = module.step_expecting(&stand, &stand, &[], Some(&few)).unwrap_err();
    assert!(matches!(error, PhysicsError::SizeMismatch { expected: BODIES, found: 3, .. }), "{error}");
    let error = module.step_expecting(&stand, &stand, &[], Some(&odd)).unwrap_err();
    assert!(matches!(error, PhysicsError::NotFinite { .. }), "{error}");
}
