//! Every layer of the loop has a switch that acts, and the loop runs with any of them off.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{
    ControlPlan, Dynamics, FRAME_RATE_HZ, Generator, GeneratorConfig, LayersConfig, LiveControl, Preset,
    Steering,
};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_motion::glam::{Vec2, Vec3};
use pomp_physics::Push;
use pomp_terrain::{HeightMap, generate, preset};
use std::sync::OnceLock;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded::load(&Device::flex()).unwrap())
}

fn ground(name: &str) -> HeightMap {
    generate(&preset(name).unwrap(), 3).unwrap()
}

/// The default loop without the layer `name`.
fn without(name: &str) -> GeneratorConfig {
    let mut config = GeneratorConfig::default();
    *config.layers.enabled_mut(name).unwrap() = false;
    config
}

/// Pelvis and feet of a rollout of `seconds` over `terrain`, with a push of 200 N·s after one second if it is `pushed`.
fn rollout(
    config: &GeneratorConfig,
    terrain: &str,
    command: Preset,
    seconds: f32,
    pushed: bool,
) -> Vec<Vec3> {
    let plan = ControlPlan::preset(command, seconds + 2.0, FRAME_RATE_HZ);
    let start = plan.start_gait();
    let mut generator = Generator::new(model(), ground(terrain), config, start, 5).unwrap();
    let push = Push { body: 11, impulse_ns: Vec3::new(0.0, 0.0, -200.0), point: None };
    let frames = (seconds * FRAME_RATE_HZ) as usize;
    (0..frames)
        .flat_map(|frame| {
            let pushes = if pushed && frame == 60 { vec![push] } else { Vec::new() };
            let step = generator.step(&plan, &pushes).unwrap();
            let joints = &step.simulated.pose.positions;
            assert!(joints.iter().all(|joint| joint.is_finite()));
            [joints[0], joints[4], joints[8]]
        })
        .collect()
}

#[test]
fn every_switch_changes_a_rollout_in_which_its_layer_acts_and_no_other() {
    let full = GeneratorConfig::default();
    // Layer, ground, command, seconds, push; and whether the layer acts there.
    let cases = [
        ("foot_locking", "flat", Preset::Walk, 1.0, false, true),
        ("foot_placement", "stairs", Preset::Walk, 4.0, false, true),
        ("shown_surface", "hills", Preset::Walk, 2.0, false, true),
        ("speed_adaptation", "stairs", Preset::Walk, 4.0, false, true),
        ("speed_adaptation", "flat", Preset::Walk, 1.0, false, false),
        ("standing_posture", "flat", Preset::Stand, 1.0, false, true),
        ("standing_posture", "flat", Preset::Walk, 1.0, false, false),
        ("pose_blending", "flat", Preset::Walk, 1.0, false, true),
        ("root_following", "flat", Preset::Walk, 1.0, false, true),
        ("fall_recovery", "flat", Preset::Walk, 3.0, true, true),
        ("fall_recovery", "flat", Preset::Walk, 1.0, false, false),
        ("path_rejoining", "flat", Preset::Walk, 14.0, true, true),
        ("path_rejoining", "flat", Preset::Walk, 1.0, false, false),
    ];
    for (name, terrain, command, seconds, pushed, acts) in cases {
        let with = rollout(&full, terrain, command, seconds, pushed);
        let left_out = rollout(&without(name), terrain, command, seconds, pushed);
        assert_eq!(with != left_out, acts, "{name} on {terrain}, {command:?}, pushed {pushed}");
    }
}

#[test]
fn reference_tracking_goes_on_from_the_target_and_changes_nothing_where_nothing_is_simulated() {
    let with = |enabled: bool, dynamics: Dynamics| {
        let mut config = GeneratorConfig { dynamics, ..GeneratorConfig::default() };
        config.layers.reference_tracking.enabled = enabled;
        rollout(&config, "flat", Preset::Walk, 2.0, false)
    };
    assert!(with(true, Dynamics::Simulated) != with(false, Dynamics::Simulated));
    assert!(with(true, Dynamics::KinematicOnly) == with(false, Dynamics::KinematicOnly));
}

#[test]
fn the_turn_limit_bounds_steering_by_hand_and_its_switch_frees_it() {
    let turned = |config: &GeneratorConfig| {
        let mut generator = Generator::new(model(), ground("flat"), config, Gait::Stand, 5).unwrap();
        let mut control = LiveControl::new(generator.terrain().bounds(), 0.0, FRAME_RATE_HZ);
        let left = Steering::toward(Vec2::X, Gait::Walk);
        let step = (0..2).map(|_| generator.step_steered(&mut control, left, &[]).unwrap()).last().unwrap();
        step.output.control.yaw
    };
    let (limited, free) = (turned(&GeneratorConfig::default()), turned(&without("turn_limit")));
    assert!((limited - 1.0 / FRAME_RATE_HZ).abs() < 1e-4, "{limited} rad in a frame at 1 rad/s");
    assert!((free - std::f32::consts::FRAC_PI_2).abs() < 1e-4, "{free} rad");
}

#[test]
fn the_papers_loop_runs_with_every_layer_off_and_reports_its_fall() {
    let bare = GeneratorConfig { layers: LayersConfig::off(), ..GeneratorConfig::default() };
    let plan = ControlPlan::preset(Preset::Walk, 8.0, FRAME_RATE_HZ);
    let mut generator = Generator::new(model(), ground("flat"), &bare, Gait::Walk, 5).unwrap();
    let push = Push { body: 11, impulse_ns: Vec3::new(0.0, 0.0, -250.0), point: None };
    let mut gaits = Vec::new();
    for frame in 0..300 {
        let pushes = if frame == 30 { vec![push] } else { Vec::new() };
        let step = generator.step(&plan, &pushes).unwrap();
        assert!(step.simulated.pose.positions.iter().all(|joint| joint.is_finite()));
        gaits.push(Gait::dominant(&step.gait));
    }
    assert!(generator.has_fallen(), "a blow of 250 N·s fells it");
    assert!(!gaits.contains(&Gait::GetUp), "nothing gets it up");
}

#[test]
fn a_snapshot_keeps_what_layers_remember() {
    // A second after the fall: the route of getting up, the rejoining and the stride are all under way.
    let config = GeneratorConfig::default();
    let plan = ControlPlan::preset(Preset::Walk, 20.0, FRAME_RATE_HZ);
    let mut generator = Generator::new(model(), ground("stairs"), &config, Gait::Walk, 5).unwrap();
    let push = Push { body: 11, impulse_ns: Vec3::new(0.0, 0.0, -220.0), point: None };
    for frame in 0..660 {
        let pushes = if frame == 150 { vec![push] } else { Vec::new() };
        generator.step(&plan, &pushes).unwrap();
        if [120, 200, 400, 600].contains(&frame) {
            let kept = generator.save();
            let run = |generator: &mut Generator| -> Vec<Vec3> {
                (0..30).map(|_| generator.step(&plan, &[]).unwrap().simulated.pose.positions[0]).collect()
            };
            let first = run(&mut generator);
            generator.restore(&kept).unwrap();
            assert_eq!(run(&mut generator), first, "from frame {frame}");
            generator.restore(&kept).unwrap();
        }
    }
}
