//! Inverse dynamics of the whole body: force and centre of pressure by its motion.

use super::filter::{Smoothed, smoothed, smoothed_between};
use super::landing::landings;
use super::shift::end_shifts;
use crate::ImpulseConfig;
use pomp_motion::glam::{DVec3, Vec3};
use pomp_motion::{Clip, GlobalPose, humanoid};

/// The joint at a segment's other end, and the place of the centre of mass between the two. After de Leva, J.
/// Biomechanics 29 (1996), table 4, males: thigh 0.4095, shank 0.4459, upper arm 0.5772, forearm 0.4574; trunk, foot and
/// girdle ours, as in the ragdoll.
const CENTERS: [(usize, usize, f32); 17] = [
    (1, 2, 0.4095),
    (2, 3, 0.4459),
    (3, 4, 0.45),
    (5, 6, 0.4095),
    (6, 7, 0.4459),
    (7, 8, 0.45),
    (9, 10, 0.5),
    (10, 11, 0.5),
    (11, 12, 0.45),
    (12, 13, 0.5),
    (14, 15, 0.5),
    (15, 16, 0.5772),
    (16, 17, 0.4574),
    (18, 19, 0.5),
    (19, 20, 0.5772),
    (20, 21, 0.4574),
    (4, 4, 0.0),
];

/// Centre of mass of each body, world, metres.
fn segment_centers(pose: &GlobalPose, height_m: f32) -> Vec<DVec3> {
    let mut centers = pose.positions.clone();
    for (joint, end, share) in CENTERS {
        centers[joint] = pose.positions[joint].lerp(pose.positions[end], share);
    }
    let head = humanoid::HEAD.0;
    let up = Vec3::new(0.0, 0.044, 0.010) * height_m;
    centers[head] = pose.positions[head] + pose.rotations[head] * up;
    for hand in [humanoid::LEFT_HAND.0, humanoid::RIGHT_HAND.0] {
        let along = (pose.positions[hand] - pose.positions[hand - 1]).normalize_or_zero();
        centers[hand] = pose.positions[hand] + along * (0.05 * height_m);
    }
    centers.iter().map(|c| c.as_dvec3()).collect()
}

/// What the motion of a clip asks of the ground. Row t is of the time from frame t − 1 to frame t.
pub(super) struct WholeBody {
    /// Total force of the ground over body weight `[T]`; 1 upwards when at rest.
    pub(super) force_bw: Vec<DVec3>,
    /// Centre of mass in the middle of the row's time, metres `[T]`.
    pub(super) center: Vec<DVec3>,
    /// Rate of change of the angular momentum about it over body weight, metres `[T]`.
    pub(super) moment_m: Vec<DVec3>,
    /// Velocity of the centre of mass at the frames −1 to T − 1, m/s.
    pub(super) velocity: Vec<DVec3>,
    /// Acceleration of the bodies' centres of mass, m/s² `[T, B]`, as smooth as the moments.
    pub(super) accelerations: Vec<Vec<Vec3>>,
}

impl WholeBody {
    pub(super) fn of(
        clip: &Clip,
        poses: &[GlobalPose],
        contact: &[[bool; 4]],
        masses: &[f32],
        gravity: f64,
        config: &ImpulseConfig,
    ) -> Self {
        let rate = f64::from(clip.frame_rate_hz);
        let height = pomp_physics::body_height(&clip.skeleton);
        let frames = poses.len();
        let total: f64 = masses.iter().map(|&m| f64::from(m)).sum();
        let centers: Vec<Vec<DVec3>> = poses.iter().map(|pose| segment_centers(pose, height)).collect();
        let weighted = |row: &[DVec3]| -> DVec3 {
            row.iter().zip(masses).map(|(c, &m)| *c * f64::from(m)).sum::<DVec3>() / total
        };
        let center: Vec<DVec3> = centers.iter().map(|row| weighted(row)).collect();
        let shifts = end_shifts(poses, contact, rate, gravity).map(|shift| DVec3::Y * shift);
        let velocity_at = |hz: f32| smoothed_between(&center, shifts, f64::from(hz), rate).velocity;
        let mut velocity = velocity_at(config.bandwidth_hz);
        let landing = landings(&velocity, contact, rate);
        if landing.iter().any(|share| *share > 0.0) {
            // Sideways the fast band is noise in landings, too.
            for ((v, fast), share) in
                velocity.iter_mut().zip(velocity_at(config.landing_bandwidth_hz)).zip(&landing)
            {
                v.y += (fast.y - v.y) * share;
            }
        }
        let force_bw: Vec<DVec3> =
            velocity.windows(2).map(|v| (v[1] - v[0]) * (rate / gravity) + DVec3::Y).collect();

        let segments: Vec<Smoothed> = (0..masses.len())
            .map(|body| {
                let path: Vec<DVec3> = centers.iter().map(|row| row[body]).collect();
                smoothed(&path, f64::from(config.moment_bandwidth_hz), rate)
            })
            .collect();
        let angular: Vec<DVec3> = (0..frames)
            .map(|frame| {
                let place: Vec<DVec3> = segments.iter().map(|s| s.position[frame]).collect();
                let speed: Vec<DVec3> = segments.iter().map(|s| s.velocity[frame + 1]).collect();
                let (middle, drift) = (weighted(&place), weighted(&speed));
                place
                    .iter()
                    .zip(&speed)
                    .zip(masses)
                    .map(|((p, v), &m)| (*p - middle).cross(*v - drift) * f64::from(m))
                    .sum::<DVec3>()
                    / (total * gravity)
            })
            .collect();
        let accelerations = (0..frames)
            .map(|frame| {
                segments
                    .iter()
                    .map(|s| ((s.velocity[frame + 1] - s.velocity[frame]) * rate).as_vec3())
                    .collect()
            })
            .collect();
        let moment_m = (0..frames)
            .map(|frame| {
                let before = frame.max(1) - 1;
                let after = (before + 1).min(frames - 1);
                (angular[after] - angular[before]) * rate
            })
            .collect();
        let center = (0..frames).map(|f| (center[f] + center[f.saturating_sub(1)]) * 0.5).collect();
        Self { force_bw, center, moment_m, velocity, accelerations }
    }

    /// The zero-moment point on the level `ground_y`, metres. `None` when the force is too small.
    pub(super) fn zero_moment_point(&self, frame: usize, ground_y: f64) -> Option<DVec3> {
        let (force, center, moment) = (self.force_bw[frame], self.center[frame], self.moment_m[frame]);
        let drop = ground_y - center.y;
        (force.y > 0.1).then(|| {
            let x = center.x + (moment.z + drop * force.x) / force.y;
            let z = center.z + (drop * force.z - moment.x) / force.y;
            DVec3::new(x, ground_y, z)
        })
    }
}
