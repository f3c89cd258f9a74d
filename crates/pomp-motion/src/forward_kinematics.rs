use crate::{GlobalPose, JointIndex, PerJoint, Pose, Skeleton};

impl Skeleton {
    /// World positions and rotations of all joints of `pose`.
    ///
    /// # Panics
    /// When the pose has another number of joints.
    pub fn forward_kinematics(&self, pose: &Pose) -> GlobalPose {
        assert_eq!(pose.local_rotations.len(), self.len(), "the pose belongs to another skeleton");
        let mut positions = PerJoint::with_capacity(self.len());
        let mut rotations = PerJoint::with_capacity(self.len());
        for (joint, &local) in self.joints().iter().zip(&pose.local_rotations) {
            match joint.parent {
                None => {
                    positions.push(pose.root_position);
                    rotations.push(local);
                }
                Some(JointIndex(parent)) => {
                    positions.push(positions[parent] + rotations[parent] * joint.offset);
                    rotations.push((rotations[parent] * local).normalize());
                }
            }
        }
        GlobalPose { positions, rotations }
    }
}
