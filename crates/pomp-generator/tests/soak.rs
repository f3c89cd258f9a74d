//! Hours of a character's time on grounds, under commands and pushes that are drawn at random.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::{Device, Model};
use pomp_generator::{FRAME_RATE_HZ, Generator, GeneratorConfig, LiveControl, Steering};
use pomp_motion::Gait;
use pomp_motion::glam::{Vec2, Vec3};
use pomp_physics::Push;
use pomp_terrain::{HeightMap, Shape, TerrainSpec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Time in one world, seconds; then another is made.
const SCENE_S: f32 = 300.0;
/// Distance from the middle of the ground beyond which it is led back, metres.
const TURN_BACK_M: f32 = 15.0;
/// How deep a joint may be in the ground, metres along its normal: on walls heights between cells, which the engine takes from
/// triangles and the map from all four corners, differ by more than a limb is thick.
const DEPTH_M: f32 = 0.05;

/// What has been seen.
#[derive(Default)]
struct Tally {
    falls: u32,
    risen: u32,
    divergences: u32,
    /// Most frames on end that a joint was below the ground.
    longest_below: u32,
}

/// `SOAK_MINUTES=60 SOAK_SEED=1 cargo test --release --workspace --test soak -- --ignored --nocapture`, for SOAK_MINUTES of
/// the character's time (default 24 hours): it stands, walks, jogs, crouches and jumps on all kinds of ground, with and without
/// much friction, light and heavy; is pushed, falls and gets up. Nothing may panic, be no number, grow, or stay below the ground.
#[test]
#[ignore = "it runs as long as SOAK_MINUTES says"]
fn hours_at_random_leave_numbers_and_no_garbage() {
    let from_environment = |name: &str, default: f32| -> f32 {
        std::env::var(name).map_or(default, |text| text.parse().unwrap())
    };
    let minutes = from_environment("SOAK_MINUTES", 1440.0);
    let first_seed = from_environment("SOAK_SEED", 1.0) as u64;
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let mut tally = Tally::default();
    let (mut early_kb, mut latest_kb) = (0, 0);
    for scene in 0..(minutes * 60.0 / SCENE_S).ceil() as u64 {
        live(&model, first_seed + scene, &mut tally);
        latest_kb = resident_kb();
        // The first half hour has seen every kind of ground.
        early_kb = if scene < 6 { early_kb.max(latest_kb) } else { early_kb };
        println!(
            "{:6.1} min, {latest_kb} kB resident, {} falls, {} risen, {} divergences, {} frames below ground at the most",
            (scene + 1) as f32 * SCENE_S / 60.0,
            tally.falls,
            tally.risen,
            tally.divergences,
            tally.longest_below,
        );
    }
    assert!(latest_kb < early_kb + 20_000, "{early_kb} kB in the first half hour, {latest_kb} kB at the end");
}

/// One world for [`SCENE_S`].
fn live(model: &Model, seed: u64, tally: &mut Tally) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let ground = ground(&mut rng, seed);
    let mut settings = GeneratorConfig::default();
    settings.dynamic.mass_kg = rng.random_range(50.0..110.0);
    settings.dynamic.friction = rng.random_range(0.2..1.2);
    let mut control = LiveControl::new(ground.bounds(), 0.0, FRAME_RATE_HZ);
    let mut generator = Generator::new(model, ground.clone(), &settings, Gait::Stand, seed).unwrap();

    let mut steering = Steering::STILL;
    let (mut next_wish, mut next_push, mut place, mut was_down) = (0, 300, Vec2::ZERO, false);
    let mut below = vec![0_u32; model.description.body_names.len()];
    for frame in 0..(SCENE_S * FRAME_RATE_HZ) as usize {
        if frame >= next_wish {
            steering = wish(&mut rng, place);
            next_wish = frame + rng.random_range(60..480);
        }
        let mut pushes = Vec::new();
        if frame >= next_push {
            let (sin, cos) = rng.random_range(0.0..std::f32::consts::TAU).sin_cos();
            let impulse_ns = Vec3::new(sin, 0.2, cos) * rng.random_range(10.0..250.0);
            pushes.push(Push { body: rng.random_range(0..below.len()), impulse_ns, point: None });
            next_push = frame + rng.random_range(120..1200);
        }
        let output = generator.step_steered(&mut control, steering, &pushes).unwrap().output;
        let now = output.simulated;
        let loads =
            [now.assist_force, now.assist_torque, now.root_linear_velocity, now.root_angular_velocity];
        let vectors =
            now.pose.positions.iter().chain(&now.velocities).chain(&now.contact_impulse).chain(&loads);
        assert!(vectors.into_iter().all(|v| v.is_finite()), "seed {seed}, frame {frame}");
        assert!(now.pose.rotations.iter().all(|q| q.is_finite()), "seed {seed}, frame {frame}");
        assert!(output.phase_code.iter().all(|code| code.is_finite()), "seed {seed}, frame {frame}");

        for (body, (frames, joint)) in below.iter_mut().zip(&now.pose.positions).enumerate() {
            let normal = ground.normal(joint.x, joint.z);
            let depth = (ground.height(joint.x, joint.z) - joint.y) * normal.y;
            let buried = depth > DEPTH_M;
            *frames = if buried { *frames + 1 } else { 0 };
            tally.longest_below = tally.longest_below.max(*frames);
            assert!(
                *frames as f32 <= FRAME_RATE_HZ,
                "seed {seed}, frame {frame}: {} a second below the ground, now {depth} m, at {joint}",
                model.description.body_names[body],
            );
        }
        tally.divergences += u32::from(now.recovered.is_some());
        tally.falls += u32::from(output.fallen && !was_down);
        tally.risen += u32::from(!output.fallen && was_down);
        was_down = output.fallen;
        place = Vec2::new(now.pose.positions[0].x, now.pose.positions[0].z);
    }
}

/// A command, which leads back to the middle from far away.
fn wish(rng: &mut ChaCha8Rng, place: Vec2) -> Steering {
    let gaits = [Gait::Walk, Gait::Walk, Gait::Walk, Gait::Walk, Gait::Jog, Gait::Crouch, Gait::Jump];
    let gait = gaits[rng.random_range(0..gaits.len())];
    let (sin, cos) = rng.random_range(0.0..std::f32::consts::TAU).sin_cos();
    let share = if rng.random_bool(0.2) { 0.0 } else { rng.random_range(0.3..1.0) };
    let direction =
        if place.length() > TURN_BACK_M { -place.normalize() } else { Vec2::new(sin, cos) * share };
    Steering::toward(direction, gait)
}

/// One of six kinds of ground, up to what feet can hardly do.
fn ground(rng: &mut ChaCha8Rng, seed: u64) -> HeightMap {
    let heading_deg = rng.random_range(0.0..360.0);
    let shape = match seed % 6 {
        0 => Shape::Flat {},
        1 => Shape::Slope { angle_deg: rng.random_range(3.0..20.0), heading_deg },
        2 => {
            let (rise_m, run_m) = (rng.random_range(0.1..0.2), rng.random_range(0.26..0.35));
            Shape::Stairs { rise_m, run_m, count: 5, landing_m: 2.5, heading_deg }
        }
        3 => Shape::Hills {
            amplitude_m: rng.random_range(0.2..1.2),
            wavelength_m: rng.random_range(5.0..10.0),
            seed: 0,
        },
        4 => {
            let (amplitude_m, wavelength_m) = (rng.random_range(0.02..0.15), rng.random_range(0.6..2.0));
            Shape::Rough { amplitude_m, wavelength_m, octaves: 3, seed: 0 }
        }
        _ => Shape::Gaps { width_m: rng.random_range(0.2..0.6), depth_m: 0.5, spacing_m: 3.0, heading_deg },
    };
    pomp_terrain::generate(&TerrainSpec::of_shape(shape), seed).unwrap()
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
