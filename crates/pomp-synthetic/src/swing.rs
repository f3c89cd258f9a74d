use crate::Side;
use crate::ease::hermite;
use crate::path::{RootPath, left_forward};
use crate::planted_foot::{FootPose, FootShape};
use crate::stance::Stance;
use crate::style::Style;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::smoothstep;
use pomp_terrain::HeightMap;

/// Clearance that a swinging sole keeps at mid-swing, metres.
const CLEARANCE_M: f32 = 0.015;
/// Most that a swing is raised to clear an obstacle, metres.
const HIGHEST_RAISE_M: f32 = 0.6;

/// The leg that swings.
#[derive(Clone, Copy)]
pub(crate) struct SwingLeg {
    pub(crate) side: Side,
    pub(crate) thigh_m: f32,
    pub(crate) shank_m: f32,
    /// Height of the hip joint over the ground while moving, metres.
    pub(crate) hip_height_m: f32,
    pub(crate) shape: FootShape,
}

/// The way of a foot through the air from one stance to the next.
///
/// The published joint angles, hung from a hip that follows the root's path, give the shape; a cubic correction
/// makes position and velocity meet both stances; a bump clears the ground.
pub(crate) struct Swing<'a> {
    leg: SwingLeg,
    path: &'a RootPath,
    style: &'a Style,
    from: &'a Stance,
    to: &'a Stance,
    /// Corrections of ankle and pitch at the ends, and of their velocities per unit of swing.
    ankle: [Vec3; 4],
    pitch: [f32; 4],
    /// Share of the usual joint angles, by the length of the step.
    share: f32,
    raise_m: f32,
}

impl<'a> Swing<'a> {
    pub(crate) fn between(
        leg: SwingLeg,
        path: &'a RootPath,
        style: &'a Style,
        terrain: &HeightMap,
        from: &'a Stance,
        to: &'a Stance,
    ) -> Self {
        let stride_m = path.speed * style.stride_s;
        let share = (from.foothold.heel.distance(to.foothold.heel) / stride_m).clamp(0.3, 1.05);
        let mut swing =
            Self { leg, path, style, from, to, ankle: [Vec3::ZERO; 4], pitch: [0.0; 4], share, raise_m: 0.0 };
        swing.meet_ends();
        swing.raise_m = swing.needed_raise(terrain);
        swing
    }

    fn duration(&self) -> f32 {
        self.to.from_s - self.from.until_s
    }

    /// Ankle and pitch of the published curves at swing `u`.
    fn nominal(&self, u: f32) -> (Vec3, f32) {
        let travelled = self.path.travelled(self.from.until_s + u * self.duration());
        let (left, forward) = left_forward(self.path.heading_at(travelled));
        let angles = self.style.curves.at(self.style.duty + u * (1.0 - self.style.duty));
        let (hip, knee) = (angles.hip * self.share, angles.knee * self.share);
        let shank = hip - knee;
        let ahead = self.leg.thigh_m * hip.sin() + self.leg.shank_m * shank.sin();
        let down = self.leg.thigh_m * hip.cos() + self.leg.shank_m * shank.cos();
        let (low, high) = (self.from.foothold.heel.y, self.to.foothold.heel.y);
        let ground = low + (high - low) * smoothstep(u);
        let point = self.path.point_at(travelled);
        let ankle = Vec3::new(point.x, ground + self.leg.hip_height_m - down, point.y)
            + left * (self.leg.side.sign() * self.style.half_width_m)
            + forward * ahead;
        (ankle, -(shank + angles.ankle * self.share))
    }

    fn meet_ends(&mut self) {
        let h = 2e-3;
        let duration = self.duration();
        let slope = |u: f32| {
            let (a, b) = (self.nominal(u - h), self.nominal(u + h));
            ((b.0 - a.0) / (2.0 * h), (b.1 - a.1) / (2.0 * h))
        };
        let (nominal_start, nominal_end) = (self.nominal(0.0), self.nominal(1.0));
        let (slope_start, slope_end) = (slope(0.0), slope(1.0));
        let rate = self.from.leaving_pitch_rate();
        let leaving = self.from.foothold.rolled(self.from.rise_pitch);
        let just_before = self.from.foothold.rolled(self.from.rise_pitch - rate * 1e-3);
        let leaving_velocity = (leaving.ankle - just_before.ankle) / 1e-3;
        let landing = self.to.foothold.rolled(self.to.strike_pitch);
        // The foot lands at rest: its stance begins with neither velocity nor pitch rate.
        self.ankle = [
            leaving.ankle - nominal_start.0,
            leaving_velocity * duration - slope_start.0,
            landing.ankle - nominal_end.0,
            -slope_end.0,
        ];
        self.pitch = [
            self.from.rise_pitch - nominal_start.1,
            rate * duration - slope_start.1,
            self.to.strike_pitch - nominal_end.1,
            -slope_end.1,
        ];
    }

    fn at(&self, u: f32) -> FootPose {
        let (ankle, pitch) = self.nominal(u);
        let [a, da, b, db] = self.ankle;
        let ankle = ankle + hermite(a, da, b, db, u) + Vec3::Y * (self.raise_m * bump(u));
        let [p, dp, q, dq] = self.pitch;
        let pitch = pitch + hermite(p, dp, q, dq, u);
        let flat = self.from.foothold.flat.slerp(self.to.foothold.flat, smoothstep(u));
        let foot = flat * Quat::from_rotation_x(pitch);
        // The toes, bent back against the ground at toe-off, come straight in the first third of the swing.
        let third = 0.35;
        let rate = -self.from.leaving_pitch_rate() * self.duration() * third;
        let bend = if u < third { hermite(-self.from.rise_pitch, rate, 0.0, 0.0, u / third) } else { 0.0 };
        FootPose { ankle, foot, toe: foot * Quat::from_rotation_x(bend) }
    }

    fn needed_raise(&self, terrain: &HeightMap) -> f32 {
        let samples = 32;
        let mut raise = 0.0f32;
        for k in 2..samples - 1 {
            let u = k as f32 / samples as f32;
            for point in soles(&self.at(u), self.leg.shape) {
                let missing = CLEARANCE_M * bump(u) + terrain.height(point.x, point.z) - point.y;
                raise = raise.max(missing / bump(u));
            }
        }
        raise.min(HIGHEST_RAISE_M)
    }

    pub(crate) fn pose(&self, time: f32) -> FootPose {
        self.at((time - self.from.until_s) / self.duration())
    }
}

/// 1 at mid-swing, 0 with zero slope at both ends.
fn bump(u: f32) -> f32 {
    let v = u * (1.0 - u);
    16.0 * v * v
}

/// Lowest points of a foot, world: the sole under the ankle and the sole under the toe joint.
pub(crate) fn soles(pose: &FootPose, shape: FootShape) -> [Vec3; 2] {
    let heel = pose.ankle - pose.foot * (Vec3::Y * shape.ankle_height);
    let toe_joint =
        pose.ankle + pose.foot * Vec3::new(0.0, shape.toe_height - shape.ankle_height, shape.length);
    [heel, toe_joint - pose.toe * (Vec3::Y * shape.toe_height)]
}
