#![allow(clippy::print_stdout, reason = "tests say what they measured")]

use super::*;
use pomp_config::{Fields, Validate};
use pomp_estimate::{ImpulseConfig, ReplayConfig, expectations};
use pomp_motion::{FallDetector, SimulationTrack, humanoid};
use pomp_physics::{DynamicConfig, Expectation};
use pomp_synthetic::{MotionKind, MotionRequest, generate};
use std::sync::LazyLock;

/// Joints of a lying body may be this far inside the ground, metres: contacts are compliant, and joints lie inside the limbs.
const DEEPEST_M: f32 = 0.03;

struct Walk {
    clip: Clip,
    recording: Recording,
    expected: Vec<Expectation>,
}

impl Walk {
    fn source(&self) -> Source<'_> {
        Source { clip: &self.clip, recording: &self.recording, expected: &self.expected }
    }
}

static DYNAMIC: LazyLock<DynamicConfig> = LazyLock::new(DynamicConfig::for_recorded_motion);
static REPLAY: LazyLock<ReplayConfig> = LazyLock::new(ReplayConfig::default);
static IMPULSES: LazyLock<ImpulseConfig> = LazyLock::new(ImpulseConfig::default);

fn settings() -> PhysicsSettings<'static> {
    PhysicsSettings { dynamic: &DYNAMIC, replay: &REPLAY, impulses: &IMPULSES }
}

static WALK: LazyLock<Walk> = LazyLock::new(|| clip(MotionKind::Walk));
static PUSHED: LazyLock<Felled> = LazyLock::new(|| felled(&WALK, &pushes(), "pushed"));
static TRIPPED: LazyLock<Felled> = LazyLock::new(|| felled(&WALK, &trips(), "tripped"));

fn clip(kind: MotionKind) -> Walk {
    let map = HeightMap::flat(40.0, 0.5).unwrap();
    let made = generate(&MotionRequest { duration_s: 6.0, ..MotionRequest::new(kind) }, &map).unwrap();
    let mut recording = Recording::of_clip(&made.clip);
    recording.foot_contact = made.foot_contact;
    recording.gait = made.gait;
    let contact = &recording.foot_contact;
    let expected = expectations(&made.clip, contact, settings()).unwrap();
    Walk { clip: made.clip, recording, expected }
}

fn pushes() -> FallConfig {
    FallConfig { trip_share: 0.0, ..FallConfig::default() }
}

fn trips() -> FallConfig {
    FallConfig { trip_share: 1.0, ..FallConfig::default() }
}

fn tried(walk: &Walk, falls: &FallConfig, stream: &str) -> unfit::Fallible<Felled> {
    fell(walk.source(), 0.0, &[], settings(), &TerrainFitConfig::default(), falls, stream)
}

fn felled(walk: &Walk, falls: &FallConfig, stream: &str) -> Felled {
    let felled = tried(walk, falls, stream).unwrap();
    println!("{}", felled.description);
    felled
}

fn track(felled: &Felled) -> &SimulationTrack {
    felled.recording.simulation.as_ref().unwrap()
}

/// Frames of a gait.
fn frames_of(felled: &Felled, gait: Gait) -> Vec<usize> {
    let gaits = &felled.recording.gait;
    (0..gaits.len()).filter(|frame| Gait::dominant(&gaits[*frame]) == gait).collect()
}

#[test]
fn who_is_struck_falls_lies_gets_up_and_walks_on_upright() {
    for felled in [&*PUSHED, &*TRIPPED] {
        let recording = &felled.recording;
        let [bump, lie, get_up] = [Gait::Bump, Gait::Lie, Gait::GetUp].map(|gait| frames_of(felled, gait));
        println!("{} frames of bump, {} of lying, {} of getting up", bump.len(), lie.len(), get_up.len());
        let struck = (recording.generation.as_ref().unwrap().pushes[0].time_s * 60.0).round() as usize;
        assert!(bump[0].abs_diff(struck) < 6, "struck in frame {struck}, labelled from {}", bump[0]);
        assert!(bump.last() < lie.first() && lie.first() < get_up.first());
        assert!(lie.len() > 30 && get_up.len() > 120);
        let after = get_up.last().unwrap() + 1;
        assert!(recording.frames() - after > 60, "a second of the clip follows");
        let standing = recording.skeleton.joints()[0].offset.y;
        let pelvis = |frame: usize| track(felled).positions[frame][0].y;
        for frame in &lie[10..lie.len() - 10] {
            assert!(pelvis(*frame) < 0.4 * standing, "frame {frame}: the pelvis is at {}", pelvis(*frame));
        }
        let detector = FallDetector::new(&recording.skeleton, 0.8, 45.0);
        for frame in after..recording.frames() {
            assert!(!detector.is_down(&recording.simulated_pose(frame).unwrap(), 0.0), "frame {frame}");
            assert_eq!(Gait::dominant(&recording.gait[frame]), Gait::Walk);
        }
        for weights in &recording.gait {
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-3);
        }
    }
}

#[test]
fn no_joint_is_deep_in_the_ground_and_nothing_jumps() {
    for felled in [&*PUSHED, &*TRIPPED] {
        let lowest = track(felled).positions.values().iter().map(|p| p.y).fold(f32::MAX, f32::min);
        let speeds = felled.recording.velocities.values().iter().map(|v| v.length());
        let fastest = speeds.fold(0.0, f32::max);
        println!("lowest joint {lowest:.3} m, fastest {fastest:.1} m/s");
        assert!(lowest > -DEEPEST_M && fastest < 12.0);
    }
}

#[test]
fn while_it_falls_and_lies_the_root_is_not_held() {
    for felled in [&*PUSHED, &*TRIPPED] {
        let (bump, lie) = (frames_of(felled, Gait::Bump), frames_of(felled, Gait::Lie));
        for frame in bump[6]..lie[lie.len() - 7] {
            assert_eq!(track(felled).assist_force[frame], glam::Vec3::ZERO, "frame {frame}");
            assert_eq!(track(felled).assist_torque[frame], glam::Vec3::ZERO, "frame {frame}");
        }
    }
}

#[test]
fn impulses_of_ground_assist_and_gravity_make_the_change_of_momentum() {
    for felled in [&*PUSHED, &*TRIPPED] {
        let track = track(felled);
        let mass: f32 = track.body_mass_kg.iter().sum();
        let frames = track.assist_force.len();
        let ground: f32 = track.contact_impulse.values().iter().map(|j| j.y).sum();
        let assist: f32 = track.assist_force.iter().map(|f| f.y / 60.0).sum();
        let momentum = |frame: usize| -> f32 {
            track.velocities[frame].iter().zip(&track.body_mass_kg).map(|(v, m)| v.y * m).sum()
        };
        let weight = mass * 9.81 * frames as f32 / 60.0;
        let gained = momentum(frames - 1) - momentum(0);
        let closure = (ground + assist - gained) / weight;
        println!("closure {closure:.4}, the ground alone {:.4}", ground / weight);
        assert!((closure - 1.0).abs() < 0.01);
        assert_eq!(track.impulse_estimator, pomp_motion::ESTIMATED_BY_SIMULATION);
    }
}

#[test]
fn the_clip_goes_on_where_the_body_came_up() {
    let walk = &WALK;
    for felled in [&*PUSHED, &*TRIPPED] {
        let after = frames_of(felled, Gait::GetUp).last().unwrap() + 60;
        let last = felled.recording.frames() - 1;
        let far = |a: glam::Vec3, b: glam::Vec3| (a - b).with_y(0.0).length();
        let gone = far(felled.recording.positions[after][0], felled.recording.positions[last][0]);
        let end = walk.clip.frames() - 1;
        let of_clip =
            far(walk.recording.positions[end][0], walk.recording.positions[end - (last - after)][0]);
        println!("{gone:.3} m of the clip's {of_clip:.3} m");
        assert!((gone - of_clip).abs() < 0.02 * of_clip + 0.02);
        let error = far(felled.recording.positions[last][0], track(felled).positions[last][0]);
        assert!(error < 0.1, "the body is {error} m from the clip");
        let ankles = [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0];
        let up = frames_of(felled, Gait::GetUp).last().unwrap() + 6;
        for frame in up..last {
            for (side, ankle) in ankles.into_iter().enumerate() {
                if felled.recording.foot_contact[frame][2 * side]
                    && felled.recording.foot_contact[frame + 1][2 * side]
                {
                    let slid = far(
                        felled.recording.positions[frame][ankle],
                        felled.recording.positions[frame + 1][ankle],
                    );
                    assert!(slid < 0.03, "frame {frame}: a standing foot slides by {slid} m");
                }
            }
        }
    }
}

#[test]
fn the_same_seed_falls_alike_and_another_does_not() {
    let again = felled(&WALK, &pushes(), "pushed");
    assert_eq!(again.recording, PUSHED.recording);
    let other = felled(&WALK, &FallConfig { seed: 2, ..pushes() }, "pushed");
    assert!(other.recording.positions != PUSHED.recording.positions);
}

#[test]
fn who_does_not_get_up_in_time_makes_no_sample() {
    let slow = FallConfig { up_within_s: 2.0, ..pushes() };
    let Err(Unfit::Fall(reason)) = tried(&WALK, &slow, "pushed") else { panic!("two seconds are too few") };
    assert!(reason.contains("did not get up within 2 s"), "{reason}");
}

#[test]
fn one_who_stands_is_pushed_and_one_who_jumps_is_left_alone() {
    let stand = clip(MotionKind::Stand);
    let fallen = felled(&stand, &trips(), "stand");
    assert!(fallen.description.contains("push"), "no foot swings");
    let Err(Unfit::Clip(reason)) = tried(&clip(MotionKind::Jump), &trips(), "jump") else {
        panic!("a jump is not steady")
    };
    assert!(reason.contains("standing and walking"), "{reason}");
}

#[test]
fn a_trip_holds_the_swinging_foot_back() {
    let push = TRIPPED.recording.generation.as_ref().unwrap().pushes[0];
    let frame = (push.time_s * 60.0).round() as usize;
    let velocity = WALK.recording.velocities[frame][push.body];
    assert!([humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0].contains(&push.body));
    assert!(velocity.length() > 1.0 && push.impulse_ns.normalize().dot(velocity.normalize()) < -0.8);
}

#[test]
fn a_fall_gets_up_by_a_recorded_motion() {
    let recording = &PUSHED.recording;
    let frames = way_up(recording).expect("it lies, gets up and stands");
    let standing = recording.skeleton.joints()[0].offset.y;
    assert!(recording.positions[*frames.start()][0].y < 0.4 * standing);
    assert!(recording.positions[*frames.end()][0].y > 0.85 * standing);
    let whole = recording.to_clip().unwrap();
    let way = Clip { name: "recorded".to_owned(), poses: whole.poses[frames].to_vec(), ..whole };
    let get_up = [GetUpClip { clip: way, level_m: 0.0, license: "free".to_owned() }];
    let walk = &WALK;
    let by_it =
        fell(walk.source(), 0.0, &get_up, settings(), &TerrainFitConfig::default(), &trips(), "tripped")
            .unwrap();
    println!("{}", by_it.description);
    assert!(by_it.description.contains("as in recorded") && by_it.license.as_deref() == Some("free"));
    let (own, other) = (frames_of(&TRIPPED, Gait::GetUp), frames_of(&by_it, Gait::GetUp));
    assert!(own[0].abs_diff(other[0]) < 3, "they fall and lie alike");
    assert!(TRIPPED.recording.positions[own[0] + 60] != by_it.recording.positions[own[0] + 60]);
    assert!(way_up(&walk.recording).is_none(), "a walk is no get-up");
}

#[test]
fn rejects_bodies_and_ranges_that_are_none() {
    let refused = |config: FallConfig, word: &str| {
        let reason = config.check(&Fields::root()).expect_err("out of range").to_string();
        assert!(reason.contains(word), "{reason}");
    };
    FallConfig::default().check(&Fields::root()).unwrap();
    refused(FallConfig { bodies: vec!["Tail".to_owned()], ..FallConfig::default() }, "Tail");
    refused(FallConfig { bodies: Vec::new(), ..FallConfig::default() }, "bodies");
    refused(FallConfig { impulse_ns: [50.0, 20.0], ..FallConfig::default() }, "impulse_ns");
    refused(FallConfig { lie_s: [-1.0, 2.0], ..FallConfig::default() }, "lie_s");
    refused(FallConfig { pace: [0.0, 1.0], ..FallConfig::default() }, "pace");
    refused(FallConfig { limp: f32::NAN, ..FallConfig::default() }, "limp");
    refused(FallConfig { trip_share: 1.5, ..FallConfig::default() }, "trip_share");
    refused(FallConfig { up_within_s: 0.0, ..FallConfig::default() }, "up_within_s");
    refused(FallConfig { get_up: WayUp::Clips(Vec::new()), ..FallConfig::default() }, "get_up.clips");
    refused(FallConfig { variants: 1000, ..FallConfig::default() }, "variants");
}
