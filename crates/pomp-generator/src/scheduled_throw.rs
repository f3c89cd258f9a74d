//! Boxes that a rollout has thrown at its character.

use crate::rollout::push_frame;
use crate::{FRAME_RATE_HZ, Generator, GeneratorError};
use glam::{Quat, Vec3};
use pomp_motion::GlobalPose;
use pomp_physics::ThrownBox;
use pomp_terrain::HeightMap;
use serde::{Deserialize, Serialize};

/// How far from the body a box begins to fly, metres along the ground.
const FROM_M: f32 = 3.0;
/// How high above the body it begins, metres.
const ABOVE_M: f32 = 0.3;
/// Density of a packed crate, kg/m³, and the sides that a cube may then have, metres.
const CRATE_KG_M3: f32 = 220.0;
const SIDE_M: [f32; 2] = [0.08, 0.9];
/// How fast it tumbles, rad/s.
const TUMBLE_RAD_S: f32 = 3.0;

/// A box to come: a cube as heavy as asked for, aimed at where the body will be when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduledThrow {
    /// When it begins to fly, seconds from the start, at least one frame.
    pub time_s: f32,
    /// At which body, index into [`Generator::body_names`].
    pub body: usize,
    /// Mass, kg.
    pub mass_kg: f32,
    /// Speed along the ground, m/s.
    pub speed_m_s: f32,
    /// Where it comes from, degrees about the vertical: 0 from +Z, 90 from +X, world.
    pub from_deg: f32,
}

impl ScheduledThrow {
    /// The frame in which it begins to fly.
    pub(crate) fn frame(&self) -> usize {
        push_frame(self.time_s)
    }

    /// The cube, thrown at a body at `target` that moves at `velocity`, over `ground` under `gravity_m_s2`.
    fn aimed(&self, target: Vec3, velocity: Vec3, ground: &HeightMap, gravity_m_s2: f32) -> ThrownBox {
        let side = (self.mass_kg / CRATE_KG_M3).cbrt().clamp(SIDE_M[0], SIDE_M[1]);
        let (sin, cos) = self.from_deg.to_radians().sin_cos();
        let mut from = target + FROM_M * Vec3::new(sin, 0.0, cos) + Vec3::Y * ABOVE_M;
        from.y = from.y.max(ground.height(from.x, from.z) + side);
        let flight_s = FROM_M / self.speed_m_s;
        let level = Vec3::new(velocity.x, 0.0, velocity.z);
        let way = target + level * flight_s - from;
        let velocity = way / flight_s + Vec3::Y * (0.5 * gravity_m_s2 * flight_s);
        let rotation = Quat::from_rotation_y(velocity.x.atan2(velocity.z));
        ThrownBox {
            size_m: Vec3::splat(side),
            mass_kg: self.mass_kg,
            position: from,
            rotation,
            velocity,
            spin: rotation * Vec3::new(TUMBLE_RAD_S, 0.0, 0.0),
        }
    }

    /// Throws it at a character that stands as `poses` end.
    ///
    /// # Errors
    /// A throw before there is anybody to aim at, and what [`Generator::throw`] refuses.
    pub(crate) fn throw(
        &self,
        generator: &mut Generator,
        poses: &[GlobalPose],
        gravity_m_s2: f32,
    ) -> Result<(), GeneratorError> {
        let bad = |reason: String| Err(GeneratorError::BadControl { reason });
        let Some(now) = poses.last() else {
            return bad("a box is thrown in the first frame; throw it a frame later".to_owned());
        };
        if !(self.speed_m_s >= 1.0 && self.from_deg.is_finite()) {
            return bad(format!(
                "a box comes from {}° at {} m/s; give a direction, and at least 1 m/s",
                self.from_deg, self.speed_m_s
            ));
        }
        let target = now.positions[self.body];
        let before = poses.get(poses.len().wrapping_sub(2)).map_or(target, |pose| pose.positions[self.body]);
        let velocity = (target - before) * FRAME_RATE_HZ;
        let thrown = self.aimed(target, velocity, generator.terrain(), gravity_m_s2);
        generator.throw(&thrown).map(|_number| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_arrives_where_the_body_will_be() {
        let ground = HeightMap::flat(20.0, 0.5).unwrap();
        let throw = ScheduledThrow { time_s: 1.0, body: 0, mass_kg: 8.0, speed_m_s: 6.0, from_deg: 90.0 };
        let (target, velocity) = (Vec3::new(1.0, 1.2, -2.0), Vec3::new(0.0, 0.3, 1.2));
        let thrown = throw.aimed(target, velocity, &ground, 9.81);
        assert!(thrown.position.x > target.x + 2.9, "it comes from +X: {}", thrown.position);
        let t = 3.0 / 6.0;
        let there = thrown.position + thrown.velocity * t - Vec3::Y * (0.5 * 9.81 * t * t);
        assert!(there.distance(target + Vec3::new(0.0, 0.0, 1.2) * t) < 1e-4, "{there}");
        thrown.validate().unwrap();
    }
}
