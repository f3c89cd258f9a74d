//! `configs/own_feet_planned.toml`: a walker on its own feet that tries corrections of its balance in the simulator.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_config::{Origin, resolve};
use pomp_embedded::{Device, Model};
use pomp_formats::{read_recording, write_recording};
use pomp_generator::layers::BalancePlanningConfig;
use pomp_generator::{
    CharacterInput, CharacterSetup, ControlPlan, Ensemble, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset,
    RolloutRecipe, ScheduledPush, StepOutput, replay,
};
use pomp_motion::glam::{Vec2, Vec3};
use pomp_motion::{GlobalPose, Recording, humanoid};
use pomp_physics::Push;
use pomp_terrain::HeightMap;
use std::f32::consts::PI;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Pushes from four sides, N·s, by most of which a body without plans falls.
const PUSHES: [Vec3; 4] = [
    Vec3::new(95.0, 0.0, 0.0),
    Vec3::new(-95.0, 0.0, 0.0),
    Vec3::new(0.0, 0.0, 95.0),
    Vec3::new(0.0, 0.0, -95.0),
];
/// Frame of the push, and frames of a run.
const PUSHED_AT: usize = 30;
const FRAMES: usize = 210;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded::load(&Device::flex()).unwrap())
}

fn settings() -> GeneratorConfig {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../configs/own_feet_planned.toml"].iter().collect();
    resolve(Origin::File(&path), &[]).unwrap().checked().unwrap()
}

fn recipe(settings: GeneratorConfig, impulse_ns: Vec3) -> RolloutRecipe {
    let plan = ControlPlan::preset(Preset::Stand, 4.0, FRAME_RATE_HZ);
    let time_s = PUSHED_AT as f32 / FRAME_RATE_HZ;
    RolloutRecipe {
        model_sha256: model().sha256_with(settings.used_parts()).unwrap(),
        start: plan.at(0.0).gait,
        seed: 11,
        plan,
        pushes: vec![ScheduledPush { time_s, body: humanoid::SPINE2.0, impulse_ns }],
        throws: Vec::new(),
        terrain: HeightMap::flat(40.0, 0.5).unwrap(),
        frames: FRAMES,
        settings,
    }
}

#[test]
fn a_pushed_body_that_plans_stays_up_where_one_that_does_not_falls_and_nothing_acts_from_outside() {
    let mut without = settings();
    without.layers.balance_planning.enabled = false;
    let is_up = |settings: &GeneratorConfig, push: Vec3| {
        let mut settings = settings.clone();
        settings.layers.fall_recovery.get_up.assisted = false;
        let recording = recipe(settings, push).run(model(), "rollout", |_| 0.0).unwrap();
        let simulation = recording.simulation.as_ref().unwrap();
        assert!(
            simulation.assist_force.iter().chain(&simulation.assist_torque).all(|out| *out == Vec3::ZERO)
        );
        simulation.positions[FRAMES - 1][humanoid::HIPS.0].y > 0.7
    };
    let up = PUSHES.map(|push| [is_up(&settings(), push), is_up(&without, push)]);
    println!("up with plans, without: {up:?}");
    let count = |which: usize| up.iter().filter(|up| up[which]).count();
    assert!(count(0) >= 3 && count(1) <= 2, "{up:?}");
}

#[test]
fn a_planned_rollout_is_replayed_and_continued_bit_for_bit() {
    let recipe = recipe(settings(), PUSHES[0]);
    let on_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| recipe.run(model(), "rollout", |_| 0.0)).unwrap()
    };
    let recording = on_threads(1);
    assert_eq!(recording.positions, on_threads(4).positions, "plans depend on the number of threads");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.npz");
    write_recording(&path, &recording).unwrap();
    assert_eq!(replay(&read_recording(&path).unwrap(), model(), |_| 0.0).unwrap().differences, []);

    let plan = ControlPlan::preset(Preset::Walk, 4.0, FRAME_RATE_HZ);
    let config = settings();
    let start = plan.start_gait();
    let mut whole = Generator::new(model(), HeightMap::flat(40.0, 0.5).unwrap(), &config, start, 5).unwrap();
    // Between two plans.
    for _ in 0..31 {
        whole.step(&plan, &[]).unwrap();
    }
    let saved = whole.save();
    let mut go_on =
        || -> Vec<GlobalPose> { (0..30).map(|_| whole.step(&plan, &[]).unwrap().simulated.pose).collect() };
    let after = go_on();
    whole.restore(&saved).unwrap();
    let again: Vec<_> = (0..30).map(|_| whole.step(&plan, &[]).unwrap().simulated.pose).collect();
    assert_eq!(after, again);
}

/// What becomes of a body that is hardly pushed with these settings of the plans, and with neither plans nor policy.
fn planned_and_alone(change: impl Fn(&mut BalancePlanningConfig)) -> [Recording; 2] {
    let mut planned = settings();
    change(&mut planned.layers.balance_planning);
    let mut alone = planned.clone();
    alone.layers.balance_planning.enabled = false;
    alone.layers.balance_policy.enabled = false;
    [planned, alone]
        .map(|settings| recipe(settings, Vec3::new(5.0, 0.0, 0.0)).run(model(), "rollout", |_| 0.0).unwrap())
}

fn move_alike([planned, alone]: &[Recording; 2]) -> bool {
    let simulated =
        |recording: &Recording| recording.simulation.as_ref().unwrap().positions.values().to_vec();
    planned.positions.values() == alone.positions.values() && simulated(planned) == simulated(alone)
}

#[test]
fn a_plan_changes_nothing_that_it_only_looked_at() {
    // Every plan finds its motion good enough as it is: the loop runs ahead, and has to come back to where it was.
    assert!(move_alike(&planned_and_alone(|plans| (plans.calm, plans.content) = (1.0, 0.0))));
}

#[test]
fn a_body_that_follows_its_target_is_left_alone() {
    // Every plan that is made would search.
    assert!(move_alike(&planned_and_alone(|plans| (plans.calm, plans.content) = (0.0, 1.0))));
    assert!(!move_alike(&planned_and_alone(|plans| (plans.calm, plans.content) = (1.0, 1.0))));
}

#[test]
fn plans_look_ahead_with_the_sampler_of_the_loop_also_when_it_changes() {
    let mut changed = settings();
    changed.sampler.temperature = 0.6;
    let plan = ControlPlan::preset(Preset::Stand, 4.0, FRAME_RATE_HZ);
    let push = [Push { body: humanoid::SPINE2.0, impulse_ns: PUSHES[0], point: None }];
    let run = |config: &GeneratorConfig| -> Vec<GlobalPose> {
        let start = plan.start_gait();
        let terrain = HeightMap::flat(40.0, 0.5).unwrap();
        let mut generator = Generator::new(model(), terrain, config, start, 5).unwrap();
        generator.set_sampler(model(), &changed.sampler).unwrap();
        let pushes = |frame: usize| if frame == 5 { &push[..] } else { &[] };
        (0..40).map(|frame| generator.step(&plan, pushes(frame)).unwrap().simulated.pose).collect()
    };
    assert_eq!(run(&settings()), run(&changed));
}

#[test]
fn rejects_plans_without_balance() {
    let config = settings();
    let terrain = || HeightMap::flat(40.0, 0.5).unwrap();
    let plan = ControlPlan::preset(Preset::Walk, 4.0, FRAME_RATE_HZ);
    let start = plan.start_gait();
    let mut held = config.clone();
    held.layers.balance_policy.enabled = false;
    held.dynamic.balance.enabled = false;
    let told = Generator::new(model(), terrain(), &held, start, 5).err().unwrap().to_string();
    assert!(told.contains("layers.balance_planning.enabled"), "{told}");
}

/// Two stand face to face, so near that they touch when one is pushed against the other.
#[test]
fn a_pushed_body_that_plans_stays_up_beside_another_and_nothing_acts_from_outside() {
    let plan = ControlPlan::preset(Preset::Stand, 4.0, FRAME_RATE_HZ);
    let run = |settings: &GeneratorConfig, other_z: f32, push: Vec3| {
        let setup = |z: f32, yaw: f32| CharacterSetup {
            settings: settings.clone(),
            start: plan.start_gait(),
            seed: 11,
            position: Vec2::new(0.0, z),
            yaw,
        };
        let terrain = HeightMap::flat(40.0, 0.5).unwrap();
        let mut ensemble = Ensemble::new(model(), &terrain, &[setup(0.0, 0.0), setup(other_z, PI)]).unwrap();
        let push = [Push { body: humanoid::SPINE2.0, impulse_ns: push, point: None }];
        let (mut up, mut exchanged) = ([false; 2], 0.0f32);
        for frame in 0..FRAMES {
            let pushes = if frame == PUSHED_AT { &push[..] } else { &[] };
            let inputs = [pushes, &[]].map(|pushes| CharacterInput { plan: &plan, pushes });
            let steps = ensemble.step(&inputs).unwrap();
            for (up, StepOutput { simulated, .. }) in up.iter_mut().zip(&steps) {
                assert_eq!((simulated.assist_force, simulated.assist_torque), (Vec3::ZERO, Vec3::ZERO));
                *up = simulated.pose.positions[humanoid::HIPS.0].y > 0.7;
            }
            exchanged += steps[0].simulated.character_impulse.iter().copied().sum::<Vec3>().length();
        }
        (up, exchanged)
    };
    let mut planned = settings();
    planned.layers.fall_recovery.get_up.assisted = false;
    let mut without = planned.clone();
    without.layers.balance_planning.enabled = false;
    let far = PUSHES.map(|push| [run(&planned, 6.0, push).0[0], run(&without, 6.0, push).0[0]]);
    let (near, exchanged) = run(&planned, 0.9, Vec3::Z * 60.0);
    println!(
        "up with plans, without, beside one far off: {far:?}; {exchanged:.0} N·s with one who is near, up: {near:?}"
    );
    let count = |which: usize| far.iter().filter(|up| up[which]).count();
    assert!(count(0) >= 3 && count(1) <= 2, "{far:?}");
    assert!(exchanged > 5.0 && near[0], "{exchanged} {near:?}");
}
