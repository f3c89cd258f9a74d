//! Which joints of a skeleton the networks see. The others keep their mean rotation.

use crate::SkeletalError;
use crate::config::LeaveOut;
use glam::{Quat, Vec4};
use pomp_motion::{FrameTable, Joint, JointIndex, Pose, Skeleton, SourceMotion};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The limbs at a branch are small if the longest of them, end to branch, is shorter than this share of the longest line of bones
/// from the root. Fingers are 0.10 to 0.17 of it, eyes 0.08; a head is longer, and arms branch beside it.
const SMALL: f32 = 0.2;

/// A skeleton as its files have it, and the joints of it that the networks see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Names of all joints, parents first.
    pub joints: Vec<String>,
    /// Parents of all joints.
    pub parents: Vec<Option<usize>>,
    /// The joints that the networks see; with a joint its parent is seen.
    pub seen: Vec<usize>,
    /// Rotation in its parent of each joint that they do not see, mean of the motions learned; of the others nothing.
    pub rotations: Vec<Quat>,
}

impl Seen {
    /// The joints of the skeleton of `motions` that `leave_out` leaves; `side` is 0 for the first skeleton and 1 for the second.
    ///
    /// # Errors
    /// [`SkeletalError::Skeleton`] for a name that the skeleton lacks, and for the root; [`SkeletalError::Clip`] for a motion on another
    /// skeleton than the first.
    pub fn find(
        place: &str,
        motions: &[SourceMotion],
        leave_out: &LeaveOut,
        side: usize,
    ) -> Result<Self, SkeletalError> {
        let refuse = |reason: String| SkeletalError::Skeleton { place: place.to_owned(), reason };
        let first = motions.first().ok_or_else(|| refuse("there are no motions".to_owned()))?;
        let skeleton = &first.skeleton;
        let mut found = Self {
            joints: skeleton.joints().iter().map(|joint| joint.name.clone()).collect(),
            parents: skeleton.joints().iter().map(|joint| joint.parent.map(|parent| parent.0)).collect(),
            seen: Vec::new(),
            rotations: vec![Quat::IDENTITY; skeleton.len()],
        };
        for motion in motions {
            found.check(&motion.skeleton).map_err(|reason| SkeletalError::Clip {
                clip: motion.name.clone(),
                reason: format!(
                    "it is on another skeleton than {}: {reason}; keep the motions of each skeleton in a folder of their own",
                    first.name
                ),
            })?;
        }
        let mut out = vec![false; skeleton.len()];
        for name in leave_out.names(side) {
            let key = ["a", "b"][side];
            match found.joints.iter().position(|joint| joint == name) {
                None => {
                    return Err(refuse(format!(
                        "leave_out.{key} names \"{name}\", and it has no such joint; its joints are {}",
                        found.joints.join(", ")
                    )));
                }
                Some(0) => {
                    return Err(refuse(format!(
                        "leave_out.{key} names the root \"{name}\", which carries all others; name a joint below it"
                    )));
                }
                Some(joint) => out[joint] = true,
            }
        }
        if leave_out.small_limbs {
            found.small_limbs(skeleton).into_iter().for_each(|joint| out[joint] = true);
        }
        for joint in 1..out.len() {
            out[joint] |= found.parents[joint].is_some_and(|parent| out[parent]);
        }
        found.seen = (0..out.len()).filter(|&joint| !out[joint]).collect();
        found.find_rotations(motions);
        Ok(found)
    }

    /// The children of every joint that branches into small limbs alone, such as a hand into fingers and a head into eyes.
    fn small_limbs(&self, skeleton: &Skeleton) -> Vec<usize> {
        let joints = self.joints.len();
        let length = |joint: usize| skeleton.joints()[joint].offset.length();
        // Longest line of bones below each joint.
        let mut below = vec![0.0_f32; joints];
        for joint in (1..joints).rev() {
            let parent = self.parents[joint].expect("the root alone has no parent");
            below[parent] = below[parent].max(below[joint] + length(joint));
        }
        let children = |joint: usize| (0..joints).filter(move |&other| self.parents[other] == Some(joint));
        (1..joints)
            .filter(|&joint| children(joint).count() > 1 && below[joint] < SMALL * below[0])
            .flat_map(children)
            .collect()
    }

    fn find_rotations(&mut self, motions: &[SourceMotion]) {
        let mut sums = vec![Vec4::ZERO; self.joints.len()];
        for pose in motions.iter().flat_map(|motion| &motion.poses) {
            for (sum, own) in sums.iter_mut().zip(&pose.local_rotations) {
                let own = Vec4::from(*own);
                *sum += if sum.dot(own) < 0.0 { -own } else { own };
            }
        }
        for (joint, sum) in sums.into_iter().enumerate() {
            if !self.seen.contains(&joint) {
                self.rotations[joint] = sum.try_normalize().map_or(Quat::IDENTITY, Quat::from_vec4);
            }
        }
    }

    /// What of a skeleton differs from this one, in words.
    pub(crate) fn check(&self, skeleton: &Skeleton) -> Result<(), String> {
        if skeleton.len() != self.joints.len() {
            return Err(format!("it has {} joints, not {}", skeleton.len(), self.joints.len()));
        }
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let (name, parent) = (&self.joints[index], self.parents[index]);
            if (&joint.name, joint.parent.map(|p| p.0)) != (name, parent) {
                let above = |parent: Option<usize>| parent.map_or("nothing", |p| self.joints[p].as_str());
                return Err(format!(
                    "its joint {index} is \"{}\" below {}, not \"{name}\" below {}",
                    joint.name,
                    joint.parent.map_or("nothing", |p| skeleton.joints()[p.0].name.as_str()),
                    above(parent)
                ));
            }
        }
        Ok(())
    }

    /// Whether the networks see every joint.
    pub fn is_all(&self) -> bool {
        self.seen.len() == self.joints.len()
    }

    /// Names of the joints that the networks do not see.
    pub fn left_out(&self) -> Vec<&str> {
        let is_out = |joint: &usize| !self.seen.contains(joint);
        (0..self.joints.len()).filter(is_out).map(|joint| self.joints[joint].as_str()).collect()
    }

    /// A motion of the whole skeleton with the joints alone that the networks see.
    pub fn reduced<'a>(&self, motion: &'a SourceMotion) -> Cow<'a, SourceMotion> {
        if self.is_all() {
            return Cow::Borrowed(motion);
        }
        let place = |joint: usize| self.seen.iter().position(|&seen| seen == joint);
        let joints = self.seen.iter().map(|&joint| {
            let parent = self.parents[joint].and_then(place).map(JointIndex);
            Joint { parent, ..motion.skeleton.joints()[joint].clone() }
        });
        let poses = motion.poses.iter().map(|pose| Pose {
            root_position: pose.root_position,
            local_rotations: self.seen.iter().map(|&joint| pose.local_rotations[joint]).collect(),
        });
        let joint_translations = motion.joint_translations.as_ref().map(|table| {
            let rows = table.rows().flat_map(|row| self.seen.iter().map(|&joint| row[joint]));
            FrameTable::from_values(self.seen.len(), rows.collect()).expect("whole rows")
        });
        let end_sites = motion
            .end_sites
            .iter()
            .filter_map(|(joint, offset)| Some((JointIndex(place(joint.0)?), *offset)));
        Cow::Owned(SourceMotion {
            name: motion.name.clone(),
            skeleton: Skeleton::new(joints.collect()).expect("with a joint its parent is seen"),
            end_sites: end_sites.collect(),
            frame_rate_hz: motion.frame_rate_hz,
            poses: poses.collect(),
            joint_translations,
        })
    }

    /// Poses of the joints that the networks see as poses of the whole skeleton.
    pub fn whole(&self, poses: Vec<Pose>) -> Vec<Pose> {
        if self.is_all() {
            return poses;
        }
        let whole = |pose: Pose| {
            let mut local_rotations = self.rotations.clone();
            for (&joint, rotation) in self.seen.iter().zip(&pose.local_rotations) {
                local_rotations[joint] = *rotation;
            }
            Pose { root_position: pose.root_position, local_rotations: local_rotations.into() }
        };
        poses.into_iter().map(whole).collect()
    }

    /// What is wrong with it, for one that comes from a file; `seen_joints` is how many joints the networks have.
    pub(crate) fn validate(&self, seen_joints: usize) -> Result<(), String> {
        let joints = self.joints.len();
        let is_above = |parents: &[Option<usize>]| {
            parents.iter().enumerate().all(|(joint, parent)| match parent {
                None => joint == 0,
                Some(parent) => *parent < joint,
            })
        };
        let in_order = self.seen.windows(2).all(|pair| pair[0] < pair[1]);
        let has_parent = |&joint: &usize| {
            self.parents.get(joint).is_some_and(|parent| parent.is_none_or(|p| self.seen.contains(&p)))
        };
        let is_whole = self.parents.len() == joints && self.rotations.len() == joints;
        if !is_whole || !is_above(&self.parents) || !in_order || !self.seen.iter().all(has_parent) {
            return Err("are no tree with all its parents".to_owned());
        }
        if self.seen.len() != seen_joints {
            return Err(format!("are {}, and the networks see {}", self.seen.len(), seen_joints));
        }
        if self.rotations.iter().any(|rotation| !rotation.is_normalized()) {
            return Err("have a rotation that is none".to_owned());
        }
        Ok(())
    }
}
