//! One run of a method in a scenario, recorded.

use crate::BenchError;
use crate::config::{Method, MethodKind, PlannedPush, Scenario};
use crate::matched_character::MatchedCharacter;
use crate::mocap::poses;
use crate::world::World;
use glam::Vec2;
use pomp_controllers::matching::MatchingDatabase;
use pomp_generator::{
    CharacterSetup, ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Networks, ScheduledPush, record,
};
use pomp_motion::{
    ContactConfig, FrameTable, GenerationTrack, GlobalPose, Pose, PushRecord, Recording, foot_contacts,
};
use pomp_physics::{DynamicConfig, DynamicModule, PoseVelocity, Push, SimulationRecorder};
use pomp_terrain::{HeightMap, TerrainSpec};
use pomp_train::TrainingClip;
use std::sync::Arc;
use std::time::Instant;

/// Ground beyond the farthest point of the plan, metres.
const TERRAIN_MARGIN_M: f32 = 8.0;
/// Least length of a clip that is shown, seconds: phases are read from windows of two.
const LEAST_CLIP_S: f32 = 2.4;
/// Least time after a push in a tracked clip, seconds.
const AFTER_PUSH_S: f32 = 2.0;

/// What a run gave.
pub(crate) struct Rollout {
    /// The motion; it holds no clock readings.
    pub recording: Recording,
    /// The ground.
    pub terrain: HeightMap,
    /// Wall time of each frame, microseconds; empty where nothing is generated.
    pub frame_us: Vec<f32>,
}

/// How many runs of a method a scenario has: one per clip at most for methods that show clips.
pub(crate) fn runs(world: &World, method: &Method, scenario: &Scenario) -> usize {
    if method.shows_clips() { scenario.runs.min(clips(world, method, scenario).len()) } else { scenario.runs }
}

/// Clips that a method may show.
fn clips<'a>(world: &'a World, method: &Method, scenario: &Scenario) -> Vec<&'a TrainingClip> {
    let Some(mocap) = &world.mocap else { return Vec::new() };
    match &method.kind {
        MethodKind::Mocap {} => mocap.held_out_of(&scenario.gaits, LEAST_CLIP_S),
        _ => {
            let after_push =
                scenario.push.as_ref().map_or(0.0, |push| push.from_s + push.span_s + AFTER_PUSH_S);
            mocap.trackable(&scenario.gaits, after_push.max(LEAST_CLIP_S))
        }
    }
}

/// Name of the clip that a run shows, if it shows one.
pub(crate) fn subject(world: &World, method: &Method, scenario: &Scenario, run: usize) -> Option<String> {
    method.shows_clips().then(|| clips(world, method, scenario)[run].recording.name.clone())
}

/// Runs a method.
pub(crate) fn rollout(
    world: &World,
    method: &Method,
    scenario: &Scenario,
    run: usize,
    seed: u64,
) -> Result<Rollout, BenchError> {
    let push = scenario.push.as_ref().map(|design| design.of_run(run));
    match &method.kind {
        MethodKind::ClosedLoop(config) => closed_loop(world, config, scenario, (run, push), seed),
        MethodKind::MotionMatching(features) => {
            matched(world.matching(*features, method, scenario)?, scenario, run, seed)
        }
        MethodKind::TrackedClip {} => tracked(clips(world, method, scenario)[run], push),
        MethodKind::Mocap {} => {
            let clip = clips(world, method, scenario)[run];
            let recording = Recording { simulation: None, ..clip.recording.clone() };
            Ok(Rollout { recording, terrain: clip.terrain.clone(), frame_us: Vec::new() })
        }
    }
}

/// A ground, large enough for a path.
pub(crate) fn ground(terrain: &TerrainSpec, reach_m: f32, seed: u64) -> Result<HeightMap, BenchError> {
    Ok(pomp_terrain::generate(&terrain.clone().reaching(reach_m + TERRAIN_MARGIN_M), seed)?)
}

fn closed_loop(
    world: &World,
    config: &GeneratorConfig,
    scenario: &Scenario,
    (run, push): (usize, Option<PlannedPush>),
    seed: u64,
) -> Result<Rollout, BenchError> {
    let plan = scenario.plan(run)?;
    let terrain = ground(&scenario.terrain, plan.reach_m(), seed)?;
    let (position, yaw) = scenario.beginnings.map_or((Vec2::ZERO, 0.0), |design| design.of_run(run));
    let start = plan.start_gait();
    let setup = CharacterSetup { settings: config.clone(), start, seed, position, yaw };
    let networks = Networks::new(&world.model, config)?;
    let mut generator = Generator::with_networks(&world.model, &networks, terrain.clone(), &setup)?;
    let pushes: Vec<ScheduledPush> = push
        .iter()
        .map(|push| ScheduledPush { time_s: push.time_s, body: push.body, impulse_ns: push.impulse_ns })
        .collect();
    let (mut recording, frame_us) =
        timed_record(&mut generator, &scenario.name, &plan, &pushes, scenario.frames())?;
    if let Some(generation) = &mut recording.generation {
        generation.frame_time_us = None;
    }
    if config.dynamics == pomp_generator::Dynamics::KinematicOnly {
        recording.simulation = None;
    }
    Ok(Rollout { recording, terrain, frame_us })
}

/// Records a run, and the wall time of each of its frames, µs.
pub(crate) fn timed_record(
    generator: &mut Generator,
    name: &str,
    plan: &ControlPlan,
    pushes: &[ScheduledPush],
    frames: usize,
) -> Result<(Recording, Vec<f32>), BenchError> {
    let mut frame_us = Vec::with_capacity(frames);
    let mut clock = Instant::now();
    let recording = record(generator, name, plan, pushes, frames, |_| {
        frame_us.push(clock.elapsed().as_secs_f32() * 1e6);
        clock = Instant::now();
        0.0
    })?;
    Ok((recording, frame_us))
}

fn matched(
    database: &Arc<MatchingDatabase>,
    scenario: &Scenario,
    run: usize,
    seed: u64,
) -> Result<Rollout, BenchError> {
    let plan = scenario.plan(run)?;
    let terrain = ground(&scenario.terrain, plan.reach_m(), seed)?;
    let skeleton = Arc::clone(database.skeleton());
    let mut character = MatchedCharacter::new(Arc::clone(database), &plan, run);
    let (mut found, mut control, mut frame_us) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..scenario.frames() {
        let clock = Instant::now();
        let wanted = plan.at(character.plan_frame());
        let pose = character.step(&plan, &terrain)?;
        frame_us.push(clock.elapsed().as_secs_f32() * 1e6);
        control.push([wanted.position.x, wanted.position.y, wanted.yaw, wanted.speed_mps]);
        found.push(skeleton.forward_kinematics(&pose));
    }
    let mut recording = Recording::of_global_poses(&scenario.name, skeleton, FRAME_RATE_HZ, &found);
    recording.terrain = Some(terrain.grid().clone());
    recording.generation = Some(GenerationTrack {
        target_positions: recording.positions.clone(),
        pushes: Vec::new(),
        frame_time_us: None,
        ground_offset: None,
        control,
    });
    // Nobody simulated it: as preprocessing finds them in mocap.
    recording.foot_contact = foot_contacts(&recording.to_clip()?, &ContactConfig::default());
    Ok(Rollout { recording, terrain, frame_us })
}

fn tracked(clip: &TrainingClip, push: Option<PlannedPush>) -> Result<Rollout, BenchError> {
    let source = &clip.recording;
    let targets: Vec<Pose> = source.to_clip()?.poses;
    let dynamic = DynamicConfig::for_recorded_motion();
    let mut module = DynamicModule::new(&source.skeleton, &dynamic, clip.terrain.grid())?;
    let frame_s = module.frame_s();
    module.reset(&targets[0], &PoseVelocity::between(&targets[0], &targets[1], frame_s))?;
    let mut recorder = SimulationRecorder::new(module.body_names(), module.body_masses(), targets.len() - 1);
    let (mut found, mut pushes) = (Vec::<GlobalPose>::new(), Vec::new());
    for frame in 1..targets.len() {
        let now = push.filter(|push| (push.time_s * FRAME_RATE_HZ).round() as usize == frame - 1);
        let applied: Vec<Push> = now
            .iter()
            .map(|push| Push { body: push.body, impulse_ns: push.impulse_ns, point: None })
            .collect();
        let step = module.step(&targets[frame - 1], &targets[frame], &applied)?;
        pushes.extend(now.map(|push| PushRecord {
            time_s: (frame - 1) as f32 / FRAME_RATE_HZ,
            body: push.body,
            impulse_ns: push.impulse_ns,
            point: step.pose.positions[push.body],
        }));
        recorder.record(&step);
        found.push(step.pose);
    }
    let skeleton = Arc::clone(&source.skeleton);
    let mut recording = Recording::of_global_poses(&source.name, skeleton, FRAME_RATE_HZ, &found);
    recording.gait = source.gait[1..].to_vec();
    recording.terrain.clone_from(&source.terrain);
    let mut target_positions = FrameTable::with_columns(source.skeleton.len());
    poses(source)[1..].iter().for_each(|pose| target_positions.push(&pose.positions));
    let control = (1..targets.len())
        .map(|frame| {
            let [x, z, yaw, _] = source.root[frame];
            let velocity = source.velocities[frame][0];
            [x, z, yaw, velocity.x.hypot(velocity.z)]
        })
        .collect();
    recording.simulation = Some(recorder.finish());
    recording.generation =
        Some(GenerationTrack { target_positions, pushes, control, frame_time_us: None, ground_offset: None });
    Ok(Rollout { recording, terrain: clip.terrain.clone(), frame_us: Vec::new() })
}
