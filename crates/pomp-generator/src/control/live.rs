//! A command that is given while the character moves: a direction and a gait, frame by frame.

use super::preset::{BACKWARD_MPS, SIDEWAYS_MPS};
use super::{ControlPlan, ControlSample, JOG_FROM_MPS, gait_for};
use crate::layers::TurnLimitConfig;
use glam::Vec2;
use pomp_motion::Gait;
use pomp_motion::rotation::wrap_angle;
use pomp_terrain::Bounds;

/// What a person asks for at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steering {
    /// Where to, world x and z; its length is the share of the gait's speed, at most 1. Zero stops.
    pub direction: Vec2,
    /// How.
    pub gait: Gait,
    /// Where it faces meanwhile, world x and z, of any length; zero keeps the heading. `None` faces where it goes. Aside and
    /// backward it is slower than ahead.
    pub facing: Option<Vec2>,
}

impl Steering {
    /// Stand still.
    pub const STILL: Self = Self::toward(Vec2::ZERO, Gait::Walk);

    /// Goes and faces in `direction`.
    pub const fn toward(direction: Vec2, gait: Gait) -> Self {
        Self { direction, gait, facing: None }
    }

    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.direction.is_finite() && self.facing.is_none_or(Vec2::is_finite)
    }
}

/// Gain and loss of speed, m/s²: what people do without haste.
const ACCELERATION_MPS2: f32 = 1.5;
/// Largest distance between the command and the character, metres: a command does not run away from a body that a push
/// has stopped.
const LEASH_M: f32 = 0.25;
/// Width of the strip along the edge of the ground that is not walked on, metres.
const EDGE_M: f32 = 2.0;
/// A direction that is shorter asks for no motion.
const LEAST_SHARE: f32 = 0.05;
/// Seconds of future that a plan covers: the farthest key of the window, and one frame more.
const HORIZON_S: f32 = 1.1;

/// Turns [`Steering`] into the second of future that the loop wants, anew each frame.
///
/// It keeps the commanded place, heading and speed between frames, changes them no faster than a person would, and stays
/// near the character and on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveControl {
    position: Vec2,
    yaw: f32,
    /// Angle from the heading to the direction of travel, radians; 0 but for a facing of its own.
    travel: f32,
    speed_mps: f32,
    bounds: Bounds,
    frame_rate_hz: f32,
    turn_limit: TurnLimitConfig,
}

impl LiveControl {
    /// A command that stands at the origin and faces +Z, on ground of `bounds`, at `speed_mps`.
    pub fn new(bounds: Bounds, speed_mps: f32, frame_rate_hz: f32) -> Self {
        Self {
            position: Vec2::ZERO,
            yaw: 0.0,
            travel: 0.0,
            speed_mps,
            bounds,
            frame_rate_hz,
            turn_limit: TurnLimitConfig::default(),
        }
    }

    /// A command that is at `position`, faces `yaw` and goes on in wide arcs: it turns at `turn_rate_rad_s` and does not
    /// slow down for it.
    pub(crate) fn in_arcs(mut self, position: Vec2, yaw: f32, rate_rad_s: f32) -> Self {
        (self.position, self.yaw) = (position, yaw);
        self.turn_limit = TurnLimitConfig { enabled: true, rate_rad_s, speed_share: 1.0 };
        self
    }

    /// Turns by `limit` from now on.
    pub(crate) fn limit_turns(&mut self, limit: TurnLimitConfig) {
        self.turn_limit = limit;
    }

    /// Moves the command on by one frame for a character at `root`, and looks a second ahead as if `steering` stayed.
    pub fn plan(&mut self, steering: Steering, root: Vec2) -> ControlPlan {
        self.position = root + (self.position - root).clamp_length_max(LEASH_M);
        let mut ahead = *self;
        let frames = (HORIZON_S * self.frame_rate_hz).ceil() as usize;
        let mut samples = Vec::with_capacity(frames + 1);
        samples.push(ahead.sample(steering));
        for frame in 0..frames {
            ahead.advance(steering);
            samples.push(ahead.sample(steering));
            if frame == 0 {
                *self = ahead;
            }
        }
        ControlPlan { samples, frame_rate_hz: self.frame_rate_hz }
    }

    fn advance(&mut self, steering: Steering) {
        let dt = 1.0 / self.frame_rate_hz;
        match steering.facing {
            None => self.go_ahead(steering, dt),
            Some(facing) => self.go_facing(steering, facing, dt),
        }
        let next = self.position + Vec2::from((self.yaw + self.travel).sin_cos()) * (self.speed_mps * dt);
        let Bounds { min_x, max_x, min_z, max_z } = self.bounds;
        let inside = |low: f32, high: f32, value: f32| {
            let middle = 0.5 * (low + high);
            value.clamp((low + EDGE_M).min(middle), (high - EDGE_M).max(middle))
        };
        let kept = Vec2::new(inside(min_x, max_x, next.x), inside(min_z, max_z, next.y));
        if kept.distance(next) > 1e-6 {
            self.speed_mps = kept.distance(self.position) / dt;
        }
        self.position = kept;
    }

    /// Turns to where it goes.
    fn go_ahead(&mut self, steering: Steering, dt: f32) {
        // What is left of going aside is not speed ahead.
        self.speed_mps *= self.travel.cos().max(0.0);
        self.travel = 0.0;
        let share = steering.direction.length().min(1.0);
        let mut wanted = pace_mps(steering.gait) * share;
        if share > LEAST_SHARE {
            let error = wrap_angle(heading(steering.direction) - self.yaw);
            self.yaw = wrap_angle(self.yaw + self.turn_limit.turn(error, dt));
            // Sharp turns are taken slowly.
            wanted *= self.turn_limit.speed_share(error);
        }
        self.speed_mps += (wanted - self.speed_mps).clamp(-ACCELERATION_MPS2 * dt, ACCELERATION_MPS2 * dt);
    }

    /// Turns to `facing`, and goes in any direction meanwhile.
    fn go_facing(&mut self, steering: Steering, facing: Vec2, dt: f32) {
        let velocity = Vec2::from((self.yaw + self.travel).sin_cos()) * self.speed_mps;
        if facing != Vec2::ZERO {
            let error = wrap_angle(heading(facing) - self.yaw);
            self.yaw = wrap_angle(self.yaw + self.turn_limit.turn(error, dt));
        }
        let share = steering.direction.length().min(1.0);
        let wanted = if share > LEAST_SHARE {
            let aside = wrap_angle(heading(steering.direction) - self.yaw);
            steering.direction.normalize() * (share * pace_aside_mps(steering.gait, aside))
        } else {
            Vec2::ZERO
        };
        let velocity = velocity + (wanted - velocity).clamp_length_max(ACCELERATION_MPS2 * dt);
        self.speed_mps = velocity.length();
        self.travel = if velocity == Vec2::ZERO { 0.0 } else { wrap_angle(heading(velocity) - self.yaw) };
    }

    fn sample(&self, steering: Steering) -> ControlSample {
        let gait = match steering.gait {
            Gait::Stand | Gait::Walk => gait_for(self.speed_mps.min(JOG_FROM_MPS - 1e-3)),
            Gait::Jog => gait_for(self.speed_mps),
            other => other,
        };
        ControlSample { position: self.position, yaw: self.yaw, speed_mps: self.speed_mps, gait }
    }
}

/// The heading of a direction along the ground (x and z), radians.
fn heading(direction: Vec2) -> f32 {
    direction.x.atan2(direction.y)
}

/// Full speed of a gait whose direction is `aside` radians from the heading, m/s: on an ellipse through the speeds ahead (or
/// backward) and sideways.
fn pace_aside_mps(gait: Gait, aside: f32) -> f32 {
    let pace = pace_mps(gait);
    if pace == 0.0 {
        return 0.0;
    }
    let along = if aside.cos() < 0.0 { pace.min(BACKWARD_MPS) } else { pace };
    1.0 / (aside.cos() / along).hypot(aside.sin() / pace.min(SIDEWAYS_MPS))
}

/// Full speed of a gait, m/s.
pub(crate) fn pace_mps(gait: Gait) -> f32 {
    match gait {
        Gait::Walk | Gait::Jump => 1.2,
        Gait::Jog => 2.4,
        Gait::Crouch => 0.6,
        Gait::Stand | Gait::Bump | Gait::Lie | Gait::GetUp => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { min_x: -20.0, max_x: 20.0, min_z: -20.0, max_z: 20.0 };

    /// Follows its own command exactly.
    fn run(control: &mut LiveControl, steering: Steering, frames: usize) -> Vec<ControlSample> {
        let mut root = control.position;
        (0..frames)
            .map(|_| {
                let plan = control.plan(steering, root);
                root = plan.at(1.0).position;
                plan.at(0.0)
            })
            .collect()
    }

    #[test]
    fn it_walks_where_it_is_sent_and_stops_when_let_go() {
        let mut control = LiveControl::new(BOUNDS, 0.0, 60.0);
        let left = Steering::toward(Vec2::X, Gait::Walk);
        let last = *run(&mut control, left, 240).last().unwrap();
        assert!((last.yaw - std::f32::consts::FRAC_PI_2).abs() < 0.01, "heading {}", last.yaw);
        assert!((last.speed_mps - 1.2).abs() < 0.01 && last.gait == Gait::Walk, "{last:?}");
        let stopped = *run(&mut control, Steering::STILL, 120).last().unwrap();
        assert!(stopped.speed_mps < 0.01 && stopped.gait == Gait::Stand, "{stopped:?}");
        assert!((stopped.yaw - last.yaw).abs() < 0.01, "it keeps its heading");
    }

    #[test]
    fn speed_and_heading_change_no_faster_than_a_person_does() {
        let mut control = LiveControl::new(BOUNDS, 0.0, 60.0);
        let mut samples = run(&mut control, Steering::toward(Vec2::Y, Gait::Jog), 200);
        samples.extend(run(&mut control, Steering::toward(-Vec2::Y, Gait::Walk), 200));
        for pair in samples.windows(2) {
            let turn = wrap_angle(pair[1].yaw - pair[0].yaw).abs() * 60.0;
            let gain = (pair[1].speed_mps - pair[0].speed_mps).abs() * 60.0;
            assert!(
                turn <= TurnLimitConfig::default().rate_rad_s * 1.001 && gain <= ACCELERATION_MPS2 * 1.001,
                "{turn} {gain}"
            );
        }
        assert!(samples.iter().any(|sample| sample.gait == Gait::Jog));
    }

    #[test]
    fn it_goes_aside_and_backward_at_the_pace_of_the_presets_while_it_faces_ahead() {
        for (direction, pace) in [(Vec2::X, SIDEWAYS_MPS), (-Vec2::Y, BACKWARD_MPS), (Vec2::Y, 1.2)] {
            let mut control = LiveControl::new(BOUNDS, 0.0, 60.0);
            let facing = Steering { facing: Some(Vec2::Y), ..Steering::toward(direction, Gait::Walk) };
            let samples = run(&mut control, facing, 180);
            assert!(samples.iter().all(|sample| sample.yaw.abs() < 1e-5), "{direction} keeps its heading");
            let last = samples[179];
            assert!((last.speed_mps - pace).abs() < 0.01, "{direction} {}", last.speed_mps);
            let way = last.position.normalize();
            assert!(way.dot(direction) > 0.999, "{direction} {way}");
        }
    }

    #[test]
    fn it_turns_on_the_spot_to_what_it_faces_and_lets_go_without_a_jump() {
        let mut control = LiveControl::new(BOUNDS, 0.0, 60.0);
        let turn = Steering { facing: Some(-Vec2::X), ..Steering::STILL };
        let last = *run(&mut control, turn, 180).last().unwrap();
        assert!((last.yaw + std::f32::consts::FRAC_PI_2).abs() < 0.01 && last.speed_mps == 0.0, "{last:?}");
        // Sideways, then ahead again, with the heading kept by a facing of no length between.
        let keeps = Steering { facing: Some(Vec2::ZERO), ..Steering::toward(Vec2::Y, Gait::Walk) };
        let mut samples = run(&mut control, keeps, 120);
        samples.extend(run(&mut control, Steering::toward(-Vec2::X, Gait::Walk), 60));
        for pair in samples.windows(2) {
            let moved = pair[1].position.distance(pair[0].position) * 60.0;
            assert!(moved < 1.3, "{moved} m/s between two frames");
        }
        assert!((samples[119].yaw + std::f32::consts::FRAC_PI_2).abs() < 0.01);
    }

    #[test]
    fn without_the_turn_limit_the_heading_is_taken_at_once() {
        let mut control = LiveControl::new(BOUNDS, 1.0, 60.0);
        control.limit_turns(TurnLimitConfig { enabled: false, ..TurnLimitConfig::default() });
        let left = Steering::toward(Vec2::X, Gait::Walk);
        let second = run(&mut control, left, 2)[1];
        assert!((second.yaw - std::f32::consts::FRAC_PI_2).abs() < 1e-6, "heading {}", second.yaw);
    }

    #[test]
    fn it_waits_for_a_character_that_does_not_move_and_never_leaves_the_ground() {
        let mut control = LiveControl::new(BOUNDS, 0.0, 60.0);
        let ahead = Steering::toward(Vec2::Y, Gait::Jog);
        for _ in 0..600 {
            control.plan(ahead, Vec2::ZERO);
        }
        assert!(control.position.y <= LEASH_M + 2.4 / 60.0 + 1e-3, "{}", control.position.y);
        let far = *run(&mut control, ahead, 60 * 20).last().unwrap();
        assert!((far.position.y - (20.0 - EDGE_M)).abs() < 1e-3, "{}", far.position.y);
        assert!(far.gait == Gait::Stand, "it stands at the edge");
    }

    #[test]
    fn the_plan_reaches_beyond_the_window() {
        let mut control = LiveControl::new(BOUNDS, 1.2, 60.0);
        let plan = control.plan(Steering::toward(Vec2::Y, Gait::Walk), Vec2::ZERO);
        assert!(plan.frames() > 61);
        assert!(plan.at(60.0).position.y > 1.0);
    }
}
