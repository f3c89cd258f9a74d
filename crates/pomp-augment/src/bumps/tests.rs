#![allow(clippy::print_stdout, reason = "tests say what they measured")]

use super::*;
use pomp_config::{Fields, Validate};
use pomp_estimate::{ImpulseConfig, ReplayConfig, expectations, replay};
use pomp_physics::{DynamicConfig, Expectation};
use pomp_synthetic::{MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::sync::LazyLock;

struct Replayed {
    clip: Clip,
    recording: Recording,
    ground: TerrainGrid,
    track: SimulationTrack,
    expected: Vec<Expectation>,
}

/// As training sets are made: with drives that are told nothing.
static REPLAY: LazyLock<ReplayConfig> =
    LazyLock::new(|| ReplayConfig { feed_forward: false, ..ReplayConfig::default() });
static DYNAMIC: LazyLock<DynamicConfig> = LazyLock::new(DynamicConfig::for_recorded_motion);
static IMPULSES: LazyLock<ImpulseConfig> = LazyLock::new(ImpulseConfig::default);

fn settings() -> PhysicsSettings<'static> {
    PhysicsSettings { dynamic: &DYNAMIC, replay: &REPLAY, impulses: &IMPULSES }
}

fn replayed(kind: MotionKind, duration_s: f32) -> Replayed {
    let map = HeightMap::flat(40.0, 0.5).unwrap();
    let made = generate(&MotionRequest { duration_s, ..MotionRequest::new(kind) }, &map).unwrap();
    let mut recording = Recording::of_clip(&made.clip);
    recording.foot_contact = made.foot_contact;
    recording.gait = made.gait;
    let ground = map.into_grid();
    let config = settings();
    let expected = expectations(&made.clip, &recording.foot_contact, config).unwrap();
    let (track, _) = replay(&made.clip, &ground, config.dynamic, config.replay, &expected).unwrap();
    Replayed { clip: made.clip, recording, ground, track, expected }
}

impl Replayed {
    fn bumped(&self, config: &BumpConfig) -> Bumped {
        let source = Source { clip: &self.clip, recording: &self.recording, expected: &self.expected };
        bump(source, &self.track, &self.ground, settings(), config, "test").unwrap().unwrap()
    }
}

#[test]
fn pushes_of_no_size_leave_the_replay_as_it_is() {
    let walk = replayed(MotionKind::Walk, 5.0);
    let bumped = walk.bumped(&BumpConfig { impulse_ns: [0.0; 2], ..BumpConfig::default() });
    let pushed = bumped.recording.simulation.unwrap();
    let worst = pushed
        .positions
        .values()
        .iter()
        .zip(walk.track.positions.values())
        .map(|(a, b)| a.distance(*b))
        .fold(0.0f32, f32::max);
    println!("largest difference {:.2} mm", 1e3 * worst);
    // Knees of nearly straight legs give by a millimetre where a leg is set anew.
    assert!(worst < 0.01, "{worst}");
}

#[test]
fn a_pushed_walker_walks_on_where_it_was_pushed_to_and_says_bump_meanwhile() {
    let walk = replayed(MotionKind::Walk, 8.0);
    let config = BumpConfig { impulse_ns: [100.0, 110.0], interval_s: [6.0, 7.0], ..BumpConfig::default() };
    let bumped = walk.bumped(&config);
    let generation = bumped.recording.generation.as_ref().unwrap();
    let track = bumped.recording.simulation.as_ref().unwrap();
    let push = generation.pushes[0];
    let start = (push.time_s * 60.0).round() as usize;
    let last = walk.clip.frames() - 1;
    let moved = |frame: usize| {
        let d = bumped.recording.positions[frame][0] - walk.recording.positions[frame][0];
        d.x.hypot(d.z)
    };
    let height = track.positions[last][0].y;
    println!(
        "{:.0} N·s at {:.1} s: target displaced by {:.3} m at the end; pelvis at {height:.2} m, resets {}",
        push.impulse_ns.length(),
        push.time_s,
        moved(last),
        bumped.report.resets
    );
    assert!(moved(start) < 2e-3 && moved(last) > 0.02, "the displacement stays");
    assert!(height > 0.8 && bumped.report.resets == 0, "it stays on its feet");
    let bump = |frame: usize| bumped.recording.gait[frame][Gait::Bump.index()];
    assert!(bump(start + 12) > 0.9 && bump(start - 30) < 1e-3 && bump(last) < 0.5);
    for weights in &bumped.recording.gait {
        assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-4);
    }
}

#[test]
fn standing_feet_of_a_pushed_clip_do_not_slide() {
    let walk = replayed(MotionKind::Walk, 8.0);
    let config = BumpConfig { impulse_ns: [60.0, 60.0], ..BumpConfig::default() };
    let bumped = walk.bumped(&config);
    let speed = |recording: &Recording| {
        let mut speeds = Vec::new();
        for frame in 0..recording.frames() {
            for (point, joint) in [(1, humanoid::LEFT_TOE), (3, humanoid::RIGHT_TOE)] {
                if walk.recording.foot_contact[frame][point] {
                    let v = recording.velocities[frame][joint.0];
                    speeds.push(v.x.hypot(v.z));
                }
            }
        }
        speeds.sort_by(f32::total_cmp);
        speeds[speeds.len() * 9 / 10]
    };
    let (before, after) = (speed(&walk.recording), speed(&bumped.recording));
    println!("90 % of planted toes slower than {before:.3} m/s before, {after:.3} m/s after");
    assert!(after < before + 0.05);
}

#[test]
fn a_clip_that_jumps_is_not_pushed() {
    let jump = replayed(MotionKind::Jump, 5.0);
    let outcome = plan(&jump.recording, &BumpConfig::default(), &mut Draws::new(1, 1))
        .expect_err("a jump is not steady");
    assert!(outcome.contains("standing and walking"), "{outcome}");
}

#[test]
fn rejects_bodies_and_ranges_that_are_none() {
    let refused = |config: BumpConfig, word: &str| {
        let reason = config.check(&Fields::root()).expect_err("out of range").to_string();
        assert!(reason.contains(word), "{reason}");
    };
    refused(BumpConfig { bodies: vec!["Tail".to_owned()], ..BumpConfig::default() }, "Tail");
    refused(BumpConfig { bodies: Vec::new(), ..BumpConfig::default() }, "bodies");
    refused(BumpConfig { impulse_ns: [50.0, 20.0], ..BumpConfig::default() }, "impulse_ns");
    refused(BumpConfig { follow: 1.5, ..BumpConfig::default() }, "follow");
}
