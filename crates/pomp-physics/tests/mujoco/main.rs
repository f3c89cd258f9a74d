//! The dynamic module beside MuJoCo on the same model: bodies, masses, joints, drives and friction are those that `examples/mjcf`
//! writes. Runs where a Python with `mujoco` is found (`POMP_PYTHON`), and says so where it does not.
//!
//! Ours takes [`STEPS`] steps a frame and MuJoCo [`THEIR_STEPS`]: its drives are explicit in their stiffness. Its contacts are as soft as
//! ours are set here ([`CONTACT_HZ`]): at 5 Hz, which MuJoCo's default parameters would be for this body, ours sinks so deep that it tips
//! over. Ours has neither joint limits nor an external root assist in these runs, and no torque reaches its
//! limit.

#![allow(clippy::print_stdout, reason = "a test prints what it has measured")]

#[path = "../../examples/mjcf/model.rs"]
mod model;

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{FrameTable, Pose, Skeleton, TerrainGrid, humanoid};
use pomp_physics::{DynamicConfig, DynamicModule, Frame, PoseVelocity};
use pomp_testing::{python, python_can};
use serde_json::{Value, json};
use std::f32::consts::TAU;

const STEPS: usize = 16;
const THEIR_STEPS: usize = 64;
/// Of the critically damped spring of a contact, in both programs.
const CONTACT_HZ: f32 = 20.0;

/// A start and the targets of the drives at the ends of the frames.
struct Case {
    raised_m: f32,
    linear_m_s: Vec3,
    angular_rad_s: Vec3,
    joints_rad_s: Vec<(usize, Vec3)>,
    driven: bool,
    /// Rotation vectors of the joints that move, radians; the others hold the rest pose.
    targets: Vec<Vec<(usize, Vec3)>>,
}

/// What MuJoCo did in a case.
struct Theirs(Value);

impl Theirs {
    fn numbers<const N: usize>(&self, what: &str, frame: usize, joint: usize) -> [f32; N] {
        let values = &self.0[what][frame][joint];
        std::array::from_fn(|axis| values[axis].as_f64().expect("a number") as f32)
    }

    fn position(&self, frame: usize, joint: usize) -> Vec3 {
        self.numbers("positions", frame, joint).into()
    }

    fn rotation(&self, frame: usize, joint: usize) -> Quat {
        Quat::from_array(self.numbers("rotations", frame, joint))
    }

    fn vertical_n(&self, frame: usize, joint: usize) -> f32 {
        self.0["vertical_n"][frame][joint].as_f64().expect("a number") as f32
    }

    /// Of the vertical forces about the origin: each times how far ahead it acts.
    fn forward_moment_nm(&self, frame: usize, joint: usize) -> f32 {
        self.0["forward_moment_nm"][frame][joint].as_f64().expect("a number") as f32
    }
}

fn skeleton() -> Skeleton {
    Skeleton::humanoid(1.75)
}

fn config() -> DynamicConfig {
    let mut config = DynamicConfig { steps_per_frame: STEPS, ..DynamicConfig::default() };
    config.contact.frequency_hz = CONTACT_HZ;
    config.limits.enabled = false;
    config
}

fn pose_of(targets: &[(usize, Vec3)]) -> Pose {
    let mut pose = Pose::rest(&skeleton());
    for (joint, turn) in targets {
        pose.local_rotations[*joint] = Quat::from_scaled_axis(*turn);
    }
    pose
}

/// Frames of ours.
fn ours(case: &Case) -> Vec<Frame> {
    let heights = (0..61).fold(FrameTable::with_columns(61), |mut table, _| {
        table.push(&[0.0; 61]);
        table
    });
    let ground = TerrainGrid { heights, origin: [-6.0, -6.0], cell_m: 0.2 };
    let mut module = DynamicModule::new(&skeleton(), &config(), &ground).expect("a valid config");
    module.set_assist_scale(0.0);
    module.set_strength_scale(if case.driven { 1.0 } else { 0.0 });
    let mut start = pose_of(&[]);
    start.root_position.y += case.raised_m;
    let mut velocity = PoseVelocity::zero(humanoid::JOINTS);
    velocity.root_linear = case.linear_m_s;
    velocity.angular[0] = case.angular_rad_s;
    for (joint, rate) in &case.joints_rad_s {
        velocity.angular[*joint] = *rate;
    }
    module.reset(&start, &velocity).expect("a finite start");
    let mut from = pose_of(&[]);
    let frames = case.targets.iter().map(|targets| {
        let to = pose_of(targets);
        let frame = module.step(&from, &to, &[]).expect("finite targets");
        assert!(frame.recovered.is_none(), "ours diverged");
        assert!(!case.driven || frame.saturated_joints == 0, "a drive of ours is at its limit");
        from = to;
        frame
    });
    frames.collect()
}

/// Runs the cases in MuJoCo; `None` where there is none.
fn theirs(cases: &[&Case]) -> Option<Vec<Theirs>> {
    if !python_can("import mujoco, numpy", "the dynamic module beside MuJoCo") {
        return None;
    }
    let skeleton = skeleton();
    let name = |joint: usize| skeleton.joints()[joint].name.clone();
    let of_joints = |rates: &[(usize, Vec3)]| -> serde_json::Map<String, Value> {
        rates.iter().map(|(joint, rate)| (name(*joint), json!(rate.to_array()))).collect()
    };
    let cases: Vec<Value> = cases
        .iter()
        .map(|case| {
            let mut before: Vec<(usize, Vec3)> = Vec::new();
            let frames: Vec<Value> = case
                .targets
                .iter()
                .map(|targets| {
                    let begin =
                        |joint| before.iter().find(|(j, _)| j == joint).map_or(Vec3::ZERO, |(_, at)| *at);
                    let moves = targets
                        .iter()
                        .map(|(joint, end)| (name(*joint), json!([begin(joint).to_array(), end.to_array()])))
                        .collect::<serde_json::Map<_, _>>();
                    before.clone_from(targets);
                    Value::Object(moves)
                })
                .collect();
            json!({
                "start": {
                    "raised_m": case.raised_m,
                    "linear_m_s": case.linear_m_s.to_array(),
                    "angular_rad_s": case.angular_rad_s.to_array(),
                    "joints_rad_s": of_joints(&case.joints_rad_s),
                },
                "driven": case.driven,
                "frames": frames,
            })
        })
        .collect();
    let config = config();
    let request = json!({
        "model": model::mjcf(&skeleton, &config),
        "frame_rate_hz": config.frame_rate_hz,
        "steps": THEIR_STEPS,
        "cases": cases,
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("request.json");
    std::fs::write(&path, request.to_string()).expect("it is written");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mujoco/agreement.py");
    let said = python(folder.path(), [script.as_ref(), path.as_os_str()]);
    let mut answer: Value = serde_json::from_str(&said).expect("the script prints JSON");
    println!("MuJoCo {}, {} kg", answer["version"], answer["mass_kg"]);
    let mass_kg = answer["mass_kg"].as_f64().expect("a number") as f32;
    assert!((mass_kg - config.mass_kg).abs() < 1e-3, "another mass: {mass_kg} kg");
    let Value::Array(answers) = answer["cases"].take() else { panic!("a list of cases") };
    let names: Vec<Value> = skeleton.joints().iter().map(|joint| json!(joint.name)).collect();
    assert!(answers.iter().all(|answer| answer["names"] == json!(names)), "bodies in another order");
    Some(answers.into_iter().map(Theirs).collect())
}

/// Farthest that a joint is from where MuJoCo has it in a frame, metres.
fn apart_m(ours: &Frame, theirs: &Theirs, frame: usize) -> f32 {
    let joints = ours.pose.positions.iter().enumerate();
    joints.map(|(joint, at)| at.distance(theirs.position(frame, joint))).fold(0.0, f32::max)
}

#[test]
fn a_limp_body_that_falls_and_tumbles_is_where_mujoco_has_it() {
    let falling = |joints_rad_s| Case {
        raised_m: 2.0,
        linear_m_s: Vec3::new(0.5, 1.0, 1.0),
        angular_rad_s: Vec3::new(1.0, 2.0, -1.5),
        joints_rad_s,
        driven: false,
        targets: vec![Vec::new(); 12],
    };
    let tumbling = falling(vec![
        (humanoid::LEFT_UP_LEG.0, Vec3::new(-4.0, 0.0, 1.0)),
        (humanoid::RIGHT_LEG.0, Vec3::new(5.0, 0.0, 0.0)),
        (humanoid::LEFT_ARM.0, Vec3::new(0.0, 3.0, -6.0)),
        (humanoid::RIGHT_FORE_ARM.0, Vec3::new(0.0, 5.0, 0.0)),
        (humanoid::SPINE.0, Vec3::new(1.0, -1.0, 0.5)),
    ]);
    // The control: the same without the rates of the joints.
    let stiff = falling(Vec::new());
    let Some(theirs) = theirs(&[&tumbling, &stiff]) else { return };
    let frames = ours(&tumbling);
    let last = frames.len() - 1;
    let apart = apart_m(&frames[last], &theirs[0], last);
    let control = apart_m(&frames[last], &theirs[1], last);
    println!(
        "after 0.2 s: {:.2} mm apart; {:.0} mm without the rates of the joints",
        apart * 1e3,
        control * 1e3
    );
    assert!(apart < FALL_M);
    assert!(control > 10.0 * FALL_M);
}

#[test]
fn a_body_that_stands_presses_on_the_ground_as_in_mujoco() {
    let standing = Case {
        raised_m: 0.0,
        linear_m_s: Vec3::ZERO,
        angular_rad_s: Vec3::ZERO,
        joints_rad_s: Vec::new(),
        driven: true,
        targets: vec![Vec::new(); 90],
    };
    let Some(theirs) = theirs(&[&standing]) else { return };
    let frames = ours(&standing);
    let weight_n = config().mass_kg * config().gravity_m_s2;
    let frame_s = 1.0 / config().frame_rate_hz;
    let late = frames.len() - 30..frames.len();
    let mean = |of: &dyn Fn(usize) -> f32| late.clone().map(of).sum::<f32>() / late.len() as f32;
    // Of each leg, the vertical force over the weight and where it acts from heel to toe, metres; ours and theirs.
    let sides = [[humanoid::LEFT_FOOT, humanoid::LEFT_TOE], [humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE]];
    for bodies in sides {
        let sum = |of: &dyn Fn(usize, usize) -> f32| {
            mean(&|frame| bodies.iter().map(|body| of(frame, body.0)).sum())
        };
        let own = |frame: usize, body: usize| frames[frame].contact_impulse[body].y / frame_s / weight_n;
        let other = |frame: usize, body: usize| theirs[0].vertical_n(frame, body) / weight_n;
        let forces = [sum(&own), sum(&other)];
        let own_at = |frame: usize, body: usize| own(frame, body) * frames[frame].contact_point[body].z;
        let other_at = |frame: usize, body: usize| theirs[0].forward_moment_nm(frame, body) / weight_n;
        let places = [sum(&own_at) / forces[0], sum(&other_at) / forces[1]];
        let toe = bodies[1].0;
        let toes = [mean(&|frame| own(frame, toe)), mean(&|frame| other(frame, toe))];
        println!("{forces:.4?} of the weight at {places:.4?} m, on the toes {toes:.3?}");
        assert!(forces.iter().all(|force| (force - 0.5).abs() < HALF), "not half of the weight");
        assert!((places[0] - places[1]).abs() < PRESSURE_M, "pressed elsewhere");
        assert!((toes[0] - toes[1]).abs() < TOES, "toes bear otherwise");
    }
    let elsewhere = |joint: &usize| !sides.as_flattened().iter().any(|body| body.0 == *joint);
    let others = (0..humanoid::JOINTS).filter(elsewhere);
    assert!(
        others.into_iter().all(|joint| frames.iter().all(|frame| frame.contact_impulse[joint] == Vec3::ZERO))
    );
}

#[test]
fn drives_that_follow_the_swing_of_a_walk_are_where_those_of_mujoco_are() {
    // Amplitudes of a brisk walk's hips, knees, ankles and shoulders, in the air: contacts would take the two apart.
    let swing = |frame: usize| {
        let phase = TAU * frame as f32 / 60.0;
        // It begins smoothly.
        let size = (frame as f32 / 30.0).min(1.0);
        let leg = |phase: f32| {
            let knee = 0.5 - 0.5 * (phase + 1.0).cos();
            [-0.45 * phase.sin(), knee, 0.2 * (phase + 0.5).sin()].map(|angle| Vec3::X * (angle * size))
        };
        let [left, right] = [leg(phase), leg(phase + TAU / 2.0)];
        let arm = Vec3::Y * (0.3 * size * phase.sin());
        vec![
            (humanoid::LEFT_UP_LEG.0, left[0]),
            (humanoid::LEFT_LEG.0, left[1]),
            (humanoid::LEFT_FOOT.0, left[2]),
            (humanoid::RIGHT_UP_LEG.0, right[0]),
            (humanoid::RIGHT_LEG.0, right[1]),
            (humanoid::RIGHT_FOOT.0, right[2]),
            (humanoid::LEFT_ARM.0, arm),
            (humanoid::RIGHT_ARM.0, arm),
        ]
    };
    let walking = Case {
        raised_m: 30.0,
        linear_m_s: Vec3::ZERO,
        angular_rad_s: Vec3::ZERO,
        joints_rad_s: Vec::new(),
        driven: true,
        targets: (1..=120).map(swing).collect(),
    };
    let Some(theirs) = theirs(&[&walking]) else { return };
    let frames = ours(&walking);
    let skeleton = skeleton();
    let (mut between, mut missed, mut root_m) = (0.0_f32, [0.0_f32; 2], 0.0_f32);
    for (at, frame) in frames.iter().enumerate() {
        let local = frame.pose.to_local(&skeleton);
        for (joint, target) in &walking.targets[at] {
            let (own, other) = (local.local_rotations[*joint], theirs[0].rotation(at, *joint));
            let target = Quat::from_scaled_axis(*target);
            between = between.max(own.angle_between(other));
            missed = [missed[0].max(own.angle_between(target)), missed[1].max(other.angle_between(target))];
        }
        root_m = root_m.max(frame.pose.positions[0].distance(theirs[0].position(at, 0)));
    }
    println!(
        "joints {:.4} rad apart at most; behind their targets {:.4} and {:.4} rad; roots {:.2} mm apart",
        between,
        missed[0],
        missed[1],
        root_m * 1e3
    );
    assert!(between < SWING_RAD && root_m < SWING_M);
}

/// Measured 1.1 mm, of which 0.8 mm are the steps: a body that falls for t with steps of h is g t h / 2 too low, and MuJoCo's are shorter.
const FALL_M: f32 = 0.002;
/// Shares of the weight. Half of it on each leg is measured to 2e-4.
const HALF: f32 = 0.001;
/// How far apart the pressure acts. Measured 0.3 mm, by which the bodies sway otherwise.
const PRESSURE_M: f32 = 0.002;
/// The share of a toe hangs on the softness of its contact, which MuJoCo makes of the toe's mass and ours of the body's: measured 0.08
/// and 0.02 of the weight.
const TOES: f32 = 0.1;
/// Measured 0.0007 rad, where both are up to 0.011 rad behind their targets.
const SWING_RAD: f32 = 0.002;
/// Measured 7.8 mm after 2 s of falling, of which 7.7 mm are the steps.
const SWING_M: f32 = 0.009;
