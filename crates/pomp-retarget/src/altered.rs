//! The same motion on another body, exactly: bones split, merged, stretched and turned. What retargeting is measured against.

use glam::{Quat, Vec3};
use pomp_motion::{Joint, JointIndex, MotionError, Pose, Skeleton, SourceMotion};

/// A motion whose body is altered step by step. Motions with translations of joints below the root are not altered.
#[derive(Clone, Debug)]
pub struct Altered(SourceMotion);

impl Altered {
    /// Begins with a motion.
    ///
    /// # Errors
    /// [`MotionError::BadClip`] where joints below the root have translations of their own.
    pub fn new(motion: SourceMotion) -> Result<Self, MotionError> {
        if motion.joint_translations.is_some() {
            let reason = "joints below its root have positions of their own; it is not altered".to_owned();
            return Err(MotionError::BadClip { name: motion.name, reason });
        }
        Ok(Self(motion))
    }

    /// The motion.
    pub fn motion(self) -> SourceMotion {
        self.0
    }

    fn find(&self, name: &str) -> Result<usize, MotionError> {
        self.0.skeleton.index_of(name).map(|joint| joint.0).ok_or_else(|| MotionError::BadSkeleton {
            joint: 0,
            name: name.to_owned(),
            reason: "there is no joint of this name".to_owned(),
        })
    }

    /// A joint `inserted` on the bone that ends at `joint`, at a share of its length, that does not turn. All joints keep their places.
    ///
    /// # Errors
    /// Where there is no such joint, or the new name is taken.
    pub fn split(self, joint: &str, inserted: &str, share: f32) -> Result<Self, MotionError> {
        let at = self.find(joint)?;
        let moved = |index: JointIndex| if index.0 >= at { JointIndex(index.0 + 1) } else { index };
        let mut joints: Vec<Joint> = self.0.skeleton.joints().to_vec();
        joints.iter_mut().for_each(|joint| joint.parent = joint.parent.map(moved));
        let (parent, offset) = (joints[at].parent, joints[at].offset);
        joints[at].parent = Some(JointIndex(at));
        joints[at].offset = offset * (1.0 - share);
        joints.insert(at, Joint { name: inserted.to_owned(), parent, offset: offset * share });
        let mut motion = self.0;
        motion.poses.iter_mut().for_each(|pose| pose.local_rotations.insert(at, Quat::IDENTITY));
        motion.end_sites.iter_mut().for_each(|(joint, _)| *joint = moved(*joint));
        motion.skeleton = Skeleton::new(joints)?;
        Ok(Self(motion))
    }

    /// Without a joint below the root: what hangs from it hangs from its parent at its rest offset, and keeps its rotation in the world.
    /// Where the joint bends, what is above it on the limb moves.
    ///
    /// # Errors
    /// Where there is no such joint below the root.
    pub fn merged(self, joint: &str) -> Result<Self, MotionError> {
        let at = self.find(joint)?;
        let mut joints: Vec<Joint> = self.0.skeleton.joints().to_vec();
        let gone = joints.remove(at);
        let Some(above) = gone.parent else {
            let reason = "the root is not merged into another joint".to_owned();
            return Err(MotionError::BadSkeleton { joint: at, name: gone.name, reason });
        };
        let hangs: Vec<usize> = (at + 1..=joints.len())
            .filter(|&index| joints[index - 1].parent == Some(JointIndex(at)))
            .collect();
        for &index in &hangs {
            joints[index - 1].offset += gone.offset;
        }
        let moved = |index: JointIndex| match index.0 {
            index if index == at => above,
            index if index > at => JointIndex(index - 1),
            index => JointIndex(index),
        };
        joints.iter_mut().for_each(|joint| joint.parent = joint.parent.map(moved));
        let mut motion = self.0;
        for pose in &mut motion.poses {
            let turn = pose.local_rotations[at];
            for &index in &hangs {
                pose.local_rotations[index] = (turn * pose.local_rotations[index]).normalize();
            }
            pose.local_rotations.remove(at);
        }
        for (joint, offset) in &mut motion.end_sites {
            if joint.0 == at {
                *offset += gone.offset;
            }
            *joint = moved(*joint);
        }
        motion.skeleton = Skeleton::new(joints)?;
        Ok(Self(motion))
    }

    /// Every bone with its own length: `factor` of the name of the joint that it leads to. The way of the root is multiplied by `way`.
    /// All rotations stay. With the factor `way` for all bones from the root to the feet, planted feet stay planted.
    ///
    /// # Errors
    /// Where an offset is no longer finite.
    pub fn stretched(self, way: f32, factor: impl Fn(&str) -> f32) -> Result<Self, MotionError> {
        let mut motion = self.0;
        let joints = motion.skeleton.joints().iter().map(|joint| {
            let by = if joint.parent.is_none() { way } else { factor(&joint.name) };
            Joint { offset: joint.offset * by, ..joint.clone() }
        });
        for (joint, offset) in &mut motion.end_sites {
            *offset *= factor(&motion.skeleton.joints()[joint.0].name);
        }
        motion.skeleton = Skeleton::new(joints.collect())?;
        motion.poses.iter_mut().for_each(|pose| pose.root_position *= way);
        Ok(Self(motion))
    }

    /// Every joint frame turned by its own constant rotation, frame before = frame after × its inverse: a pose without rotations is a
    /// heap of bones. All joints keep their places.
    ///
    /// # Errors
    /// Where an offset is no longer finite.
    ///
    /// # Panics
    /// When there are fewer turns than joints.
    pub fn reoriented(self, turns: &[Quat]) -> Result<Self, MotionError> {
        let motion = self.0;
        let above = |joint: &Joint| joint.parent.map_or(Quat::IDENTITY, |parent| turns[parent.0]);
        let joints = motion
            .skeleton
            .joints()
            .iter()
            .map(|joint| Joint { offset: above(joint).inverse() * joint.offset, ..joint.clone() });
        let poses = motion.poses.iter().map(|pose| Pose {
            root_position: pose.root_position,
            local_rotations: motion
                .skeleton
                .joints()
                .iter()
                .zip(&pose.local_rotations)
                .zip(turns)
                .map(|((joint, &q), &turn)| (above(joint).inverse() * q * turn).normalize())
                .collect(),
        });
        let ends = motion.end_sites.iter().map(|&(joint, end)| (joint, turns[joint.0].inverse() * end));
        Ok(Self(SourceMotion {
            poses: poses.collect(),
            end_sites: ends.collect::<Vec<(JointIndex, Vec3)>>(),
            skeleton: Skeleton::new(joints.collect())?,
            ..motion
        }))
    }
}
