//! Poses as vectors in which straight lines are motions and distances are metres.
//!
//! A vector has the position of the pelvis and, for each joint, the rotation vector from the joint's mean rotation. Rotation vectors
//! about a mean have no wraps: angles would jump by a turn, and a rotation vector from the rest pose does so where an arm that hangs
//! is half a turn from the T-pose in sight; from the mean, walking stays within a right angle or so. They are three numbers a joint,
//! and every sum of them is a rotation; six numbers a joint would not be without a correction after each step.
//!
//! Each rotation is multiplied by the root mean square of the distances of the joints that it moves. So the distance of two vectors is,
//! to the first order, the root mean square over the joints of their distances in metres, and principal components keep what moves
//! joints rather than what turns them.

use glam::{Quat, Vec3};
use pomp_motion::rotation::{exp, log};
use pomp_motion::{Pose, Skeleton};
use std::sync::Arc;

/// Coordinates of the pelvis in front of those of the joints.
pub(crate) const PELVIS: usize = 3;
/// Length of the bone that a joint without children is taken to move, metres: a toe, the head, a hand.
const END_BONE_M: f32 = 0.1;
/// Largest rotation from the mean that is taken, radians: half a turn is where rotation vectors wrap.
const LARGEST_RAD: f32 = 2.9;

/// The vectors of the poses of a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct PostureSpace {
    skeleton: Arc<Skeleton>,
    means: Vec<Quat>,
    /// Metres per radian of each joint.
    levers: Vec<f64>,
}

impl PostureSpace {
    /// The vectors about the mean rotations of `poses`.
    pub(crate) fn about<'a>(
        skeleton: &Arc<Skeleton>,
        poses: &(impl Iterator<Item = &'a Pose> + Clone),
    ) -> Self {
        let means = (0..skeleton.len())
            .map(|joint| {
                let mut rotations = poses.clone().map(|pose| pose.local_rotations[joint]);
                let first = rotations.next().unwrap_or(Quat::IDENTITY);
                let sum = rotations.fold(first, |sum, rotation| {
                    sum + if sum.dot(rotation) < 0.0 { -rotation } else { rotation }
                });
                sum.normalize()
            })
            .collect();
        Self::of_means(skeleton, means)
    }

    /// The vectors about given rotations.
    pub(crate) fn of_means(skeleton: &Arc<Skeleton>, means: Vec<Quat>) -> Self {
        let pose = Pose { root_position: Vec3::ZERO, local_rotations: means.as_slice().into() };
        let world = skeleton.forward_kinematics(&pose);
        let joints = skeleton.len();
        let mut squares = vec![0.0f64; joints];
        let mut is_end = vec![true; joints];
        for joint in 0..joints {
            let mut above = skeleton.joints()[joint].parent;
            if let Some(parent) = above {
                is_end[parent.0] = false;
            }
            while let Some(ancestor) = above {
                squares[ancestor.0] +=
                    f64::from(world.positions[joint].distance_squared(world.positions[ancestor.0]));
                above = skeleton.joints()[ancestor.0].parent;
            }
        }
        let levers = squares
            .iter()
            .zip(is_end)
            .map(|(&square, is_end)| {
                let end = if is_end { f64::from(END_BONE_M).powi(2) } else { 0.0 };
                ((square + end) / joints as f64).sqrt()
            })
            .collect();
        Self { skeleton: Arc::clone(skeleton), means, levers }
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// The rotations that the vectors are about.
    pub(crate) fn means(&self) -> &[Quat] {
        &self.means
    }

    /// Numbers of a vector, 3 (J + 1).
    pub fn size(&self) -> usize {
        PELVIS + 3 * self.skeleton.len()
    }

    /// The vector of a pose, or the joint that is too far from its mean rotation.
    pub(crate) fn encode(&self, pose: &Pose) -> Result<Vec<f64>, String> {
        let mut vector = Vec::with_capacity(self.size());
        vector.extend(pose.root_position.to_array().map(f64::from));
        for (joint, (&rotation, &mean)) in pose.local_rotations.iter().zip(&self.means).enumerate() {
            let turn = log(mean.inverse() * rotation);
            if turn.length() > LARGEST_RAD {
                return Err(format!(
                    "{} is turned by {:.0}° from its mean over the cycles of the fit",
                    self.skeleton.joints()[joint].name,
                    turn.length().to_degrees()
                ));
            }
            vector.extend(turn.to_array().map(|radians| f64::from(radians) * self.levers[joint]));
        }
        Ok(vector)
    }

    /// The pose of a vector.
    pub(crate) fn decode(&self, vector: &[f64]) -> Pose {
        let at = |k: usize, over: f64| (vector[k] / over) as f32;
        let local_rotations = self
            .means
            .iter()
            .enumerate()
            .map(|(joint, &mean)| {
                let k = PELVIS + 3 * joint;
                let lever = self.levers[joint];
                (mean * exp(Vec3::new(at(k, lever), at(k + 1, lever), at(k + 2, lever)))).normalize()
            })
            .collect();
        Pose { root_position: Vec3::new(at(0, 1.0), at(1, 1.0), at(2, 1.0)), local_rotations }
    }
}
