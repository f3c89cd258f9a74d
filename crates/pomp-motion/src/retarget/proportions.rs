use super::source_pose::{SourcePose, completed};
use crate::{Joint, JointIndex, MotionError, Skeleton, humanoid};
use glam::{Quat, Vec3};

/// Lengths of a body that scale limb by limb, metres. Parts that the body lacks are `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub leg: f32,
    pub hip_width: f32,
    pub torso: Option<f32>,
    pub shoulder_width: Option<f32>,
    pub arm: Option<f32>,
}

impl Lengths {
    /// Means over poses.
    pub fn of_poses(poses: &[SourcePose]) -> Self {
        let mean = |length: &dyn Fn(&SourcePose) -> Option<f32>| {
            let sum: Option<f32> = poses.iter().map(length).sum();
            sum.map(|sum| sum / poses.len() as f32)
        };
        let distance = |a: JointIndex, b: JointIndex| {
            move |pose: &SourcePose| Some(pose.positions[a.0]?.distance(pose.positions[b.0]?))
        };
        let limb = |a: JointIndex| {
            let (b, c) = (JointIndex(a.0 + 1), JointIndex(a.0 + 2));
            Some(mean(&distance(a, b))? + mean(&distance(b, c))?)
        };
        let both = |left: Option<f32>, right: Option<f32>| Some((left? + right?) * 0.5);
        Self {
            leg: both(limb(humanoid::LEFT_UP_LEG), limb(humanoid::RIGHT_UP_LEG))
                .expect("a rig map that fits has thighs, shins and feet"),
            hip_width: mean(&distance(humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG))
                .expect("a rig map that fits has thighs"),
            torso: mean(&|pose| Some(pose.shoulder_centre()?.distance(pose.hip_centre()))),
            shoulder_width: mean(&distance(humanoid::LEFT_ARM, humanoid::RIGHT_ARM)),
            arm: both(limb(humanoid::LEFT_ARM), limb(humanoid::RIGHT_ARM)),
        }
    }

    /// Of a skeleton in its rest pose.
    pub fn of_skeleton(skeleton: &Skeleton) -> Self {
        let rest = skeleton.forward_kinematics(&crate::Pose::rest(skeleton));
        let mut pose =
            SourcePose { positions: [None; humanoid::JOINTS], rotations: [None; humanoid::JOINTS] };
        for (to, from) in pose.positions.iter_mut().zip(rest.positions) {
            *to = Some(from);
        }
        Self::of_poses(&[pose])
    }
}

/// Body height of a skeleton of the project's topology: that of the humanoid with the same legs, metres.
pub fn body_height(skeleton: &Skeleton) -> f32 {
    let leg = |s: &Skeleton| {
        [humanoid::LEFT_LEG, humanoid::LEFT_FOOT, humanoid::RIGHT_LEG, humanoid::RIGHT_FOOT]
            .iter()
            .map(|j| s.joints()[j.0].offset.length())
            .sum::<f32>()
    };
    leg(skeleton) / leg(&Skeleton::humanoid(1.0))
}

/// Heights of ankle and toe joint above the sole of a flat foot, metres.
pub fn sole_heights(skeleton: &Skeleton) -> (f32, f32) {
    let height = body_height(skeleton);
    let ankle = humanoid::ANKLE_HEIGHT * height;
    let drop = -skeleton.joints()[humanoid::LEFT_TOE.0].offset.y;
    (ankle, (ankle - drop).max(0.25 * humanoid::TOE_HEIGHT * height))
}

/// The project's topology with the subject's bone lengths.
///
/// Each offset is the mean over the poses of the child's position in the parent's calibrated frame; left and
/// right are averaged, the midline is put on x = 0; joints that the source lacks get the humanoid's offsets
/// at the subject's size. The hip joints hang below the root as the humanoid's do.
pub(super) fn subject_skeleton(poses: &[SourcePose]) -> Result<Skeleton, MotionError> {
    let unit = Skeleton::humanoid(1.0);
    let height = Lengths::of_poses(poses).leg / Lengths::of_skeleton(&unit).leg;
    let model = Skeleton::humanoid(height);
    let offset_of = |i: usize| model.joints()[i].offset;
    let drop = offset_of(humanoid::LEFT_UP_LEG.0).y;
    let mut sums = [Vec3::ZERO; humanoid::JOINTS];
    for pose in poses {
        let rotations: [Quat; humanoid::JOINTS] = completed(&pose.rotations, &model);
        let mut positions = [Vec3::ZERO; humanoid::JOINTS];
        positions[0] = pose.hip_centre() - rotations[0] * Vec3::new(0.0, drop, 0.0);
        for i in 1..humanoid::JOINTS {
            let parent = model.parent(JointIndex(i)).map_or(0, |p| p.0);
            let offset = pose.positions[i]
                .map_or(offset_of(i), |at| rotations[parent].inverse() * (at - positions[parent]));
            positions[i] = positions[parent] + rotations[parent] * offset;
            sums[i] += offset;
        }
    }
    let mirror = model.mirror_map();
    let mean = |i: usize| sums[i] / poses.len() as f32;
    let flipped = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
    let mut joints: Vec<Joint> = (0..humanoid::JOINTS)
        .map(|i| Joint { offset: (mean(i) + flipped(mean(mirror[i].0))) * 0.5, ..model.joints()[i].clone() })
        .collect();
    let leg: f32 = [humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG, humanoid::LEFT_FOOT]
        .iter()
        .map(|j| -joints[j.0].offset.y)
        .sum();
    joints[0].offset = Vec3::new(0.0, leg + humanoid::ANKLE_HEIGHT * height, 0.0);
    Skeleton::new(joints)
}
