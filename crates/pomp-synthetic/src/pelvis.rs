use crate::ease::{smooth_above, smoothed};
use crate::feet::FootTrack;
use crate::jump::{GRAVITY, Jump};
use crate::leg_ik;
use crate::path::{RootPath, left_forward};
use crate::style::Style;
use crate::{MotionRequest, Side, SyntheticError};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::random::noise;
use pomp_motion::smoothstep;
use pomp_terrain::HeightMap;
use std::f32::consts::{PI, TAU};

/// Longest use of the leg, share of its length: the knee keeps 9.6° of flexion, as in quiet standing.
const REACH: f32 = 0.9965;

/// Lengths that the pelvis and the legs need, metres.
#[derive(Clone, Copy)]
pub(crate) struct LegLengths {
    pub(crate) thigh: f32,
    pub(crate) shank: f32,
    /// Hip joint of the left leg in the pelvis.
    pub(crate) left_hip: Vec3,
    /// Pelvis over the ground in the rest pose.
    pub(crate) rest_height: f32,
}

impl LegLengths {
    fn hip(&self, side: Side) -> Vec3 {
        Vec3::new(self.left_hip.x * side.sign(), self.left_hip.y, self.left_hip.z)
    }
}

/// Pelvis and legs over time, and the signals that the upper body follows.
pub(crate) struct PelvisTrack {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) rotations: Vec<Quat>,
    /// World rotations of thigh and shank, left and right.
    pub(crate) legs: Vec<[[Quat; 2]; 2]>,
    /// How far the left foot is ahead of the right, metres, smoothed.
    pub(crate) lead_m: Vec<f32>,
    /// Pelvis yaw and roll against heading and level, radians.
    pub(crate) yaw: Vec<f32>,
    pub(crate) roll: Vec<f32>,
    /// Height against standing on the same ground, metres.
    pub(crate) height: Vec<f32>,
}

/// What moves the pelvis.
pub(crate) struct PelvisModel<'a> {
    pub(crate) request: &'a MotionRequest,
    pub(crate) terrain: &'a HeightMap,
    pub(crate) path: &'a RootPath,
    pub(crate) style: &'a Style,
    pub(crate) lengths: LegLengths,
    pub(crate) jumps: &'a [Jump],
}

impl PelvisModel<'_> {
    /// The track at `times`, `rate_hz` samples per second.
    ///
    /// Sway and list follow the supporting foot, rotation follows the leading one; the height is the desired one
    /// where both legs reach, and lower by a smooth amount where they do not.
    pub(crate) fn track(
        &self,
        feet: &[FootTrack; 2],
        times: &[f32],
        rate_hz: f32,
    ) -> Result<PelvisTrack, SyntheticError> {
        let frames = |seconds: f32| (seconds * rate_hz).round() as usize;
        let size = self.request.body_height_m / 1.75;
        let headings: Vec<f32> =
            times.iter().map(|&t| self.path.heading_at(self.path.travelled(t))).collect();
        let [left_foot, right_foot] = [Side::Left, Side::Right].map(|side| FootTrack::of(feet, side));
        let lead: Vec<f32> = (0..times.len())
            .map(|i| left_forward(headings[i]).1.dot(left_foot.poses[i].ankle - right_foot.poses[i].ankle))
            .collect();
        let lead = smoothed(&lead, frames(0.08));
        let support: Vec<f32> = (0..times.len())
            .map(|i| f32::from(u8::from(left_foot.planted[i])) - f32::from(u8::from(right_foot.planted[i])))
            .collect();
        let support = smoothed(&support, frames(0.22));
        let ground: Vec<f32> = times
            .iter()
            .map(|&t| {
                let point = self.path.point_at(self.path.travelled(t));
                self.terrain.height(point.x, point.y)
            })
            .collect();
        let ground = smoothed(&ground, frames(0.35));

        let yaw: Vec<f32> = lead.iter().map(|l| -0.13 * l / size).collect();
        let roll: Vec<f32> = support.iter().map(|s| 0.07 * s).collect();
        let mut positions = Vec::with_capacity(times.len());
        let mut rotations = Vec::with_capacity(times.len());
        for (i, &time) in times.iter().enumerate() {
            let fold: f32 = self.jumps.iter().map(|jump| jump.fold(time)).sum();
            let (left, forward) = left_forward(headings[i]);
            let point = self.path.point_at(self.path.travelled(time));
            let (sway_left, sway_forward) = self.sway(time);
            let aside = 0.045 * size * support[i] + sway_left;
            let ahead = sway_forward - 0.17 * size * fold;
            let height = ground[i] + self.desired_height(time);
            positions.push(Vec3::new(point.x, height, point.y) + left * aside + forward * ahead);
            let tilt = 0.35 * fold + 0.3 * self.style.lean * self.path.effort(time);
            rotations.push(
                Quat::from_rotation_y(headings[i] + yaw[i])
                    * Quat::from_rotation_z(roll[i])
                    * Quat::from_rotation_x(tilt),
            );
        }
        let excess: Vec<f32> =
            (0..times.len()).map(|i| self.excess(feet, i, positions[i], rotations[i])).collect();
        let radius = frames(if self.style.ballistic { 0.05 } else { 0.055 });
        let lowering = smooth_above(&excess, radius.max(1));
        for (position, by) in positions.iter_mut().zip(&lowering) {
            position.y -= by;
        }
        let height = positions.iter().zip(&ground).map(|(p, g)| p.y - g - self.lengths.rest_height).collect();
        let legs = (0..times.len())
            .map(|i| self.legs(feet, i, times[i], positions[i], rotations[i]))
            .collect::<Result<_, _>>()?;
        Ok(PelvisTrack { positions, rotations, legs, lead_m: lead, yaw, roll, height })
    }

    /// Pelvis over the ground if the legs were long enough.
    fn desired_height(&self, time: f32) -> f32 {
        let effort = self.path.effort(time);
        let jump: f32 = self.jumps.iter().map(|jump| jump.height(time)).sum();
        let bounce = if self.style.ballistic { self.bounce(time) } else { 0.0 };
        let standing = 0.0025 * self.request.body_height_m;
        self.lengths.rest_height - standing - effort * (self.style.drop_m - bounce) + jump
    }

    /// Height of a jogging pelvis against its height at contact: free fall in flight, and in stance a half
    /// sine of force that carries the body's weight on average over a step.
    fn bounce(&self, time: f32) -> f32 {
        let style = self.style;
        let step = 0.5 * style.stride_s;
        let stance = style.stance_s();
        let flight = step - stance;
        let first = self.path.bouts.as_ref().and_then(|bouts| bouts.first());
        let since = time - first.map_or(0.0, |bout| crate::step_plan::first_landing_s(bout, style));
        let t = since.rem_euclid(step);
        let leaving = 0.5 * GRAVITY * flight;
        if t < stance {
            let force = GRAVITY * step * PI / (2.0 * stance);
            let w = PI / stance;
            -leaving * t - 0.5 * GRAVITY * t * t + force * (t / w - (w * t).sin() / (w * w))
        } else {
            let t = t - stance;
            leaving * t - 0.5 * GRAVITY * t * t
        }
    }

    /// Postural sway to the left and forward, metres: a few millimetres below 1 Hz, less while moving.
    fn sway(&self, time: f32) -> (f32, f32) {
        let seed = self.request.seed;
        let wave = |stream: u64| -> f32 {
            (0..4)
                .map(|k| {
                    let hz = 0.12 + 0.17 * k as f32 + 0.03 * noise(seed, stream, k);
                    let phase = PI * noise(seed, stream + 1, k);
                    (TAU * hz * time + phase).sin() / (1.0 + k as f32)
                })
                .sum()
        };
        let scale = 0.002
            * self.request.variation
            * (1.0 - 0.6 * self.path.effort(time))
            * self.request.body_height_m;
        (scale * wave(11) * self.request.first_foot.sign(), 1.4 * scale * wave(21))
    }

    /// How far the pelvis must come down for both legs to reach their feet; negative when it could rise.
    fn excess(&self, feet: &[FootTrack; 2], i: usize, position: Vec3, rotation: Quat) -> f32 {
        let reach = REACH * (self.lengths.thigh + self.lengths.shank);
        [Side::Left, Side::Right]
            .map(|side| {
                let hip = position + rotation * self.lengths.hip(side);
                let ankle = FootTrack::of(feet, side).poses[i].ankle;
                let (dx, dz) = (hip.x - ankle.x, hip.z - ankle.z);
                // A foothold that no height can reach is left to the leg solver, which reports it.
                let room = (reach * reach - dx * dx - dz * dz).max(0.2 * reach * reach);
                hip.y - ankle.y - room.sqrt()
            })
            .into_iter()
            .fold(0.0, f32::max)
    }

    fn legs(
        &self,
        feet: &[FootTrack; 2],
        i: usize,
        time_s: f32,
        position: Vec3,
        rotation: Quat,
    ) -> Result<[[Quat; 2]; 2], SyntheticError> {
        let solve = |side: Side| {
            let foot = &FootTrack::of(feet, side).poses[i];
            let hip = position + rotation * self.lengths.hip(side);
            let toed = foot.foot * Vec3::X;
            // Knees point between the pelvis and the foot.
            let left = rotation * Vec3::X * 0.5 + Vec3::new(toed.x, 0.0, toed.z) * 0.5;
            let LegLengths { thigh, shank, .. } = self.lengths;
            leg_ik::solve(hip, foot.ankle, left, thigh, shank).map_err(|distance_m| {
                SyntheticError::OutOfReach { time_s, foot: side.name(), distance_m, reach_m: thigh + shank }
            })
        };
        Ok([solve(Side::Left)?, solve(Side::Right)?])
    }
}

/// Share of a stand, 0 while moving at 0.3 of full speed or more.
pub(crate) fn stillness(effort: f32) -> f32 {
    1.0 - smoothstep(effort / 0.3)
}
