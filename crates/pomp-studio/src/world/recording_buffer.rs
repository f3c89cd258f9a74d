use crate::StudioError;
use glam::Vec3;
use pomp_generator::{FRAME_RATE_HZ, Generator, StepOutput, efforts, label_contacts};
use pomp_motion::{FrameTable, GenerationTrack, GlobalPose, PushRecord, Recording};
use pomp_physics::SimulationRecorder;
use std::collections::VecDeque;
use std::sync::Arc;

/// The last frames of a world, as many as fit; older ones are forgotten.
#[derive(Debug)]
pub struct RecordingBuffer {
    frames: VecDeque<(StepOutput, f32)>,
    /// Frame of the world that comes first in `frames`.
    first: u32,
    pushes: Vec<(u32, PushRecord)>,
    most: usize,
}

impl RecordingBuffer {
    /// Room for `seconds`.
    pub fn new(seconds: f32) -> Self {
        let most = (seconds * FRAME_RATE_HZ).ceil().max(1.0) as usize;
        Self { frames: VecDeque::new(), first: 0, pushes: Vec::new(), most }
    }

    /// Appends a frame that took `frame_time_us`.
    pub fn push(&mut self, output: StepOutput, frame_time_us: f32) {
        if self.frames.len() == self.most {
            self.frames.pop_front();
            self.first += 1;
        }
        self.frames.push_back((output, frame_time_us));
    }

    /// Notes that a push began to act in `frame`.
    pub fn push_began(&mut self, frame: u32, body: usize, impulse_ns: Vec3, point: Vec3) {
        self.pushes.push((frame, PushRecord { time_s: 0.0, body, impulse_ns, point }));
    }

    /// Forgets every frame from `frame` on.
    pub fn truncate(&mut self, frame: u32) {
        self.frames.truncate(frame.saturating_sub(self.first) as usize);
        self.pushes.retain(|(at, _)| *at < frame);
    }

    /// Number of frames held.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// World pose of the last frame.
    pub fn last_pose(&self) -> Option<&GlobalPose> {
        self.frames.back().map(|(output, _)| &output.simulated.pose)
    }

    /// Everything held as one recording, as `pomp generate` writes them.
    ///
    /// # Errors
    /// [`StudioError::NothingRecorded`] before the first frame.
    pub fn to_recording(&self, generator: &Generator, source: String) -> Result<Recording, StudioError> {
        if self.is_empty() {
            return Err(StudioError::NothingRecorded);
        }
        let skeleton = Arc::new(generator.skeleton().clone());
        let joints = skeleton.len();
        let poses: Vec<GlobalPose> = self.outputs().map(|output| output.simulated.pose.clone()).collect();
        let mut recording = Recording::of_global_poses("studio", skeleton, FRAME_RATE_HZ, &poses);
        let mut recorder =
            SimulationRecorder::new(generator.body_names(), generator.body_masses(), self.len());
        let mut targets = FrameTable::with_columns(joints);
        let codes = self.outputs().next().map_or(0, |output| output.phase_code.len());
        let mut phase = FrameTable::with_columns(codes);
        for output in self.outputs() {
            recorder.record(&output.simulated);
            targets.push(&output.target.positions);
            phase.push(&output.phase_code);
        }
        recording.gait = self.outputs().map(|output| output.gait).collect();
        recording.phase = (codes > 0).then_some(phase);
        recording.terrain = Some(generator.terrain().grid().clone());
        let simulation = recorder.finish();
        recording.velocities.clone_from(&simulation.velocities);
        recording.simulation = Some(simulation);
        label_contacts(&mut recording, generator.dynamics());
        recording.efforts = efforts(generator, self.outputs().map(|output| &output.simulated));
        recording.generation = Some(GenerationTrack {
            target_positions: targets,
            pushes: self.pushes.iter().filter_map(|(frame, push)| self.in_time(*frame, *push)).collect(),
            control: self
                .outputs()
                .map(|output| {
                    let c = output.control;
                    [c.position.x, c.position.y, c.yaw, c.speed_mps]
                })
                .collect(),
            frame_time_us: Some(self.frames.iter().map(|(_, time)| *time).collect()),
            ground_offset: {
                let first = self.first as usize;
                generator.ground_motion().offsets_m(first..first + self.frames.len())
            },
        });
        recording.source = source;
        recording.license = "as the model's training data: see its model card".to_owned();
        recording.validate()?;
        Ok(recording)
    }

    fn outputs(&self) -> impl Iterator<Item = &StepOutput> {
        self.frames.iter().map(|(output, _)| output)
    }

    /// The push with its time in the recording, unless it acted before the first frame that is still held.
    fn in_time(&self, frame: u32, push: PushRecord) -> Option<PushRecord> {
        let since = frame.checked_sub(self.first)?;
        Some(PushRecord { time_s: since as f32 / FRAME_RATE_HZ, ..push })
    }
}
