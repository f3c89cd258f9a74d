//! A character that motion matching leads along a plan, without physics.

use crate::BenchError;
use glam::{Vec2, Vec3};
use pomp_controllers::Controller;
use pomp_controllers::matching::{MatchingController, MatchingDatabase, Place};
use pomp_generator::{ControlPlan, FRAME_RATE_HZ};
use pomp_motion::features::{
    CharacterState, FUTURE_KEYS, InputFrame, KEY_OFFSETS, KEYS, OutputFrame, PAST_KEYS, WindowKey,
};
use pomp_motion::{PerJoint, Pose, RootFrame};
use pomp_terrain::HeightMap;
use std::sync::Arc;

/// Distance to its path that a command leads back by within a second, metres.
const LEAD_BACK_M: f32 = 1.0;
/// Lag along the path beyond which the plan begins to wait, and at which it stands still, metres.
const WAITS_M: [f32; 2] = [0.25, 1.0];

/// A character that plays the clips of a [`MatchingDatabase`] along a plan, exactly as its controller proposes.
pub struct MatchedCharacter {
    controller: MatchingController,
    state: CharacterState,
    /// Where on the plan it is, in plan frames.
    plan_frame: f32,
}

impl MatchedCharacter {
    /// A character at the origin, facing +Z, in the frame whose path is the `choice`-th nearest, counted from 0, to what `plan` asks
    /// for.
    pub fn new(database: Arc<MatchingDatabase>, plan: &ControlPlan, choice: usize) -> Self {
        let frame = RootFrame { origin: Vec3::ZERO, yaw: 0.0 };
        let mut controller = MatchingController::new(database);
        let asked = MatchingController::asked_of(&frame, &keys(plan, 0.0, &frame));
        controller.begin_by_path(&asked, choice);
        let state = CharacterState {
            frame,
            positions_root: PerJoint::new(),
            velocities_root: PerJoint::new(),
            rotations_local: PerJoint::new(),
            root_velocity: Vec2::ZERO,
            yaw_rate: 0.0,
        };
        Self { controller, state, plan_frame: 0.0 }
    }

    /// What is played.
    pub fn playing(&self) -> Option<Place> {
        self.controller.playing()
    }

    /// Where on the plan it is, in plan frames.
    pub fn plan_frame(&self) -> f32 {
        self.plan_frame
    }

    /// Moves on by one frame along `plan` over `terrain`: the new pose.
    ///
    /// # Errors
    /// A plan that is not finite.
    pub fn step(&mut self, plan: &ControlPlan, terrain: &HeightMap) -> Result<Pose, BenchError> {
        let input = InputFrame {
            state: &self.state,
            keys: &keys(plan, self.plan_frame, &self.state.frame),
            phase_codes: &[],
            contact_impulse: &[],
            weight_impulse_ns: 1.0,
        };
        let output: OutputFrame = self.controller.step(&input, &|x, z| terrain.height(x, z))?;
        let mut frame = output.next_frame(&self.state.frame, 1.0 / FRAME_RATE_HZ);
        frame.origin.y = terrain.smoothed_height(frame.origin.x, frame.origin.z);
        self.state = output.state_in(frame);
        self.plan_frame += pace(plan, self.plan_frame, &frame);
        Ok(self.state.to_pose())
    }
}

/// The window of a character in `frame`: the plan, moved to the character and led back to its own place, as the closed loop asks for
/// it. The past stays here: matching does not read it.
fn keys(plan: &ControlPlan, plan_frame: f32, frame: &RootFrame) -> [WindowKey; KEYS] {
    let now = Vec2::new(frame.origin.x, frame.origin.z);
    let plan_now = plan.at(plan_frame);
    let aside = (plan_now.position - now).clamp_length_max(LEAD_BACK_M);
    std::array::from_fn(|key| {
        if key <= PAST_KEYS {
            return WindowKey { position: now, yaw: frame.yaw, gait: plan_now.gait.one_hot() };
        }
        let wanted = plan.at(plan_frame + KEY_OFFSETS[key] as f32);
        let share = (key - PAST_KEYS) as f32 / (FUTURE_KEYS - 1) as f32;
        let position = now + (wanted.position - plan_now.position) + aside * share;
        WindowKey { position, yaw: wanted.yaw, gait: wanted.gait.one_hot() }
    })
}

/// Plan frames per frame: 1 unless the character has fallen behind.
fn pace(plan: &ControlPlan, plan_frame: f32, frame: &RootFrame) -> f32 {
    let now = plan.at(plan_frame);
    let behind = now.position - Vec2::new(frame.origin.x, frame.origin.z);
    let lag = behind.dot(Vec2::from(now.yaw.sin_cos()));
    let [from, to] = WAITS_M;
    // A plan that stands has nothing to wait for.
    if now.speed_mps < 0.05 { 1.0 } else { 1.0 - ((lag - from) / (to - from)).clamp(0.0, 1.0) }
}
