//! A whole run, recorded.

use crate::{ControlPlan, Dynamics, Generator, GeneratorError, ScheduledThrow, StepOutput};
use glam::Vec3;
use pomp_motion::FRAME_RATE_HZ;
use pomp_motion::{
    ContactConfig, ESTIMATED_BY_SIMULATION, FrameTable, Gait, GenerationTrack, GlobalPose, PushRecord,
    Recording, SimulationTrack, foot_contacts_of_positions,
};
use pomp_physics::Push;
use std::ops::ControlFlow;
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
    mut after_step: impl FnMut(usize) -> f32,
) -> Result<Recording, GeneratorError> {
    record_while(generator, name, plan, pushes, frames, |frame| ControlFlow::Continue(after_step(frame)))
}

/// [`record`], which `after_step` stops with `Break`.
///
/// # Errors
/// What [`record`] says, and [`GeneratorError::Stopped`].
pub fn record_while(
    generator: &mut Generator,
    name: &str,
    plan: &ControlPlan,
    pushes: &[ScheduledPush],
    frames: usize,
    after_step: impl FnMut(usize) -> ControlFlow<(), f32>,
) -> Result<Recording, GeneratorError> {
    record_with_throws(generator, name, plan, (pushes, &[], 0.0), frames, after_step)
}

/// [`record_while`] with pushes, boxes and the gravity (m/s²) that these are aimed under.
pub(crate) fn record_with_throws(
    generator: &mut Generator,
    name: &str,
    plan: &ControlPlan,
    (pushes, throws, gravity_m_s2): (&[ScheduledPush], &[ScheduledThrow], f32),
    frames: usize,
    mut after_step: impl FnMut(usize) -> ControlFlow<(), f32>,
) -> Result<Recording, GeneratorError> {
    let mut recorder = Recorder::new(generator, frames);
    for frame in 0..frames {
        let now = pushes_at(pushes, frame);
        for throw in throws.iter().filter(|throw| throw.frame() == frame) {
            throw.throw(generator, recorder.poses(), gravity_m_s2)?;
        }
        let step = generator.step(plan, &now)?;
        let ControlFlow::Continue(time_us) = after_step(frame) else {
            return Err(GeneratorError::Stopped { frame });
        };
        recorder.add(frame, &now, step, time_us);
    }
    Ok(recorder.finish(generator, name))
}

/// Labels the contacts of a rollout, made with `dynamics`: by force where it was simulated, else by height and speed, as
/// preprocessing does in mocap.
pub fn label_contacts(recording: &mut Recording, dynamics: Dynamics) {
    let felt = recording.simulation.as_ref().and_then(SimulationTrack::foot_contact);
    recording.foot_contact = match (dynamics, felt) {
        (Dynamics::Simulated, Some(felt)) => felt,
        _ => foot_contacts_of_positions(
            &recording.skeleton,
            &recording.positions,
            recording.frame_rate_hz,
            &ContactConfig::default(),
        )
        .expect("a recording has positions of all joints"),
    };
}

/// The pushes that act in a frame.
pub(crate) fn pushes_at(pushes: &[ScheduledPush], frame: usize) -> Vec<Push> {
    pushes
        .iter()
        .filter(|push| push_frame(push.time_s) == frame)
        .map(|push| Push { body: push.body, impulse_ns: push.impulse_ns, point: None })
        .collect()
}

/// What a run gave so far.
pub(crate) struct Recorder {
    /// Frames that the generator had done before.
    first: usize,
    poses: Vec<GlobalPose>,
    velocities: FrameTable<Vec3>,
    targets: FrameTable<Vec3>,
    impulses: FrameTable<Vec3>,
    forces: Vec<Vec3>,
    torques: Vec<Vec3>,
    joint_torques: FrameTable<f32>,
    contact_points: FrameTable<Vec3>,
    gaits: Vec<[f32; Gait::COUNT]>,
    control: Vec<[f32; 4]>,
    times: Vec<f32>,
    phases: Option<FrameTable<f32>>,
    pushes: Vec<PushRecord>,
}

impl Recorder {
    /// Nothing yet of `generator`, with room for `frames`.
    pub fn new(generator: &Generator, frames: usize) -> Self {
        let (joints, bodies) = (generator.skeleton().len(), generator.body_names().len());
        Self {
            first: generator.frames(),
            poses: Vec::with_capacity(frames),
            velocities: FrameTable::with_columns(joints),
            targets: FrameTable::with_columns(joints),
            impulses: FrameTable::with_columns(bodies),
            forces: Vec::with_capacity(frames),
            torques: Vec::with_capacity(frames),
            joint_torques: FrameTable::with_columns(bodies),
            contact_points: FrameTable::with_columns(bodies),
            gaits: Vec::new(),
            control: Vec::new(),
            times: Vec::new(),
            phases: None,
            pushes: Vec::new(),
        }
    }

    /// The simulated poses so far.
    pub fn poses(&self) -> &[GlobalPose] {
        &self.poses
    }

    /// Takes in what `frame` gave.
    pub fn add(&mut self, frame: usize, pushes: &[Push], step: StepOutput, time_us: f32) {
        self.pushes.extend(pushes.iter().map(|push| PushRecord {
            time_s: frame as f32 / FRAME_RATE_HZ,
            body: push.body,
            impulse_ns: push.impulse_ns,
            point: step.simulated.pose.positions[push.body],
        }));
        self.times.push(time_us);
        self.velocities.push(&step.simulated.velocities);
        self.targets.push(&step.target.positions);
        self.impulses.push(&step.simulated.contact_impulse);
        self.forces.push(step.simulated.assist_force);
        self.torques.push(step.simulated.assist_torque);
        self.joint_torques.push(&step.simulated.joint_torque);
        self.contact_points.push(&step.simulated.contact_point);
        self.gaits.push(step.gait);
        let c = step.control;
        self.control.push([c.position.x, c.position.y, c.yaw, c.speed_mps]);
        let width = step.phase_code.len();
        self.phases.get_or_insert_with(|| FrameTable::with_columns(width)).push(&step.phase_code);
        self.poses.push(step.simulated.pose);
    }

    /// The recording of it all.
    pub fn finish(self, generator: &Generator, name: &str) -> Recording {
        let skeleton = Arc::new(generator.skeleton().clone());
        let mut recording = Recording::of_global_poses(name, skeleton, FRAME_RATE_HZ, &self.poses);
        recording.velocities = self.velocities.clone();
        recording.gait = self.gaits;
        recording.phase = self.phases;
        recording.terrain = Some(generator.terrain().grid().clone());
        recording.simulation = Some(SimulationTrack {
            body_names: generator.body_names().to_vec(),
            body_mass_kg: generator.body_masses().to_vec(),
            contact_impulse: self.impulses.clone(),
            impulse_estimator: ESTIMATED_BY_SIMULATION.to_owned(),
            sim_contact_impulse: self.impulses,
            positions: recording.positions.clone(),
            quaternions: recording.quaternions.clone(),
            velocities: self.velocities,
            assist_force: self.forces,
            assist_torque: self.torques,
        });
        label_contacts(&mut recording, generator.dynamics());
        recording.efforts = (generator.dynamics() == Dynamics::Simulated)
            .then(|| crate::efforts::recorded(generator, self.joint_torques, self.contact_points));
        recording.generation = Some(GenerationTrack {
            target_positions: self.targets,
            pushes: self.pushes,
            control: self.control,
            frame_time_us: Some(self.times),
            ground_offset: generator.ground_motion().offsets_m(self.first..self.first + self.poses.len()),
        });
        recording
    }
}
