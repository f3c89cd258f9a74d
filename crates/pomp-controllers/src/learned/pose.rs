//! What the decompressor gives of a frame.

use crate::matching::MatchingClip;
use glam::{Quat, Vec2, Vec3};
use pomp_motion::features::FUTURE_KEYS;
use pomp_motion::rotation::{from_6d, to_6d};
use pomp_motion::{FRAME_RATE_HZ, Gait, Pose};
use std::ops::Range;

/// Where the values of a frame lie: local rotations, height of the pelvis, motion of the root, gait, way ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoseLayout {
    joints: usize,
}

/// A frame as the values say.
#[derive(Clone, Debug)]
pub struct DecodedPose {
    /// The pose over its root's place on the ground, facing +Z.
    pub pose: Pose,
    /// Displacement to the next frame in the root frame, per second, m/s.
    pub velocity: Vec2,
    /// Turn to the next frame, per second, rad/s.
    pub yaw_rate: f32,
    /// Gait weights.
    pub gait: [f32; Gait::COUNT],
    /// Future keys in the root frame: position and heading.
    pub trajectory: [(Vec2, f32); FUTURE_KEYS],
}

impl PoseLayout {
    /// Of so many joints.
    pub fn new(joints: usize) -> Self {
        Self { joints }
    }

    /// Two matrix columns of each local rotation, the root's relative to its heading, 6J.
    pub fn rotations(&self) -> Range<usize> {
        0..6 * self.joints
    }

    /// Height of the pelvis above the ground, metres.
    pub fn height(&self) -> usize {
        self.rotations().end
    }

    /// Velocity of the root on the ground (x, z), m/s, and rate of its heading, rad/s: from this frame to the next, in its root frame.
    pub fn motion(&self) -> Range<usize> {
        let start = self.height() + 1;
        start..start + 3
    }

    /// Gait weights.
    pub fn gait(&self) -> Range<usize> {
        let start = self.motion().end;
        start..start + Gait::COUNT
    }

    /// Of each future key but the present: position on the ground (x, z), metres, sine and cosine of the heading, in the root frame.
    pub fn way(&self) -> Range<usize> {
        let start = self.gait().end;
        start..start + 4 * (FUTURE_KEYS - 1)
    }

    /// Number of values.
    pub fn width(&self) -> usize {
        self.way().end
    }

    /// Appends the values of a frame of a clip.
    pub fn append(&self, clip: &MatchingClip, frame: usize, row: &mut Vec<f32>) {
        let Pose { root_position, local_rotations } = clip.pose_root(frame);
        row.extend(local_rotations.iter().flat_map(|rotation| to_6d(*rotation)));
        row.push(root_position.y);
        let (displacement, turn) = clip.advance(frame);
        row.extend([displacement.x, displacement.y, turn].map(|way| way * FRAME_RATE_HZ));
        row.extend(clip.gaits[frame]);
        for (position, yaw) in &clip.future_keys(frame)[1..] {
            row.extend([position.x, position.y, yaw.sin(), yaw.cos()]);
        }
    }

    /// Reads values: rotations are made orthonormal, gait weights are clamped and sum to one.
    ///
    /// # Panics
    /// When there are too few.
    pub fn read(&self, row: &[f32]) -> DecodedPose {
        let rotations = row[self.rotations()].chunks_exact(6);
        let local_rotations: Vec<Quat> =
            rotations.map(|d| from_6d([d[0], d[1], d[2], d[3], d[4], d[5]])).collect();
        let motion = &row[self.motion()];
        let mut gait: [f32; Gait::COUNT] = std::array::from_fn(|at| row[self.gait()][at].max(0.0));
        let total: f32 = gait.iter().sum();
        if total > 1e-3 {
            gait.iter_mut().for_each(|weight| *weight /= total);
        } else {
            gait = Gait::Stand.one_hot();
        }
        let mut trajectory = [(Vec2::ZERO, 0.0); FUTURE_KEYS];
        for (key, way) in trajectory[1..].iter_mut().zip(row[self.way()].chunks_exact(4)) {
            *key = (Vec2::new(way[0], way[1]), way[2].atan2(way[3]));
        }
        DecodedPose {
            pose: Pose {
                root_position: Vec3::Y * row[self.height()],
                local_rotations: local_rotations.into(),
            },
            velocity: Vec2::new(motion[0], motion[1]),
            yaw_rate: motion[2],
            gait,
            trajectory,
        }
    }
}
