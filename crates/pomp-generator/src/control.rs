//! Commands for the character: a path with a pace and gaits, and a cursor that moves along it no faster than the character
//! follows.

mod live;
mod preset;
mod reach;

pub(crate) use live::pace_mps;
pub use live::{LiveControl, Steering};
pub use preset::Preset;
pub use reach::Goal;

use crate::GeneratorError;
use glam::Vec2;
use pomp_motion::rotation::{from_yaw, wrap_angle};
use pomp_motion::{Gait, Recording};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One instant of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlSample {
    /// Desired root on the ground plane, world x and z, metres.
    pub position: Vec2,
    /// Desired heading, radians.
    pub yaw: f32,
    /// Desired speed, m/s.
    pub speed_mps: f32,
    /// Desired gait.
    pub gait: Gait,
}

/// A path file: waypoints that the character passes in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathFile {
    /// At least two waypoints; the character starts at the first.
    pub waypoint: Vec<Waypoint>,
}

/// One waypoint of a [`PathFile`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// World x, metres (left is positive at the start).
    pub x: f32,
    /// World z, metres (ahead is positive at the start).
    pub z: f32,
    /// Speed on the way to the next waypoint, m/s; default 1.2.
    #[serde(default = "default_speed")]
    pub speed_mps: f32,
    /// Gait on the way to the next waypoint; default by speed: stand, walk below 1.9 m/s, jog above.
    #[serde(default)]
    pub gait: Option<Gait>,
}

fn default_speed() -> f32 {
    1.2
}

/// A command for the whole run, sampled once per frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlPlan {
    samples: Vec<ControlSample>,
    frame_rate_hz: f32,
}

/// Acceleration with which a plan stops, starts again and changes pace, m/s².
const ACCELERATION_MPS2: f32 = 1.2;

/// Above this speed a plan without a stated gait jogs, m/s.
const JOG_FROM_MPS: f32 = 1.9;

/// Longest path, seconds.
const LONGEST_PATH_S: f32 = 3600.0;
/// A path that is shorter than this leads nowhere, metres.
const SHORTEST_PATH_M: f32 = 0.01;
/// Farthest waypoint from the origin along x or z, metres: half the side of the largest level ground.
const FARTHEST_WAYPOINT_M: f32 = 2000.0;

impl ControlPlan {
    /// A preset from the origin, facing +Z, for `seconds`, at its own pace from the first frame on.
    pub fn preset(preset: Preset, seconds: f32, frame_rate_hz: f32) -> Self {
        let mut plan = Self::integrate(
            seconds,
            frame_rate_hz,
            preset.travel_rad(),
            |t| preset.speed_mps(t),
            |t, along_m| preset.heading_rad(t, along_m),
        );
        if preset == Preset::Crouch {
            for sample in plan.samples.iter_mut().filter(|sample| sample.gait == Gait::Walk) {
                sample.gait = Gait::Crouch;
            }
        }
        plan
    }

    /// `travel_rad` is the angle from the heading to the direction of travel; `heading_at` takes seconds and metres along the way.
    fn integrate(
        seconds: f32,
        frame_rate_hz: f32,
        travel_rad: f32,
        speed_at: impl Fn(f32) -> f32,
        heading_at: impl Fn(f32, f32) -> f32,
    ) -> Self {
        let frames = (seconds * frame_rate_hz).ceil() as usize + 1;
        let dt = 1.0 / frame_rate_hz;
        let (mut position, mut along, mut speed) = (Vec2::ZERO, 0.0, speed_at(0.0));
        let samples = (0..frames)
            .map(|frame| {
                let wanted = speed_at(frame as f32 * dt);
                speed += (wanted - speed).clamp(-ACCELERATION_MPS2 * dt, ACCELERATION_MPS2 * dt);
                let yaw = heading_at(frame as f32 * dt, along);
                let sample =
                    ControlSample { position, yaw: wrap_angle(yaw), speed_mps: speed, gait: gait_for(speed) };
                let step = from_yaw(yaw + travel_rad) * glam::Vec3::Z * (speed * dt);
                position += Vec2::new(step.x, step.z);
                along += speed * dt;
                sample
            })
            .collect();
        Self { samples, frame_rate_hz }
    }

    /// A path along straight lines between waypoints, corners cut by a second of smoothing.
    ///
    /// # Errors
    /// Fewer than two waypoints, a number that is not finite, a waypoint farther than 2 km from the origin along x or z, a
    /// speed outside 0.05 to 4 m/s, a path longer than an hour, or no motion at all.
    pub fn path(path: &PathFile, frame_rate_hz: f32) -> Result<Self, GeneratorError> {
        let bad = |reason: String| GeneratorError::BadControl { reason };
        if path.waypoint.len() < 2 {
            return Err(bad(format!(
                "a path needs at least 2 waypoints, this one has {}",
                path.waypoint.len()
            )));
        }
        for (i, w) in path.waypoint.iter().enumerate() {
            if !(w.x.is_finite() && w.z.is_finite() && w.speed_mps.is_finite()) {
                return Err(bad(format!("waypoint {} is not finite", i + 1)));
            }
            if w.x.abs().max(w.z.abs()) > FARTHEST_WAYPOINT_M {
                return Err(bad(format!(
                    "waypoint {}: x = {}, z = {} is farther than {FARTHEST_WAYPOINT_M} m from the origin along x or z; move \
                     the path nearer",
                    i + 1,
                    w.x,
                    w.z
                )));
            }
            if !(0.05..=4.0).contains(&w.speed_mps) {
                return Err(bad(format!(
                    "waypoint {}: speed_mps = {} is outside 0.05 to 4 m/s",
                    i + 1,
                    w.speed_mps
                )));
            }
        }
        let dt = 1.0 / frame_rate_hz;
        let (mut raw, mut length_m) = (Vec::new(), 0.0);
        for (i, pair) in path.waypoint.windows(2).enumerate() {
            let (from, to) = (Vec2::new(pair[0].x, pair[0].z), Vec2::new(pair[1].x, pair[1].z));
            let distance_m = from.distance(to);
            let steps = (distance_m / pair[0].speed_mps / dt).ceil().max(1.0) as usize;
            if (raw.len() + steps) as f32 > LONGEST_PATH_S * frame_rate_hz {
                return Err(bad(format!(
                    "waypoint {} is reached after {:.0} s, but a path takes at most {LONGEST_PATH_S} s; leave out the \
                     waypoints from there on, or raise speed_mps",
                    i + 2,
                    (raw.len() + steps) as f32 * dt
                )));
            }
            length_m += distance_m;
            let gait = pair[0].gait.unwrap_or_else(|| gait_for(pair[0].speed_mps));
            raw.extend((0..steps).map(|s| (from.lerp(to, s as f32 / steps as f32), gait)));
        }
        if length_m < SHORTEST_PATH_M {
            return Err(bad(format!(
                "the waypoints 1 to {} are one place, so that nothing moves; set them apart, or give the preset \"stand\"",
                path.waypoint.len()
            )));
        }
        let last = path.waypoint[path.waypoint.len() - 1];
        raw.push((Vec2::new(last.x, last.z), Gait::Stand));
        let half = (frame_rate_hz * 0.5) as usize;
        let positions: Vec<Vec2> = (0..raw.len())
            .map(|i| {
                let reach = half.min(i).min(raw.len() - 1 - i);
                let window = &raw[i - reach..=i + reach];
                window.iter().map(|(p, _)| *p).sum::<Vec2>() / window.len() as f32
            })
            .collect();
        let gaits = raw.iter().map(|(_, gait)| *gait);
        Ok(Self::of_positions(&positions, gaits, frame_rate_hz))
    }

    /// The trajectory of a clip, moved so that it starts at the origin facing +Z.
    ///
    /// # Errors
    /// A clip with fewer than two frames.
    pub fn of_recording(recording: &Recording, frame_rate_hz: f32) -> Result<Self, GeneratorError> {
        if recording.frames() < 2 {
            return Err(GeneratorError::BadControl {
                reason: format!("clip \"{}\" has fewer than two frames", recording.name),
            });
        }
        let ratio = recording.frame_rate_hz / frame_rate_hz;
        let frames = ((recording.frames() - 1) as f32 / ratio).floor() as usize + 1;
        let [x0, z0, yaw0, _] = recording.root[0];
        let samples: Vec<ControlSample> = (0..frames)
            .map(|frame| {
                let at = ((frame as f32 * ratio).round() as usize).min(recording.frames() - 1);
                let [x, z, yaw, _] = recording.root[at];
                let p = from_yaw(-yaw0) * glam::Vec3::new(x - x0, 0.0, z - z0);
                let v = recording.velocities[at][0];
                ControlSample {
                    position: Vec2::new(p.x, p.z),
                    yaw: wrap_angle(yaw - yaw0),
                    speed_mps: v.x.hypot(v.z),
                    gait: Gait::dominant(&recording.gait[at]),
                }
            })
            .collect();
        Self::of_samples(samples, frame_rate_hz)
    }

    /// A plan as it is, sample by sample.
    ///
    /// # Errors
    /// No samples, or one that is not finite.
    pub fn of_samples(samples: Vec<ControlSample>, frame_rate_hz: f32) -> Result<Self, GeneratorError> {
        let finite =
            |s: &ControlSample| s.position.is_finite() && s.yaw.is_finite() && s.speed_mps.is_finite();
        let reason = match samples.iter().position(|sample| !finite(sample)) {
            Some(frame) => format!("frame {frame} of the plan is not finite: {:?}", samples[frame]),
            None if samples.is_empty() => "a plan needs at least one frame".to_owned(),
            None => return Ok(Self { samples, frame_rate_hz }),
        };
        Err(GeneratorError::BadControl { reason })
    }

    /// The plan of a character that starts at `position` (world x and z) and faces `yaw` (radians) instead of at the origin,
    /// facing +Z.
    pub fn moved(&self, position: Vec2, yaw: f32) -> Self {
        let samples = self.samples.iter().map(|sample| {
            let turned = from_yaw(yaw) * glam::Vec3::new(sample.position.x, 0.0, sample.position.y);
            ControlSample {
                position: position + Vec2::new(turned.x, turned.z),
                yaw: wrap_angle(sample.yaw + yaw),
                ..*sample
            }
        });
        Self { samples: samples.collect(), frame_rate_hz: self.frame_rate_hz }
    }

    fn of_positions(positions: &[Vec2], gaits: impl Iterator<Item = Gait>, frame_rate_hz: f32) -> Self {
        let mut yaw = 0.0;
        let samples = positions
            .iter()
            .zip(gaits)
            .enumerate()
            .map(|(i, (&position, gait))| {
                let next = positions[(i + 1).min(positions.len() - 1)];
                let step = next - position;
                let speed_mps = step.length() * frame_rate_hz;
                if speed_mps > 0.05 {
                    yaw = step.x.atan2(step.y);
                }
                let gait = if speed_mps < 0.15 { Gait::Stand } else { gait };
                ControlSample { position, yaw, speed_mps, gait }
            })
            .collect();
        Self { samples, frame_rate_hz }
    }

    /// The plan, frame by frame.
    pub fn samples(&self) -> &[ControlSample] {
        &self.samples
    }

    /// Frames of the plan.
    pub fn frames(&self) -> usize {
        self.samples.len()
    }

    /// The gait in which the plan begins.
    pub fn start_gait(&self) -> Gait {
        self.samples[0].gait
    }

    /// The plan at a fractional frame; before the start it stands still there, after the end it holds.
    pub fn at(&self, frame: f32) -> ControlSample {
        let last = self.samples.len() - 1;
        let clamped = frame.clamp(0.0, last as f32);
        let before = self.samples[clamped.floor() as usize];
        let after = self.samples[(clamped.floor() as usize + 1).min(last)];
        let t = clamped.fract();
        let outside = frame > last as f32;
        ControlSample {
            position: before.position.lerp(after.position, t),
            yaw: wrap_angle(before.yaw + wrap_angle(after.yaw - before.yaw) * t),
            speed_mps: if outside {
                0.0
            } else {
                before.speed_mps + (after.speed_mps - before.speed_mps) * t
            },
            gait: if outside { Gait::Stand } else { before.gait },
        }
    }

    /// Unit vector along which it moves at a fractional frame: the heading, unless it leads backward or aside.
    fn travel(&self, frame: f32) -> Vec2 {
        let heading = Vec2::from(self.at(frame).yaw.sin_cos());
        let step = (self.at(frame + 1.0).position - self.at(frame).position).normalize_or_zero();
        if step == Vec2::ZERO || step.dot(heading) > ALONG_HEADING { heading } else { step }
    }

    /// Distance of its farthest point from the origin along x or z, metres.
    pub fn reach_m(&self) -> f32 {
        self.samples.iter().map(|sample| sample.position.abs().max_element()).fold(0.0, f32::max)
    }

    /// Frames per second of the plan.
    pub fn frame_rate_hz(&self) -> f32 {
        self.frame_rate_hz
    }
}

fn gait_for(speed_mps: f32) -> Gait {
    if speed_mps < 0.15 {
        Gait::Stand
    } else if speed_mps < JOG_FROM_MPS {
        Gait::Walk
    } else {
        Gait::Jog
    }
}

/// Follows a [`ControlPlan`] at the character's pace.
///
/// The cursor moves one plan frame per frame while the character keeps within a quarter of a metre of it, and slower when
/// the character has fallen behind (after a push, say). It is never faster: a plan that hurried on in front of a character
/// close behind it would ask for more speed than it states, for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlCursor {
    frame: f32,
}

/// Cosine of the angle between heading and travel from which a plan counts as one that leads along its heading.
const ALONG_HEADING: f32 = 0.9;
/// Lag along the path beyond which the plan begins to wait, metres.
const WAIT_FROM_M: f32 = 0.25;
/// Lag along the path at which the plan stands still, metres.
const WAIT_FULLY_M: f32 = 1.0;

impl ControlCursor {
    /// Where on the plan it is, in plan frames.
    pub fn frame(&self) -> f32 {
        self.frame
    }

    /// Moves on by one frame for a character at `root`, at the share `speed_scale` of the plan's pace.
    pub fn advance(&mut self, plan: &ControlPlan, root: Vec2, speed_scale: f32) {
        let now = plan.at(self.frame);
        let lag = (now.position - root).dot(plan.travel(self.frame));
        let pace = 1.0 - ((lag - WAIT_FROM_M) / (WAIT_FULLY_M - WAIT_FROM_M)).clamp(0.0, 1.0);
        // A plan that stands has nothing to wait for.
        let pace = if now.speed_mps < 0.05 { 1.0 } else { pace * speed_scale };
        self.frame += pace;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::TAU;

    #[test]
    fn every_preset_is_found_by_its_name() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse::<Preset>().expect("the name is listed"), preset);
        }
        let error = "moonwalk".parse::<Preset>().expect_err("there is no such preset").to_string();
        assert!(error.contains("moonwalk") && error.contains("slalom"), "{error}");
    }

    #[test]
    fn a_walk_covers_its_distance_straight_ahead() {
        let plan = ControlPlan::preset(Preset::Walk, 10.0, 60.0);
        let end = plan.at(600.0);
        assert!(end.position.x.abs() < 1e-4);
        assert!((end.position.y - 12.0).abs() < 0.05, "{}", end.position.y);
        assert_eq!(end.gait, Gait::Walk);
    }

    #[test]
    fn backward_and_sideways_face_ahead_and_turns_stay_in_place() {
        let end = |preset| ControlPlan::preset(preset, 13.0, 60.0).at(720.0);
        let (backward, sideways, turned) = (end(Preset::Backward), end(Preset::Sideways), end(Preset::Turn));
        assert!((backward.position - Vec2::new(0.0, -8.4)).length() < 0.05, "{backward:?}");
        assert!((sideways.position - Vec2::new(6.0, 0.0)).length() < 0.05, "{sideways:?}");
        assert_eq!((backward.yaw, sideways.yaw), (0.0, 0.0));
        assert_eq!(turned.position, Vec2::ZERO);
        assert!(turned.yaw.abs() < 1e-4, "four quarters are a whole turn: {}", turned.yaw);
        let crouch = ControlPlan::preset(Preset::Crouch, 5.0, 60.0);
        assert_eq!([crouch.at(0.0).gait, crouch.at(120.0).gait], [Gait::Stand, Gait::Crouch]);
    }

    #[test]
    fn the_cursor_waits_for_a_character_that_falls_behind_a_backward_walk() {
        for preset in [Preset::Backward, Preset::Sideways] {
            let plan = ControlPlan::preset(preset, 60.0, 60.0);
            let mut cursor = ControlCursor::default();
            for _ in 0..1200 {
                cursor.advance(&plan, Vec2::ZERO, 1.0);
            }
            let waiting = plan.at(cursor.frame()).position.length();
            assert!((0.2..=WAIT_FULLY_M + 0.05).contains(&waiting), "{preset:?}: {waiting}");
        }
    }

    #[test]
    fn a_circle_comes_back_to_its_start() {
        let plan = ControlPlan::preset(Preset::Circle, 30.0, 60.0);
        let once_round = TAU * 3.0;
        let mut along = 0.0;
        let closed = (1..plan.frames()).find(|&frame| {
            let (a, b) = (plan.at(frame as f32 - 1.0), plan.at(frame as f32));
            along += a.position.distance(b.position);
            along >= once_round
        });
        let end = plan.at(closed.expect("30 s at 1.1 m/s are more than one round") as f32);
        assert!(end.position.length() < 0.1, "{}", end.position);
        assert!(end.position.x < 0.1, "the circle lies to the left");
    }

    #[test]
    fn the_cursor_waits_for_a_character_that_does_not_move() {
        let plan = ControlPlan::preset(Preset::Walk, 60.0, 60.0);
        let mut cursor = ControlCursor::default();
        for _ in 0..1200 {
            cursor.advance(&plan, Vec2::ZERO, 1.0);
        }
        let waiting = plan.at(cursor.frame()).position.y;
        assert!((0.2..=WAIT_FULLY_M + 0.05).contains(&waiting), "{waiting}");
    }

    #[test]
    fn the_cursor_asks_for_the_speed_of_the_plan_and_no_more() {
        let plan = ControlPlan::preset(Preset::Walk, 60.0, 60.0);
        for ahead_m in [-0.2, 0.0, 0.2, 5.0] {
            let mut cursor = ControlCursor::default();
            for _ in 0..600 {
                let place = plan.at(cursor.frame()).position + Vec2::new(0.0, ahead_m);
                cursor.advance(&plan, place, 1.0);
            }
            assert_eq!(cursor.frame(), 600.0, "{ahead_m} m ahead");
        }
    }

    #[test]
    fn rejects_a_path_with_a_nan_naming_the_waypoint() {
        let point = |x| Waypoint { x, z: 1.0, speed_mps: 1.0, gait: None };
        let path = PathFile { waypoint: vec![point(0.0), point(f32::NAN)] };
        let error = ControlPlan::path(&path, 60.0).expect_err("NaN is refused").to_string();
        assert!(error.contains("waypoint 2"), "{error}");
    }

    fn point(x: f32, z: f32, speed_mps: f32) -> Waypoint {
        Waypoint { x, z, speed_mps, gait: None }
    }

    fn refusal(waypoint: Vec<Waypoint>) -> String {
        ControlPlan::path(&PathFile { waypoint }, 60.0).expect_err("it is refused").to_string()
    }

    #[test]
    fn rejects_a_path_whose_legs_are_short_and_whose_whole_is_longer_than_an_hour() {
        let there_and_back = |legs: usize| -> Vec<Waypoint> {
            (0..=legs).map(|leg| point(if leg % 2 == 0 { 0.0 } else { 1800.0 }, 0.0, 1.0)).collect()
        };
        let plan = ControlPlan::path(&PathFile { waypoint: there_and_back(2) }, 60.0).expect("just an hour");
        assert_eq!(plan.frames(), 216_001);
        let said = refusal(there_and_back(1000));
        assert!(
            said.contains("waypoint 4 is reached after 5400 s") && said.contains("raise speed_mps"),
            "{said}"
        );
    }

    #[test]
    fn rejects_a_path_without_motion() {
        let said = refusal(vec![point(3.0, 4.0, 1.0); 3]);
        assert!(said.contains("waypoints 1 to 3 are one place") && said.contains("\"stand\""), "{said}");
    }

    #[test]
    fn rejects_waypoints_so_far_away_that_their_mean_overflows() {
        let said = refusal(vec![point(3e38, 0.0, 1.0), point(3e38, 0.0, 1.0)]);
        assert!(said.contains("waypoint 1: x = 3") && said.contains("farther than 2000 m"), "{said}");
        let said = refusal(vec![point(0.0, 0.0, 4.0), point(0.0, -2000.1, 4.0)]);
        assert!(said.contains("waypoint 2") && said.contains("move the path nearer"), "{said}");
    }

    #[test]
    fn rejects_a_path_with_an_impossible_speed() {
        let path = PathFile {
            waypoint: vec![
                Waypoint { x: 0.0, z: 0.0, speed_mps: 50.0, gait: None },
                Waypoint { x: 0.0, z: 9.0, speed_mps: 1.0, gait: None },
            ],
        };
        assert!(ControlPlan::path(&path, 60.0).is_err());
    }
}
