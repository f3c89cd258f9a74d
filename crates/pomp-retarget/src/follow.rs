//! What joints do that play no joint of the project.

use glam::{Quat, Vec3};
use pomp_motion::{JointIndex, humanoid};

/// Share of a bone's length within which a joint counts as lying on it.
const ON_BONE: f32 = 0.1;
/// Places along a bone, as shares of its length, where a joint without children of its own counts as a twist bone.
const ALONG_BONE: std::ops::Range<f32> = 0.05..0.97;

/// Where the rotation of a joint comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Follow {
    /// It plays this project joint.
    Role(JointIndex),
    /// It keeps its rest pose on its parent.
    Rest,
    /// It carries all mapped joints, and turns with the pelvis: world rotation of the pelvis joint × this.
    Pelvis(Quat),
    /// It lies between two joints of the trunk, which play `from` and `to`, and takes this share of the bend between them.
    Bend {
        /// Project joint of the nearest mapped ancestor.
        from: JointIndex,
        /// Project joint of the nearest mapped descendant.
        to: JointIndex,
        /// 0 at `from`, 1 at `to`.
        share: f32,
        /// Rotation at rest relative to the joint that plays `from`.
        rest: Quat,
    },
    /// It lies on the bone of a limb from the joint that plays `from` to that which plays `to`, and takes this share of the
    /// twist between them.
    Twist {
        /// Project joint where the bone begins.
        from: JointIndex,
        /// Project joint where it ends.
        to: JointIndex,
        /// Direction of the bone in the T-pose.
        axis: Vec3,
        /// 0 at `from`, 1 at `to`.
        share: f32,
        /// Rotation at rest relative to the joint that plays `from`.
        rest: Quat,
    },
}

/// The tree of a target with what is mapped in it.
pub struct Tree<'a> {
    pub parents: &'a [Option<JointIndex>],
    /// Project joint that each joint plays.
    pub role_of: &'a [Option<JointIndex>],
    /// Rotation of each joint relative to its parent where nothing says otherwise.
    pub rest: &'a [Quat],
    /// Positions of all joints in the T-pose.
    pub t_pose: &'a [Vec3],
}

const TRUNK: [JointIndex; 6] =
    [humanoid::HIPS, humanoid::SPINE, humanoid::SPINE1, humanoid::SPINE2, humanoid::NECK, humanoid::HEAD];
/// Project joints whose bones twist, with the one that the bone leads to following in the skeleton.
const BONES: [JointIndex; 8] = [
    humanoid::LEFT_UP_LEG,
    humanoid::LEFT_LEG,
    humanoid::RIGHT_UP_LEG,
    humanoid::RIGHT_LEG,
    humanoid::LEFT_ARM,
    humanoid::LEFT_FORE_ARM,
    humanoid::RIGHT_ARM,
    humanoid::RIGHT_FORE_ARM,
];

impl Tree<'_> {
    /// The lowest joint that all mapped joints are below of, or which is one of them.
    pub fn carrier(&self) -> usize {
        let mapped: Vec<usize> = (0..self.parents.len()).filter(|&j| self.role_of[j].is_some()).collect();
        let mut common = self.with_ancestors(mapped[0]);
        for &joint in &mapped[1..] {
            let line = self.with_ancestors(joint);
            common.retain(|ancestor| line.contains(ancestor));
        }
        common[0]
    }

    /// A joint and its ancestors, nearest first.
    pub fn with_ancestors(&self, joint: usize) -> Vec<usize> {
        std::iter::successors(Some(joint), |&j| self.parents[j].map(|parent| parent.0)).collect()
    }

    /// What every joint follows.
    pub fn followers(&self, pelvis: usize) -> Vec<Follow> {
        let carrier = self.carrier();
        (0..self.parents.len())
            .map(|joint| match self.role_of[joint] {
                Some(role) => Follow::Role(role),
                None if joint == carrier => {
                    Follow::Pelvis(self.rest_between(carrier, pelvis).inverse().normalize())
                }
                None => self.bend(joint).or_else(|| self.twist(joint)).unwrap_or(Follow::Rest),
            })
            .collect()
    }

    /// Rotation at rest of `joint` relative to its ancestor.
    fn rest_between(&self, ancestor: usize, joint: usize) -> Quat {
        let below: Vec<usize> =
            self.with_ancestors(joint).into_iter().take_while(|&between| between != ancestor).collect();
        below.into_iter().rev().fold(Quat::IDENTITY, |all, between| all * self.rest[between])
    }

    /// The nearest mapped ancestor and its project joint.
    fn mapped_above(&self, joint: usize) -> Option<(usize, JointIndex)> {
        self.with_ancestors(joint).into_iter().skip(1).find_map(|above| Some((above, self.role_of[above]?)))
    }

    /// How many steps above `joint` its ancestor `above` is.
    fn steps(&self, above: usize, joint: usize) -> Option<usize> {
        self.with_ancestors(joint).into_iter().position(|ancestor| ancestor == above)
    }

    fn playing(&self, role: JointIndex) -> Option<usize> {
        self.role_of.iter().position(|&plays| plays == Some(role))
    }

    fn bend(&self, joint: usize) -> Option<Follow> {
        let (above, from) = self.mapped_above(joint)?;
        let place = TRUNK.iter().position(|&role| role == from)?;
        // The next joint of the trunk upwards that the joint lies before.
        let (to, below) = TRUNK[place + 1..].iter().find_map(|&role| {
            Some((role, self.playing(role)?)).filter(|&(_, at)| self.steps(joint, at).is_some())
        })?;
        let only_between = self.mapped_above(below).is_some_and(|(nearest, _)| nearest == above);
        let (down, all) = (self.steps(above, joint)?, self.steps(above, below)?);
        only_between.then(|| Follow::Bend {
            from,
            to,
            share: down as f32 / all as f32,
            rest: self.rest_between(above, joint),
        })
    }

    fn twist(&self, joint: usize) -> Option<Follow> {
        let (above, from) = self.mapped_above(joint)?;
        let to = BONES.contains(&from).then_some(JointIndex(from.0 + 1))?;
        let below = self.playing(to)?;
        let bone = self.t_pose[below] - self.t_pose[above];
        let length = bone.length();
        let axis = bone.try_normalize()?;
        let place = self.t_pose[joint] - self.t_pose[above];
        let along = place.dot(axis) / length;
        let off = (place - axis * place.dot(axis)).length() / length;
        let in_line = self.steps(joint, below).is_some();
        (off < ON_BONE && (in_line || ALONG_BONE.contains(&along))).then(|| Follow::Twist {
            from,
            to,
            axis,
            share: along.clamp(0.0, 1.0),
            rest: self.rest_between(above, joint),
        })
    }
}
