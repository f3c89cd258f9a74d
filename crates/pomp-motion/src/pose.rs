use crate::{JointIndex, PerJoint, Skeleton};
use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// Root position in the world and one local rotation per joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Position of joint 0 in the world, metres.
    pub root_position: Vec3,
    /// Rotation of each joint relative to its parent; the root's relative to the world.
    pub local_rotations: PerJoint<Quat>,
}

impl Pose {
    /// The skeleton's rest pose: the T-pose, for the project skeleton.
    pub fn rest(skeleton: &Skeleton) -> Self {
        Self {
            root_position: skeleton.joints()[0].offset,
            local_rotations: PerJoint::from_elem(Quat::IDENTITY, skeleton.len()),
        }
    }

    /// Interpolates roots linearly and rotations spherically; `t` = 0 is `self`.
    pub fn lerp(&self, other: &Self, t: f32) -> Self {
        let local_rotations =
            self.local_rotations.iter().zip(&other.local_rotations).map(|(a, b)| a.slerp(*b, t)).collect();
        Self { root_position: self.root_position.lerp(other.root_position, t), local_rotations }
    }
}

/// World positions and rotations of all joints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlobalPose {
    /// Joint positions, metres.
    pub positions: PerJoint<Vec3>,
    /// Joint rotations.
    pub rotations: PerJoint<Quat>,
}

impl GlobalPose {
    /// Local rotations of these world rotations; bone lengths come from the skeleton, not from `self`.
    pub fn to_local(&self, skeleton: &Skeleton) -> Pose {
        let local_rotations = (0..skeleton.len())
            .map(|i| match skeleton.parent(JointIndex(i)) {
                None => self.rotations[i],
                Some(parent) => (self.rotations[parent.0].inverse() * self.rotations[i]).normalize(),
            })
            .collect();
        Pose { root_position: self.positions[0], local_rotations }
    }
}
