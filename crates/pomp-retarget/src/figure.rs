//! Forward kinematics of a target skeleton by the rotations of project joints.

use crate::follow::Follow;
use glam::{Quat, Vec3};
use pomp_motion::rotation::swing_twist;
use pomp_motion::{JointIndex, humanoid};

/// World rotations of the project joints.
pub type Roles<T> = [T; humanoid::JOINTS];

/// A body of K joints, metres, Y up.
#[derive(Clone, Debug)]
pub struct Figure {
    pub parents: Vec<Option<JointIndex>>,
    /// Translation from the parent in the parent's frame, metres; for the root from the world's origin.
    pub offsets: Vec<Vec3>,
    /// What each joint follows.
    pub follow: Vec<Follow>,
    /// Rotation of each joint relative to its parent where it keeps its rest pose.
    pub rest: Vec<Quat>,
    /// Joint that plays each project joint.
    pub joint_of: Roles<Option<JointIndex>>,
    /// Per project joint the rotation from its T-pose frame to the frame of the joint that plays it.
    pub joint_from_project: Roles<Option<Quat>>,
    /// Rotation from the file's world to Y up.
    pub world_from_file: Quat,
}

/// World positions and rotations of the K joints of a figure.
#[derive(Clone, Debug)]
pub struct Placed {
    pub positions: Vec<Vec3>,
    pub rotations: Vec<Quat>,
}

impl Figure {
    pub fn pelvis(&self) -> usize {
        self.joint_of[humanoid::HIPS.0].expect("a rig map that fits has hips").0
    }

    /// World rotation of the joint that plays a role whose rotation is `of`.
    fn joint_rotation(&self, role: JointIndex, of: Quat) -> Quat {
        of * self.joint_from_project[role.0].expect("a mapped joint is calibrated").inverse()
    }

    /// World rotation of a joint, for these rotations of the project joints.
    pub fn rotation(&self, joint: usize, given: &Roles<Quat>, parent: Quat) -> Quat {
        let rotation = match self.follow[joint] {
            Follow::Role(role) => self.joint_rotation(role, given[role.0]),
            Follow::Rest => parent * self.rest[joint],
            Follow::Pelvis(from_pelvis) => {
                self.joint_rotation(humanoid::HIPS, given[humanoid::HIPS.0]) * from_pelvis
            }
            Follow::Bend { from, to, share, rest } => {
                self.joint_rotation(from, given[from.0].slerp(given[to.0], share)) * rest
            }
            Follow::Twist { from, to, axis, share, rest } => {
                let (_, twist) = swing_twist(given[from.0].inverse() * given[to.0], axis);
                let shared = Quat::IDENTITY.slerp(twist, share);
                self.joint_rotation(from, given[from.0] * shared) * rest
            }
        };
        rotation.normalize()
    }

    /// All joints, with the pelvis joint at `pelvis`.
    pub fn place(&self, pelvis: Vec3, given: &Roles<Quat>) -> Placed {
        let joints = self.parents.len();
        let (mut positions, mut rotations) = (Vec::with_capacity(joints), Vec::with_capacity(joints));
        for joint in 0..joints {
            let (at, turn) = self.parents[joint]
                .map_or((Vec3::ZERO, self.world_from_file), |p| (positions[p.0], rotations[p.0]));
            positions.push(at + turn * self.offsets[joint]);
            rotations.push(self.rotation(joint, given, turn));
        }
        let shift = pelvis - positions[self.pelvis()];
        positions.iter_mut().for_each(|position| *position += shift);
        Placed { positions, rotations }
    }

    /// The T-pose, with the pelvis joint at the origin.
    pub fn t_pose(&self) -> Placed {
        self.place(Vec3::ZERO, &[Quat::IDENTITY; humanoid::JOINTS])
    }

    /// Where the joint is that plays a role.
    pub fn at(&self, placed: &Placed, role: JointIndex) -> Option<Vec3> {
        self.joint_of[role.0].map(|joint| placed.positions[joint.0])
    }

    /// Middle between the joints that play two roles.
    pub fn middle(&self, placed: &Placed, [left, right]: [JointIndex; 2]) -> Option<Vec3> {
        Some((self.at(placed, left)? + self.at(placed, right)?) * 0.5)
    }
}
