use crate::{FrameTable, GlobalPose, JointIndex, MotionError, PerJoint, Pose, Skeleton};
use glam::{Quat, Vec3};

/// A motion as a file holds it: its own skeleton, its own unit, its own axes.
///
/// What comes out of a reader, before retargeting brings it onto the project skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceMotion {
    /// Name without folder or extension.
    pub name: String,
    /// The skeleton; offsets in file units.
    pub skeleton: Skeleton,
    /// Ends of bones that are no joints: the joint they hang from and the offset in its frame, file units.
    pub end_sites: Vec<(JointIndex, Vec3)>,
    /// Frames per second.
    pub frame_rate_hz: f32,
    /// One pose per frame. `root_position` is in file units and complete: where a file animates the root's
    /// position, the channels replace the root's offset; where it does not, it is the offset.
    pub poses: Vec<Pose>,
    /// Per frame and joint the translation from the parent that replaces the joint's offset, file units, for
    /// files that animate the position of joints other than the root. Column 0 equals `root_position`.
    pub joint_translations: Option<FrameTable<Vec3>>,
}

impl SourceMotion {
    /// Checks that there is a frame, that the rate is positive, that sizes agree and that all is finite.
    ///
    /// # Errors
    /// The first rule broken, with its frame.
    pub fn validate(&self) -> Result<(), MotionError> {
        let bad = |reason: String| MotionError::BadClip { name: self.name.clone(), reason };
        let joints = self.skeleton.len();
        if self.poses.is_empty() {
            return Err(bad("it has no frames".to_owned()));
        }
        if !(self.frame_rate_hz.is_finite() && self.frame_rate_hz > 0.0) {
            return Err(bad(format!("its frame rate is {} Hz", self.frame_rate_hz)));
        }
        if let Some((joint, offset)) =
            self.end_sites.iter().find(|(joint, offset)| joint.0 >= joints || !offset.is_finite())
        {
            return Err(bad(format!("its end site at joint {} has the offset {offset}", joint.0)));
        }
        let not_finite =
            |frame, column| MotionError::NotFinite { what: format!("clip \"{}\"", self.name), frame, column };
        for (frame, pose) in self.poses.iter().enumerate() {
            if pose.local_rotations.len() != joints {
                return Err(MotionError::SizeMismatch {
                    what: format!("rotations of frame {frame} of clip \"{}\"", self.name),
                    expected: joints,
                    found: pose.local_rotations.len(),
                });
            }
            if !pose.root_position.is_finite() {
                return Err(not_finite(frame, 0));
            }
            if let Some(column) = pose.local_rotations.iter().position(|q| !q.is_finite()) {
                return Err(not_finite(frame, column));
            }
        }
        let Some(translations) = &self.joint_translations else { return Ok(()) };
        if (translations.frames(), translations.columns()) != (self.poses.len(), joints) {
            return Err(MotionError::SizeMismatch {
                what: format!("joint translations of clip \"{}\"", self.name),
                expected: self.poses.len() * joints,
                found: translations.values().len(),
            });
        }
        if let Some(at) = translations.values().iter().position(|t| !t.is_finite()) {
            return Err(not_finite(at / joints, at % joints));
        }
        Ok(())
    }

    /// Number of frames, T.
    pub fn frames(&self) -> usize {
        self.poses.len()
    }

    /// World pose of the skeleton at rest: all rotations identity, offsets as in the skeleton.
    pub fn rest_pose(&self) -> GlobalPose {
        self.skeleton.forward_kinematics(&Pose::rest(&self.skeleton))
    }

    /// World pose of one frame, file units.
    ///
    /// # Panics
    /// When `frame` is not below [`Self::frames`].
    pub fn global_pose(&self, frame: usize) -> GlobalPose {
        let pose = &self.poses[frame];
        let Some(translations) = &self.joint_translations else {
            return self.skeleton.forward_kinematics(pose);
        };
        let mut positions: PerJoint<Vec3> = PerJoint::with_capacity(self.skeleton.len());
        let mut rotations: PerJoint<Quat> = PerJoint::with_capacity(self.skeleton.len());
        for (i, joint) in self.skeleton.joints().iter().enumerate() {
            let local = pose.local_rotations[i];
            match joint.parent {
                None => {
                    positions.push(pose.root_position);
                    rotations.push(local);
                }
                Some(JointIndex(parent)) => {
                    positions.push(positions[parent] + rotations[parent] * translations[frame][i]);
                    rotations.push((rotations[parent] * local).normalize());
                }
            }
        }
        GlobalPose { positions, rotations }
    }
}
