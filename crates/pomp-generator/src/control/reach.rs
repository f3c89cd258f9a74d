//! A command to reach a place, face a direction there and stop.

use super::{ACCELERATION_MPS2, ControlPlan, ControlSample, FARTHEST_WAYPOINT_M, gait_for, pace_mps};
use crate::GeneratorError;
use crate::layers::TurnLimitConfig;
use glam::Vec2;
use pomp_motion::Gait;
use pomp_motion::rotation::wrap_angle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Distance from the place at which the heading turns from the way to what is to be faced, metres: about half a step.
const TURNS_FROM_M: f32 = 0.3;
/// Deceleration before the place, m/s².
const DECELERATION_MPS2: f32 = 0.8;
/// A place this near is reached, metres.
const REACHED_M: f32 = 2e-3;
/// Share of the walking speed that is kept within that distance.
const NEAR_SHARE: f32 = 0.5;

/// A place to reach and to stop at, and the direction to face there, as seen from the start at the origin, facing +Z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// World x, metres (left is positive at the start).
    pub x: f32,
    /// World z, metres (ahead is positive at the start).
    pub z: f32,
    /// Direction to face there, degrees: 0 as at the start, 90 to the left.
    pub facing_deg: f32,
}

impl FromStr for Goal {
    type Err = GeneratorError;
    /// Reads `X,Z,DEG`.
    fn from_str(text: &str) -> Result<Self, GeneratorError> {
        let numbers: Option<Vec<f32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[x, z, facing_deg]) => Ok(Self { x, z, facing_deg }),
            _ => Err(GeneratorError::BadControl {
                reason: format!(
                    "\"reach:{text}\" has no goal: give place and direction as reach:X,Z,DEG, in metres and degrees, as \
                     reach:1.5,4,90"
                ),
            }),
        }
    }
}

impl ControlPlan {
    /// From standing at the origin: walks to a goal in arcs that a person can walk, turns to its direction from the last half step on,
    /// and stands.
    ///
    /// # Errors
    /// A number that is not finite, or a place farther than 2 km from the origin along x or z.
    pub fn reach(goal: &Goal, frame_rate_hz: f32) -> Result<Self, GeneratorError> {
        let Goal { x, z, facing_deg } = *goal;
        if !(x.is_finite() && z.is_finite() && facing_deg.is_finite())
            || x.abs().max(z.abs()) > FARTHEST_WAYPOINT_M
        {
            return Err(GeneratorError::BadControl {
                reason: format!(
                    "the goal x = {x}, z = {z}, {facing_deg}° is not finite or farther than {FARTHEST_WAYPOINT_M} m from the \
                     origin along x or z; move it nearer"
                ),
            });
        }
        let (place, facing) = (Vec2::new(x, z), facing_deg.to_radians());
        let (turning, dt) = (TurnLimitConfig::default(), 1.0 / frame_rate_hz);
        let (mut position, mut yaw, mut speed) = (Vec2::ZERO, 0.0f32, 0.0f32);
        let mut samples = Vec::new();
        loop {
            samples.push(ControlSample { position, yaw, speed_mps: speed, gait: gait_for(speed) });
            let way = place - position;
            let left = way.length();
            let on_the_way = left > TURNS_FROM_M;
            let error = wrap_angle(if on_the_way { way.x.atan2(way.y) } else { facing } - yaw);
            if left < REACHED_M && error.abs() < 1e-4 {
                samples.push(ControlSample {
                    position: place,
                    yaw: wrap_angle(facing),
                    speed_mps: 0.0,
                    gait: Gait::Stand,
                });
                return Ok(Self { samples, frame_rate_hz });
            }
            yaw = wrap_angle(yaw + turning.turn(error, dt));
            // A goal that is this near from the start is stepped to, in any direction.
            let share = if on_the_way { turning.speed_share(error) } else { NEAR_SHARE };
            let pace = pace_mps(Gait::Walk) * share;
            let wanted = pace.min((2.0 * DECELERATION_MPS2 * left).sqrt());
            speed = wanted.min(speed + ACCELERATION_MPS2 * dt).max(speed - 2.0 * ACCELERATION_MPS2 * dt);
            let direction = if on_the_way { Vec2::from(yaw.sin_cos()) } else { way.normalize_or_zero() };
            position += direction * (speed * dt).min(left);
            if left < REACHED_M {
                (position, speed) = (place, 0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reaches_its_goal_faces_it_and_stands_no_faster_than_a_person_walks_and_turns() {
        for step in 0..200 {
            let angle = step as f32 * 2.4;
            let distance = 0.05 * step as f32;
            let goal =
                Goal { x: distance * angle.sin(), z: distance * angle.cos(), facing_deg: step as f32 * 37.0 };
            let plan = ControlPlan::reach(&goal, 60.0).unwrap();
            let last = plan.samples().last().unwrap();
            assert!(last.position.distance(Vec2::new(goal.x, goal.z)) < 1e-6);
            assert!(wrap_angle(last.yaw - goal.facing_deg.to_radians()).abs() < 1e-4);
            assert_eq!((last.speed_mps, last.gait), (0.0, Gait::Stand));
            for pair in plan.samples().windows(2) {
                let moved = pair[0].position.distance(pair[1].position) * 60.0;
                let turned = wrap_angle(pair[1].yaw - pair[0].yaw) * 60.0;
                assert!(moved < 1.21 && turned.abs() < 1.01, "{step}: {moved} m/s, {turned} rad/s");
            }
            let seconds = plan.frames() as f32 / 60.0;
            assert!(seconds < 8.0 + distance / 0.8, "{step}: {distance} m in {seconds} s");
        }
    }

    #[test]
    fn rejects_goals_that_are_none() {
        for text in ["", "1,2", "1,2,3,4", "1,a,3"] {
            let said = text.parse::<Goal>().unwrap_err().to_string();
            assert!(said.contains("reach:X,Z,DEG"), "{said}");
        }
        for text in ["NaN,1,0", "1,3000,0"] {
            let goal: Goal = text.parse().unwrap();
            assert!(ControlPlan::reach(&goal, 60.0).unwrap_err().to_string().contains("move it nearer"));
        }
    }
}
