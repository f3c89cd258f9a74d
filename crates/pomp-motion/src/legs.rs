//! The legs of the project skeleton, and their inverse kinematics.

use crate::two_bone_ik::{Limb, LimbShape, reach};
use crate::{GlobalPose, JointIndex, Pose, Skeleton, humanoid};
use glam::{Quat, Vec3};

/// Joints of a leg: hip, knee, ankle, toe.
pub type Leg = [JointIndex; 4];

/// Hip, knee, ankle, toe of both legs.
pub const LEGS: [Leg; 2] = [
    [humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG, humanoid::LEFT_FOOT, humanoid::LEFT_TOE],
    [humanoid::RIGHT_UP_LEG, humanoid::RIGHT_LEG, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE],
];

/// Turns hip and knee of `pose` so that the ankle comes to `to`; the foot's world rotation is that of `world`, turned
/// by `turn`. `world` is the pose before its root was moved.
pub fn bend_leg(skeleton: &Skeleton, pose: &mut Pose, world: &GlobalPose, leg: Leg, to: Vec3, turn: Quat) {
    let [hip, knee, ankle, _] = leg.map(|joint| joint.0);
    let joints = skeleton.joints();
    let shape =
        LimbShape { upper_bone: joints[knee].offset, lower_bone: joints[ankle].offset, bend_local: Vec3::Z };
    let limb = Limb { upper_rotation: world.rotations[hip], lower_rotation: world.rotations[knee] };
    let moved = pose.root_position - world.positions[0];
    let bent = reach(world.positions[hip] + moved, to, world.positions[knee] + moved, limb, &shape);
    let pelvis = world.rotations[humanoid::HIPS.0];
    pose.local_rotations[hip] = (pelvis.inverse() * bent.upper_rotation).normalize();
    pose.local_rotations[knee] = (bent.upper_rotation.inverse() * bent.lower_rotation).normalize();
    pose.local_rotations[ankle] =
        (bent.lower_rotation.inverse() * (turn * world.rotations[ankle])).normalize();
}
