//! Path rejoining: a way back to the path after getting up beside it, facing anywhere (ours).
//!
//! Acts at `before_sample`, from `reset` until the plan is met again: a command that begins where the character stands, changes
//! no faster than a person does and leads to the plan takes its place. While the plan stands, the character stands where it got up.
//! Switched off, the plan is followed at once.
//!
//! Cost: none but after a fall.
//!
//! Evidence (docs/experiments/0086-what-three-layers-earn.md): 30 walkers knocked down by 220 N·s fall 31 times in 30 s with the layer, and
//! get up each time; without it 93 times, because they set off again across their own facing. It does not prevent the first fall.

use crate::control::{ControlPlan, LiveControl, Steering, pace_mps};
use glam::Vec2;
use pomp_motion::rotation::wrap_angle;
use pomp_motion::{Gait, RootFrame};
use pomp_terrain::Bounds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far ahead on the plan it makes for, frames: a second.
const AHEAD_FRAMES: f32 = 60.0;
/// Turns no tighter than this, rad/s: at a walk an arc of 1.5 m.
const TURN_RATE_RAD_S: f32 = 0.8;
/// Speeds of the beginning and of the slowest way back, m/s.
const FASTEST_MPS: f32 = 1.0;
const SLOWEST_MPS: f32 = 0.6;
/// It is back when it is this near the plan's place, heading and speed: metres, radians, m/s.
const BACK_M: f32 = 0.6;
const BACK_RAD: f32 = 0.25;
const BACK_MPS: f32 = 0.4;

/// Settings of path rejoining.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PathRejoiningConfig {
    /// If off, a character that has got up follows its plan at once, wherever it stands and whichever way it faces. Default
    /// true.
    pub enabled: bool,
}

impl Default for PathRejoiningConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// The layer.
#[derive(Clone, Debug)]
pub(crate) struct PathRejoining {
    enabled: bool,
    way: Option<Rejoin>,
}

impl PathRejoining {
    pub fn new(config: PathRejoiningConfig) -> Self {
        Self { enabled: config.enabled, way: None }
    }

    /// `reset`: begins a way back from standing in `frame`, at `speed_mps`, on ground of `bounds`.
    pub fn reset(&mut self, frame: &RootFrame, speed_mps: f32, bounds: Bounds) {
        self.way = self.enabled.then(|| Rejoin::new(frame, speed_mps, bounds, pomp_motion::FRAME_RATE_HZ));
    }

    /// `before_sample`: the command that leads a character at `root` back to `plan`; `None` once it has met the plan at
    /// `plan_frame`.
    pub fn plan(&mut self, plan: &ControlPlan, plan_frame: f32, root: Vec2) -> Option<ControlPlan> {
        let led = self.way.as_mut().and_then(|way| way.plan(plan, plan_frame, root));
        if led.is_none() {
            self.way = None;
        }
        led
    }
}

/// A command that begins where the character stands and changes no faster than a person does, until it has met the plan.
#[derive(Clone, Copy, Debug)]
struct Rejoin {
    control: LiveControl,
}

impl Rejoin {
    /// From standing in `frame`, at `speed_mps` at once: the module begins a gait better than it speeds one up.
    fn new(frame: &RootFrame, speed_mps: f32, bounds: Bounds, frame_rate_hz: f32) -> Self {
        let position = Vec2::new(frame.origin.x, frame.origin.z);
        let control = LiveControl::new(bounds, speed_mps.min(FASTEST_MPS), frame_rate_hz);
        Self { control: control.in_arcs(position, frame.yaw, TURN_RATE_RAD_S) }
    }

    /// Moves on by one frame for a character at `root` and looks a second ahead; `None` when it has met `plan` at
    /// `plan_frame`.
    fn plan(&mut self, plan: &ControlPlan, plan_frame: f32, root: Vec2) -> Option<ControlPlan> {
        let (now, later) = (plan.at(plan_frame), plan.at(plan_frame + AHEAD_FRAMES));
        let way = later.position - root;
        let moving = now.speed_mps.max(later.speed_mps) > 0.15;
        let gait = if now.gait == Gait::Stand { Gait::Walk } else { now.gait };
        let share = now.speed_mps.max(SLOWEST_MPS) / pace_mps(gait).max(SLOWEST_MPS);
        // A plan that stands is stood beside: nobody asked for a walk.
        let direction = if moving { way.normalize_or_zero() * share.min(1.0) } else { Vec2::ZERO };
        let led = self.control.plan(Steering::toward(direction, gait), root);
        let at = led.at(0.0);
        let met = moving
            && at.position.distance(now.position) < BACK_M
            && wrap_angle(at.yaw - now.yaw).abs() < BACK_RAD
            && (at.speed_mps - now.speed_mps).abs() < BACK_MPS;
        (!met).then_some(led)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;
    use glam::Vec3;

    const BOUNDS: Bounds = Bounds { min_x: -20.0, max_x: 20.0, min_z: -20.0, max_z: 20.0 };

    #[test]
    fn it_turns_round_and_meets_a_plan_that_goes_the_other_way() {
        let plan = ControlPlan::preset(Preset::Walk, 20.0, 60.0);
        let frame = RootFrame { origin: Vec3::new(0.8, 0.0, -0.5), yaw: 3.0 };
        let mut rejoin = Rejoin::new(&frame, 1.2, BOUNDS, 60.0);
        let (mut root, mut last_yaw) = (Vec2::new(0.8, -0.5), 3.0);
        for step in 0..600 {
            // The plan waits like a cursor would.
            let along = (root.y / 1.2 * 60.0 + 20.0).max(0.0);
            let Some(led) = rejoin.plan(&plan, along, root) else {
                println!("met after {step} frames at {root}");
                assert!(root.x.abs() < 0.6 && step > 60);
                return;
            };
            let now = led.at(1.0);
            assert!(wrap_angle(now.yaw - last_yaw).abs() < 0.06, "it turns like a person");
            (root, last_yaw) = (now.position, now.yaw);
        }
        panic!("it never met the plan");
    }

    #[test]
    fn beside_a_plan_that_stands_it_stands_as_it_faces() {
        let plan = ControlPlan::preset(Preset::Stand, 20.0, 60.0);
        let frame = RootFrame { origin: Vec3::new(2.2, 0.0, 1.1), yaw: -2.0 };
        let mut rejoin = Rejoin::new(&frame, 0.0, BOUNDS, 60.0);
        for step in 0..120 {
            let led = rejoin.plan(&plan, step as f32, Vec2::new(2.2, 1.1)).expect("nothing to meet");
            assert!(led.at(30.0).speed_mps == 0.0 && (led.at(30.0).yaw + 2.0).abs() < 1e-6);
        }
    }
}
