//! Standing posture: a standing character is drawn back to an upright posture (ours).
//!
//! Acts at `on_target` and `after_simulation`, while the command is to stand, the heading is reached and no push is answered: trunk, head,
//! arms and pelvis move a share of the way to an upright posture, slower than people sway; legs and feet follow. Mocap labelled as
//! standing holds people who bend, reach and crouch a little, and a kinematic module that is fed its own poses wanders among
//! all of it: within seconds the trunk may hang forward by 80°. Phase codes are drawn to silence by the same share: a body at rest
//! is in no cycle, and what is read off it says nothing, but a kinematic module that was trained through time follows it away from standing,
//! until its pose swings from frame to frame.
//!
//! Cost: below 0.1 % of a frame.
//!
//! Evidence (docs/experiments/0086-what-three-layers-earn.md): standing for two minutes, 30 of 30 hold with the layer and without.
//! With it joints turn at 34 deg/s and jerk is 417 m/s³; without it 56 deg/s and 704 m/s³.
//! Phases: docs/experiments/0133-feet-that-do-not-creep.md.

use crate::ControlPlan;
use glam::Vec2;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::rotation::wrap_angle;
use pomp_motion::{Pose, humanoid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const FRAME_S: f32 = 1.0 / pomp_motion::FRAME_RATE_HZ;
/// How far ahead the command counts, frames: a character that is about to walk moves already.
const AHEAD_FRAMES: [f32; 3] = [0.0, 15.0, 30.0];
/// Between these it begins to move in earnest: commanded speed, m/s; the body's own speed, m/s, by which it answers a push;
/// and the angle to the commanded heading, radians.
const COMMANDED_M_S: (f32, f32) = (0.1, 0.4);
const MOVING_M_S: (f32, f32) = (0.4, 0.8);
const TURNED_RAD: (f32, f32) = (0.5, 0.9);

/// Settings of the standing posture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StandingPostureConfig {
    /// If off, the posture is that of the kinematic module, and phases are read in standing, too. Default true.
    pub enabled: bool,
    /// Time constant of the return to upright, seconds, 0.02 to 60. If too short, the character stands like a statue; if too
    /// long, it bends over and falls. Default 0.5.
    pub time_s: f32,
}

impl Default for StandingPostureConfig {
    fn default() -> Self {
        Self { enabled: true, time_s: 0.5 }
    }
}

impl Validate for StandingPostureConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("time_s", self.time_s, 0.02..=60.0)
    }
}

/// The layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandingPosture {
    config: StandingPostureConfig,
}

impl StandingPosture {
    pub fn new(config: StandingPostureConfig) -> Self {
        Self { config }
    }

    /// Share of the way back to an upright posture in this frame, for a character that faces `yaw` and moves at
    /// `body_velocity` while it is asked for `plan` at `plan_frame`: 0 while it moves, is to move, or is pushed.
    pub fn share(self, plan: &ControlPlan, plan_frame: f32, yaw: f32, body_velocity: Vec2) -> f32 {
        if !self.config.enabled {
            return 0.0;
        }
        share_of_upright(self.config.time_s, plan, plan_frame, yaw, body_velocity)
    }
}

fn share_of_upright(time_s: f32, plan: &ControlPlan, plan_frame: f32, yaw: f32, body_velocity: Vec2) -> f32 {
    let ahead = AHEAD_FRAMES.map(|frames| plan.at(plan_frame + frames));
    let commanded = ahead.iter().map(|sample| sample.speed_mps).fold(0.0, f32::max);
    let turned = ahead.iter().map(|sample| wrap_angle(sample.yaw - yaw).abs()).fold(0.0, f32::max);
    let between = |value: f32, (low, high): (f32, f32)| ((value - low) / (high - low)).clamp(0.0, 1.0);
    let moving = between(commanded, COMMANDED_M_S)
        .max(between(turned, TURNED_RAD))
        .max(between(body_velocity.length(), MOVING_M_S));
    (1.0 - (-FRAME_S / time_s).exp()) * (1.0 - moving)
}

/// Takes `pose` a `share` of the way to `upright`: its trunk, head and arms, and the pelvis's tilt and height. Legs and place
/// stay.
pub(crate) fn straighten(pose: &mut Pose, upright: &Pose, share: f32) {
    let joints = std::iter::once(humanoid::HIPS.0).chain(humanoid::SPINE.0..humanoid::JOINTS);
    for joint in joints {
        let (from, to) = (pose.local_rotations[joint], upright.local_rotations[joint]);
        pose.local_rotations[joint] = from.slerp(to, share);
    }
    pose.root_position.y += (upright.root_position.y - pose.root_position.y) * share;
}

/// Takes phase codes a `share` of the way to silence.
pub(crate) fn silence<'a>(codes: impl Iterator<Item = &'a mut f32>, share: f32) {
    codes.for_each(|value| *value *= 1.0 - share);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    #[test]
    fn it_acts_on_standing_characters_and_not_on_walking_turning_or_pushed_ones() {
        let (stand, walk) =
            (ControlPlan::preset(Preset::Stand, 5.0, 60.0), ControlPlan::preset(Preset::Walk, 5.0, 60.0));
        let share = |plan: &ControlPlan, yaw, speed| share_of_upright(0.2, plan, 60.0, yaw, Vec2::X * speed);
        assert_eq!(share(&walk, 0.0, 1.2), 0.0);
        assert_eq!(share(&walk, 0.0, 0.0), 0.0);
        assert_eq!(share(&stand, 1.5, 0.0), 0.0);
        assert_eq!(share(&stand, 0.0, 1.0), 0.0);
        assert!((share(&stand, 0.1, 0.1) - 0.08).abs() < 0.01);
        let off = StandingPosture::new(StandingPostureConfig { enabled: false, ..Default::default() });
        assert_eq!(off.share(&stand, 0.0, 0.0, Vec2::ZERO), 0.0);
        let on = StandingPosture::new(StandingPostureConfig::default());
        assert!(on.share(&stand, 0.0, 0.0, Vec2::ZERO) > 0.01);
    }

    #[test]
    fn it_lets_go_before_the_command_moves() {
        let plan = ControlPlan::preset(Preset::StopAndGo, 10.0, 60.0);
        let goes = (400..600).find(|frame| plan.at(*frame as f32).speed_mps > 0.05).unwrap();
        let share = share_of_upright(0.2, &plan, goes as f32 - 12.0, 0.0, Vec2::ZERO);
        assert!(share < 0.04, "a fifth of a second before it goes the share is {share}");
    }
}
