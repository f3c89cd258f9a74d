//! A whole run, recorded.

use crate::closed_loop::FRAME_RATE_HZ;
use crate::{ControlPlan, Generator, GeneratorError, ScheduledThrow};
use glam::Vec3;
use pomp_motion::{
    ESTIMATED_BY_SIMULATION, FrameTable, GenerationTrack, GlobalPose, PushRecord, Recording, SimulationTrack,
};
use pomp_physics::Push;
use std::sync::Arc;

/// A push to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduledPush {
    /// When, seconds from the start.
    pub time_s: f32,
    /// Which body, index into [`Generator::body_names`].
    pub body: usize,
    /// Impulse, N·s, world.
    pub impulse_ns: Vec3,
}

/// The frame of a rollout in which a push at `time_s` acts.
pub(crate) fn push_frame(time_s: f32) -> usize {
    (time_s * FRAME_RATE_HZ).round() as usize
}

/// Runs `generator` along `plan` for `frames` frames with `pushes`, and records it. `after_step` is called after
/// every frame with its index and gives the frame's cost in microseconds (the caller owns the clock: what it
/// says is recorded and nothing else depends on it).
///
/// The recording's positions are the simulated ones: what a viewer sees is what physics made of the targets.
///
/// # Errors
/// What [`Generator::step`] says.
pub fn record(
    generator: &mut Generator,
    name: &str,
    plan: &ControlPlan,
    pushes: &[ScheduledPush],
    frames: usize,
    after_step: impl FnMut(usize) -> f32,
) -> Result<Recording, GeneratorError> {
    record_with_throws(generator, name, plan, (pushes, &[], 0.0), frames, after_step)
}

/// [`record`] with pushes, boxes and the gravity (m/s²) that these are aimed under.
pub(crate) fn record_with_throws(
    generator: &mut Generator,
    name: &str,
    plan: &ControlPlan,
    (pushes, throws, gravity_m_s2): (&[ScheduledPush], &[ScheduledThrow], f32),
    frames: usize,
    mut after_step: impl FnMut(usize) -> f32,
) -> Result<Recording, GeneratorError> {
    let skeleton = Arc::new(generator.skeleton().clone());
    let (joints, bodies) = (skeleton.len(), generator.body_names().len());
    let mut poses: Vec<GlobalPose> = Vec::with_capacity(frames);
    let mut velocities = FrameTable::with_columns(joints);
    let mut targets = FrameTable::with_columns(joints);
    let mut impulses = FrameTable::with_columns(bodies);
    let (mut forces, mut torques) = (Vec::with_capacity(frames), Vec::with_capacity(frames));
    let (mut gaits, mut control, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let mut phases: Option<FrameTable<f32>> = None;
    let mut records = Vec::new();
    for frame in 0..frames {
        let now: Vec<Push> = pushes
            .iter()
            .filter(|push| push_frame(push.time_s) == frame)
            .map(|push| Push { body: push.body, impulse_ns: push.impulse_ns, point: None })
            .collect();
        for throw in throws.iter().filter(|throw| throw.frame() == frame) {
            throw.throw(generator, &poses, gravity_m_s2)?;
        }
        let step = generator.step(plan, &now)?;
        records.extend(now.iter().map(|push| PushRecord {
            time_s: frame as f32 / FRAME_RATE_HZ,
            body: push.body,
            impulse_ns: push.impulse_ns,
            point: step.simulated.pose.positions[push.body],
        }));
        times.push(after_step(frame));
        velocities.push(&step.simulated.velocities);
        targets.push(&step.target.positions);
        impulses.push(&step.simulated.contact_impulse);
        forces.push(step.simulated.assist_force);
        torques.push(step.simulated.assist_torque);
        gaits.push(step.gait);
        let c = step.control;
        control.push([c.position.x, c.position.y, c.yaw, c.speed_mps]);
        phases.get_or_insert_with(|| FrameTable::with_columns(step.phase_code.len())).push(&step.phase_code);
        poses.push(step.simulated.pose);
    }
    let mut recording = Recording::of_global_poses(name, skeleton, FRAME_RATE_HZ, &poses);
    recording.velocities = velocities.clone();
    recording.gait = gaits;
    recording.phase = phases;
    recording.terrain = Some(generator.terrain().grid().clone());
    recording.simulation = Some(SimulationTrack {
        body_names: generator.body_names().to_vec(),
        body_mass_kg: generator.body_masses().to_vec(),
        contact_impulse: impulses.clone(),
        impulse_estimator: ESTIMATED_BY_SIMULATION.to_owned(),
        sim_contact_impulse: impulses,
        positions: recording.positions.clone(),
        quaternions: recording.quaternions.clone(),
        velocities,
        assist_force: forces,
        assist_torque: torques,
    });
    recording.generation = Some(GenerationTrack {
        target_positions: targets,
        pushes: records,
        control,
        frame_time_us: Some(times),
    });
    Ok(recording)
}
