//! The window around the present: where the character was, and where it is wanted and expected to be.

use crate::control::ControlPlan;
use glam::Vec2;
use pomp_motion::RootFrame;
use pomp_motion::features::{FUTURE_KEYS, KEY_OFFSETS, KEYS, OutputFrame, PAST_KEYS, WindowKey};
use pomp_motion::rotation::wrap_angle;
use std::collections::VecDeque;

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
/// Past and present come from `history`. Future keys mix what the network predicted (`prediction`, relative to
/// `frame`) with the plan from `plan_frame` on; the plan is moved to the character and pulled back to its own
/// place over the second, so that a character beside its path is led back to it. `ease` is the share of the plan's pace
/// that the ground allows.
#[allow(clippy::too_many_arguments, reason = "what was, what is expected and what is wanted")]
pub(crate) fn window_keys(
    history: &History,
    frame: &RootFrame,
    prediction: Option<&OutputFrame>,
    plan: &ControlPlan,
    plan_frame: f32,
    ease: f32,
    blend: Blend,
) -> [WindowKey; KEYS] {
    let now = history.at(0).key;
    let plan_now = plan.at(plan_frame);
    std::array::from_fn(|k| {
        if k < PAST_KEYS {
            return history.at(KEY_OFFSETS[k]).key;
        }
        if k == PAST_KEYS {
            return now;
        }
        let share = (k - PAST_KEYS) as f32 / (FUTURE_KEYS - 1) as f32;
        let wanted = plan.at(plan_frame + ease * KEY_OFFSETS[k] as f32);
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
