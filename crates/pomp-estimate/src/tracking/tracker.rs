use super::observation::{BodyState, body_state, observe};
use super::reward::errors;
use super::{ACTION, FRAMES_PER_STEP, Reference, reward};
use glam::{Quat, Vec3};
use pomp_motion::{FALL_AFTER_S, FALL_HEIGHT, FALL_TILT_DEG};
use pomp_motion::{Pose, humanoid, rotation};
use pomp_physics::{DynamicConfig, DynamicModule, Expectation, FallDetector, PhysicsError, Push};
use std::sync::Arc;

/// What an action is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// Rotations of the joints' targets beyond those of the clip's next pose; the drives hold the joints on them.
    Rotations,
    /// Torques of the joints; the drives hold nothing.
    Torques,
}

/// How the ragdoll is driven.
#[derive(Clone, Debug)]
pub struct TrackingConfig {
    /// The ragdoll. With `balance` enabled its legs hold it up and `assist` counts for nothing.
    pub dynamic: DynamicConfig,
    /// What an action is.
    pub action: ActionKind,
    /// Rotation of an action of 1, radians.
    pub rotation_scale_rad: f32,
    /// Whether the external root assist acts.
    pub assist: bool,
}

/// What a step gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepResult {
    /// 0 to 1 ([`reward`]).
    pub reward: f32,
    /// Whether the body has been down for longer than [`FALL_AFTER_S`], or its simulation diverged.
    pub fallen: bool,
    /// Whether no step is left of the clip.
    pub ended: bool,
}

/// A ragdoll that tracks a clip, in a world of its own.
pub struct Tracker {
    reference: Arc<Reference>,
    config: TrackingConfig,
    module: DynamicModule,
    detector: FallDetector,
    torque_scale_nm: Vec<f32>,
    frame: usize,
    down_frames: usize,
    feet_ns: [f32; 4],
    state: BodyState,
}

/// Feet and toes, in the order of observations.
const FEET: [usize; 4] =
    [humanoid::LEFT_FOOT.0, humanoid::LEFT_TOE.0, humanoid::RIGHT_FOOT.0, humanoid::RIGHT_TOE.0];

impl Tracker {
    /// A ragdoll at the first frame of the clip.
    ///
    /// # Errors
    /// What the simulator refuses.
    pub fn new(reference: Arc<Reference>, config: TrackingConfig) -> Result<Self, PhysicsError> {
        let mut module = DynamicModule::new(reference.skeleton(), &config.dynamic, reference.terrain.grid())?;
        module.set_assist_scale(if config.assist || config.dynamic.balance.enabled { 1.0 } else { 0.0 });
        let state = reference.states[0].clone();
        let mut tracker = Self {
            detector: FallDetector::new(reference.skeleton(), FALL_HEIGHT, FALL_TILT_DEG),
            torque_scale_nm: (0..module.body_names().len())
                .map(|joint| module.feed_forward_limit_nm(joint))
                .collect(),
            reference,
            config,
            module,
            frame: 0,
            down_frames: 0,
            feet_ns: [0.0; 4],
            state,
        };
        tracker.reset(0)?;
        Ok(tracker)
    }

    /// Puts the ragdoll on the clip at `frame`, moving as the clip does. A frame beyond [`Reference::starts`] is the last start.
    ///
    /// # Errors
    /// What the simulator refuses.
    pub fn reset(&mut self, frame: usize) -> Result<(), PhysicsError> {
        self.frame = frame.min(self.reference.starts() - 1);
        self.module.reset(self.reference.pose(self.frame), &self.reference.velocity(self.frame))?;
        self.down_frames = 0;
        self.feet_ns = [0.0; 4];
        self.look();
        Ok(())
    }

    /// One step; `action` is of [`ACTION`] numbers, clamped to −1 to 1. After the end of the clip its last pose is the target.
    ///
    /// # Errors
    /// An action of another size or with a number that is not finite, and what the simulator refuses.
    pub fn step(&mut self, action: &[f32], pushes: &[Push]) -> Result<StepResult, PhysicsError> {
        if action.len() != ACTION {
            return Err(PhysicsError::SizeMismatch { what: "action", expected: ACTION, found: action.len() });
        }
        if let Some(at) = action.iter().position(|value| !value.is_finite()) {
            return Err(PhysicsError::NotFinite { what: format!("number {at} of the action") });
        }
        let asked: Vec<Vec3> = std::iter::once(Vec3::ZERO)
            .chain(
                action.chunks_exact(3).map(|three| Vec3::from_slice(three).clamp(Vec3::NEG_ONE, Vec3::ONE)),
            )
            .collect();
        let expected = (self.config.action == ActionKind::Torques).then(|| {
            let torques =
                asked.iter().zip(&self.torque_scale_nm).map(|(share, scale)| *share * *scale).collect();
            Expectation::of_torques(torques, self.config.dynamic.gravity_m_s2)
        });
        let turns: Option<Vec<Quat>> = (self.config.action == ActionKind::Rotations).then(|| {
            asked.iter().map(|turn| rotation::exp(*turn * self.config.rotation_scale_rad)).collect()
        });
        let mut diverged = false;
        for frame in 0..FRAMES_PER_STEP {
            let target = |frame: usize| turned(self.reference.pose(frame), turns.as_deref());
            let (from, to) = (target(self.frame), target(self.frame + 1));
            let now = if frame == 0 { pushes } else { &[] };
            let simulated = self.module.step_expecting(&from, &to, now, expected.as_ref())?;
            self.frame += 1;
            let hips = simulated.pose.positions[humanoid::HIPS.0];
            let is_down =
                self.detector.is_down(&simulated.pose, self.reference.terrain.height(hips.x, hips.z));
            self.down_frames = if is_down { self.down_frames + 1 } else { 0 };
            self.feet_ns = FEET.map(|foot| simulated.contact_impulse[foot].y);
            diverged |= simulated.recovered.is_some();
        }
        self.look();
        let clip = &self.reference.states[self.frame.min(self.reference.last())];
        Ok(StepResult {
            reward: reward(&errors(self.reference.skeleton(), &self.state, clip)),
            fallen: diverged || self.down_frames as f32 * self.module.frame_s() > FALL_AFTER_S,
            ended: self.frame + FRAMES_PER_STEP > self.reference.last(),
        })
    }

    /// Appends what the ragdoll sees: [`super::OBSERVATION`] numbers.
    pub fn observe(&self, out: &mut Vec<f32>) {
        observe(&self.reference, &self.state, self.frame, self.feet_ns, out);
    }

    /// The ragdoll.
    pub fn module(&self) -> &DynamicModule {
        &self.module
    }

    /// Frame of the clip that the ragdoll is at.
    pub fn frame(&self) -> usize {
        self.frame
    }

    fn look(&mut self) {
        self.state = body_state(self.reference.skeleton(), self.module.pose(), &self.module.velocity());
    }
}

/// The pose with its joints turned, each in the frame of its parent.
fn turned(pose: &Pose, turns: Option<&[Quat]>) -> Pose {
    let mut pose = pose.clone();
    if let Some(turns) = turns {
        let joints = pose.local_rotations.iter_mut().zip(turns).skip(1);
        joints.for_each(|(joint, turn)| *joint = (*turn * *joint).normalize());
    }
    pose
}
