//! What a frame of the loop changes, and the window of x that is filled from it.

use crate::control::{ControlCursor, ControlPlan, ControlSample};
use crate::layers::Command;
use crate::start::Start;
use glam::{Vec2, Vec3};
use pomp_controllers::Controller;
use pomp_kinematic::CoherentNoise;
use pomp_motion::RootFrame;
use pomp_motion::features::{
    CharacterState, FUTURE_KEYS, FuturePhases, KEY_OFFSETS, KEYS, OutputFrame, PAST_KEYS, WindowCodes,
    WindowKey,
};
use pomp_motion::rotation::wrap_angle;
use std::collections::VecDeque;

/// What a frame of the loop changes beside the character and the layers. A clone is what a snapshot keeps of it.
#[derive(Clone)]
pub(crate) struct LoopState {
    /// Frames done. Written at the end of a frame; read by the ground's motion and by errors.
    pub frame: usize,
    /// Place on the plan. Written at the end of a frame; read where the window is filled.
    pub cursor: ControlCursor,
    /// The last second of root path, gaits and phase codes. Written after the phase encoding module; read where the window is
    /// filled, and by the phase encoding module.
    pub history: History,
    /// Phase codes of the present and the future keys, 2C each. Written by the phase encoding module and the layers after it;
    /// read where the window is filled.
    pub future_codes: FuturePhases,
    /// Contact impulse of each body in the last frame, N·s, world. Written after the dynamic module; read into x.
    pub contact_impulse: Vec<Vec3>,
    /// The last y. Written by the kinematic module; read where the window is filled and by the phase encoding module. `None`
    /// before the first frame and after getting up.
    pub prediction: Option<OutputFrame>,
    /// Noise of the sampler, which remembers from frame to frame. Written and read by the kinematic module.
    pub noise: CoherentNoise,
    /// How far the path has been displaced with the body, world x and z, metres. Written after the dynamic module; read where the
    /// window is filled and where the cursor moves on.
    pub aside: Vec2,
    /// The controller in place of the kinematic module, with what it remembers. Written and read where the window is filled.
    pub controller: Option<Box<dyn Controller>>,
    /// What that controller was shown last, where nothing is simulated or the body tracks its target: its own prediction. Written and
    /// read where the window is filled; moved with the body after the dynamic module.
    pub shown: Option<CharacterState>,
    /// Least rating of the frames since balance planning last looked. Written before the simulated frame is taken over; read where the
    /// window is filled.
    pub followed: f32,
    /// Share of the external root assist that the user leaves, 0 to 1. Written by the user; read by the dynamic module.
    pub assist_share: f32,
}

impl LoopState {
    /// Takes the past, phases and impulses of `start`; the window begins anew.
    pub fn restart(&mut self, start: Start) {
        self.history = History::new(start.history);
        self.future_codes = start.future_phase_codes;
        self.prediction = None;
        self.aside = Vec2::ZERO;
        if let Some(controller) = &mut self.controller {
            controller.restart();
        }
        self.shown = None;
    }

    /// Phase codes of all keys (`width` each): past from the history, present and future from the last frame.
    pub fn window_codes(&self, width: usize) -> WindowCodes {
        let mut codes = WindowCodes::with_capacity(KEYS * width);
        for offset in &KEY_OFFSETS[..=PAST_KEYS] {
            codes.extend_from_slice(&self.history.at(*offset).phase_codes);
        }
        codes.extend_from_slice(&self.future_codes[width..]);
        codes
    }
}

/// Frames of past that the window needs: one second and the present.
pub(crate) const HISTORY_FRAMES: usize = 61;

/// One past frame.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    pub key: WindowKey,
    pub phase_codes: Vec<f32>,
}

/// The last [`HISTORY_FRAMES`] frames, newest at the back.
#[derive(Clone, Debug)]
pub(crate) struct History {
    frames: VecDeque<Past>,
}

impl History {
    /// A history of exactly [`HISTORY_FRAMES`] frames, oldest first.
    pub fn new(frames: Vec<Past>) -> Self {
        assert_eq!(frames.len(), HISTORY_FRAMES, "the window needs its whole past");
        Self { frames: frames.into() }
    }

    /// Drops the oldest frame and appends the newest.
    pub fn push(&mut self, key: WindowKey, phase_codes: &[f32]) {
        let mut recycled = self.frames.pop_front().expect("the history is never empty");
        recycled.key = key;
        recycled.phase_codes.copy_from_slice(phase_codes);
        self.frames.push_back(recycled);
    }

    /// Becomes `other`, in the memory that is there.
    pub fn copy_from(&mut self, other: &Self) {
        for (frame, other) in self.frames.iter_mut().zip(&other.frames) {
            frame.key = other.key;
            frame.phase_codes.copy_from_slice(&other.phase_codes);
        }
    }

    /// Changes the key of every frame.
    pub fn each_key(&mut self, mut change: impl FnMut(&mut WindowKey)) {
        self.frames.iter_mut().for_each(|frame| change(&mut frame.key));
    }

    /// The frame `offset` ≤ 0 before the present.
    pub fn at(&self, offset: i32) -> &Past {
        &self.frames[(HISTORY_FRAMES as i32 - 1 + offset) as usize]
    }
}

/// How strongly the command outweighs the prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Blend {
    /// Exponent on the share of the command, which grows from 0 now to 1 at the last key (PFNN uses 0.5 for
    /// positions and 2 for directions).
    pub position_bias: f32,
    pub direction_bias: f32,
}

/// The 13 keys around a character in `frame`.
///
/// Past and present come from the history. Future keys mix what the network predicted (relative to `frame`) with the
/// command; its plan is moved to the character and pulled back to its own place over the second, so that a character beside its
/// path is led back to it.
pub(crate) fn window_keys(
    state: &LoopState,
    frame: &RootFrame,
    command: &Command<'_>,
    blend: Blend,
) -> [WindowKey; KEYS] {
    let LoopState { history, prediction, .. } = state;
    let (plan, plan_frame): (&ControlPlan, f32) = (&command.plan, command.frame);
    let now = history.at(0).key;
    let at = |frame: f32| {
        let sample = plan.at(frame);
        ControlSample { position: sample.position + state.aside, ..sample }
    };
    let plan_now = at(plan_frame);
    std::array::from_fn(|k| {
        if k < PAST_KEYS {
            return history.at(KEY_OFFSETS[k]).key;
        }
        if k == PAST_KEYS {
            return now;
        }
        let share = (k - PAST_KEYS) as f32 / (FUTURE_KEYS - 1) as f32;
        let wanted = at(plan_frame + command.speed_scale * KEY_OFFSETS[k] as f32);
        let led = now.position
            + (wanted.position - plan_now.position)
            + (plan_now.position - now.position).clamp_length_max(1.0) * share;
        let (mut position, mut yaw) = (led, wanted.yaw);
        if let Some(prediction) = prediction {
            let (at, turn) = prediction.trajectory[k - PAST_KEYS];
            let predicted = frame.ground_to_world(at);
            position = predicted.lerp(led, share.powf(blend.position_bias));
            let predicted_yaw = frame.yaw + turn;
            yaw = predicted_yaw + wrap_angle(wanted.yaw - predicted_yaw) * share.powf(blend.direction_bias);
        }
        WindowKey { position, yaw: wrap_angle(yaw), gait: wanted.gait.one_hot() }
    })
}

/// Root on the ground plane.
pub(crate) fn ground_position(frame: &RootFrame) -> Vec2 {
    Vec2::new(frame.origin.x, frame.origin.z)
}
