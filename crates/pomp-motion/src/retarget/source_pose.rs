use super::calibration::Calibration;
use super::{MatchReport, SourceFrame};
use crate::{JointIndex, Skeleton, SourceMotion, humanoid};
use glam::{Quat, Vec3};

/// One frame of the source in metres, Y up, seen through the rig map: only project joints, rotations already
/// calibrated to the project's joint frames.
#[derive(Clone, Debug)]
pub(super) struct SourcePose {
    pub positions: [Option<Vec3>; humanoid::JOINTS],
    pub rotations: [Option<Quat>; humanoid::JOINTS],
}

impl SourcePose {
    pub fn of_frame(
        source: &SourceMotion,
        frame: usize,
        joints: &MatchReport,
        file: &SourceFrame,
        calibration: &Calibration,
    ) -> Self {
        let pose = source.global_pose(frame);
        let turn = file.up_axis.world_from_file();
        let metres = file.unit.metres();
        let mut positions = [None; humanoid::JOINTS];
        let mut rotations = [None; humanoid::JOINTS];
        for (i, joint) in joints.source_joints.iter().enumerate() {
            let Some(joint) = joint else { continue };
            positions[i] = Some(turn * pose.positions[joint.0] * metres);
            rotations[i] = calibration[i].map(|q| (turn * pose.rotations[joint.0] * q).normalize());
        }
        Self { positions, rotations }
    }

    /// Position of a joint that every rig map has.
    pub fn known(&self, joint: JointIndex) -> Vec3 {
        self.positions[joint.0].expect("a rig map that fits has hips, thighs, shins and feet")
    }

    pub fn middle(&self, left: JointIndex, right: JointIndex) -> Option<Vec3> {
        Some((self.positions[left.0]? + self.positions[right.0]?) * 0.5)
    }

    /// Middle of the hip joints.
    pub fn hip_centre(&self) -> Vec3 {
        (self.known(humanoid::LEFT_UP_LEG) + self.known(humanoid::RIGHT_UP_LEG)) * 0.5
    }

    /// Middle of the shoulder joints.
    pub fn shoulder_centre(&self) -> Option<Vec3> {
        self.middle(humanoid::LEFT_ARM, humanoid::RIGHT_ARM)
    }
}

/// How far an arm that the source lacks hangs down from the T-pose, radians.
const HANGING_ARM: f32 = 1.35;

/// World rotations of all joints: those given, and sensible ones for the rest. Spine joints between two given
/// ones share the bend; a neck without data looks half way to the head; arms hang; all else follows its parent.
pub(super) fn completed(
    given: &[Option<Quat>; humanoid::JOINTS],
    project: &Skeleton,
) -> [Quat; humanoid::JOINTS] {
    const SPINE: [usize; 3] = [humanoid::SPINE.0, humanoid::SPINE1.0, humanoid::SPINE2.0];
    let mut rotations = [Quat::IDENTITY; humanoid::JOINTS];
    for i in 0..humanoid::JOINTS {
        let parent = project.parent(JointIndex(i)).map_or(Quat::IDENTITY, |p| rotations[p.0]);
        rotations[i] = given[i].unwrap_or_else(|| {
            if SPINE.contains(&i) {
                let above = SPINE.iter().filter(|&&j| j > i).find_map(|&j| given[j].map(|q| (j, q)));
                above.map_or(parent, |(j, q)| parent.slerp(q, 1.0 / (j - i + 1) as f32))
            } else if i == humanoid::NECK.0 {
                given[humanoid::HEAD.0].map_or(parent, |head| parent.slerp(head, 0.5))
            } else if i == humanoid::LEFT_ARM.0 {
                parent * Quat::from_rotation_z(-HANGING_ARM)
            } else if i == humanoid::RIGHT_ARM.0 {
                parent * Quat::from_rotation_z(HANGING_ARM)
            } else {
                parent
            }
        });
    }
    rotations
}

/// Joint positions of these world rotations.
pub(super) fn placed(
    root: Vec3,
    rotations: &[Quat; humanoid::JOINTS],
    skeleton: &Skeleton,
) -> [Vec3; humanoid::JOINTS] {
    let mut positions = [root; humanoid::JOINTS];
    for (i, joint) in skeleton.joints().iter().enumerate() {
        if let Some(parent) = joint.parent {
            positions[i] = positions[parent.0] + rotations[parent.0] * joint.offset;
        }
    }
    positions
}
