//! Rolling over from the back: knees drawn up and tilted to a side, so that the weight of the legs turns the pelvis, and the arm of the side
//! that goes up reaching across.

use super::Fallen;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::humanoid::{
    HEAD, HIPS, LEFT_ARM, LEFT_FOOT, LEFT_FORE_ARM, LEFT_LEG, LEFT_UP_LEG, NECK, RIGHT_ARM, RIGHT_FOOT,
    RIGHT_FORE_ARM, RIGHT_LEG, RIGHT_UP_LEG, SPINE, SPINE1, SPINE2,
};
use pomp_motion::{JointIndex, Pose, smoothstep};

/// Time of rolling over, seconds.
pub(super) const ROLL_S: f32 = 1.4;
/// Share of that time at which the limbs are drawn up, and shares from which to which they become those of lying on the front: a body on its
/// side turns no farther over knees that are drawn up.
const DRAWN_UP: f32 = 0.3;
const LET_GO: [f32; 2] = [0.45, 0.8];
/// Share at which the pelvis begins to turn.
const TURNS: f32 = 0.25;
/// Rotations of hips and knees, and how far the thighs are tilted to the side that it rolls to, radians. With thighs tilted by 1.1 rad fewer
/// bodies roll over.
const HIP_RAD: f32 = 1.5;
const KNEE_RAD: f32 = 1.9;
const TILT_RAD: f32 = 0.6;
/// Rotation of each joint of spine and neck, radians: a trunk that stays as it fell is turned into the ground.
const SPINE_RAD: f32 = 0.1;

/// Hip, knee, ankle, shoulder and elbow of both sides.
const LIMBS: [[JointIndex; 5]; 2] = [
    [LEFT_UP_LEG, LEFT_LEG, LEFT_FOOT, LEFT_ARM, LEFT_FORE_ARM],
    [RIGHT_UP_LEG, RIGHT_LEG, RIGHT_FOOT, RIGHT_ARM, RIGHT_FORE_ARM],
];

/// How a body rolls over.
#[derive(Clone, Debug)]
pub(super) struct Roll {
    /// Where it lies, limbs drawn up.
    drawn_up: Pose,
}

impl Roll {
    /// That of a body on its back; the side that is higher already goes up.
    pub fn of(fallen: &Fallen<'_>) -> Self {
        let mut pose = fallen.pose.to_local(fallen.skeleton);
        let left_rises = (fallen.pose.rotations[HIPS.0] * Vec3::X).y >= 0.0;
        // Towards the other side, about the vertical of a body that stands.
        let tilt = if left_rises { -TILT_RAD } else { TILT_RAD };
        let mut set = |joint: JointIndex, rotation: Quat| pose.local_rotations[joint.0] = rotation;
        for (number, [hip, knee, ankle, shoulder, elbow]) in LIMBS.into_iter().enumerate() {
            let side = if number == 0 { 1.0 } else { -1.0 };
            set(hip, Quat::from_rotation_y(tilt) * Quat::from_rotation_x(-HIP_RAD));
            set(knee, Quat::from_rotation_x(KNEE_RAD));
            set(ankle, Quat::IDENTITY);
            if (number == 0) == left_rises {
                set(shoulder, Quat::from_rotation_y(-1.9 * side));
                set(elbow, Quat::from_rotation_y(-0.3 * side));
            } else {
                set(shoulder, Quat::from_rotation_y(-0.6 * side) * Quat::from_rotation_z(-1.2 * side));
                set(elbow, Quat::from_rotation_y(-1.2 * side));
            }
        }
        for joint in [SPINE, SPINE1, SPINE2, NECK, HEAD] {
            set(joint, Quat::from_rotation_x(SPINE_RAD));
        }
        Self { drawn_up: pose }
    }

    /// The target at a share of the time, of a body that `lay` and is to lie as `wanted`.
    pub fn target(&self, lay: &Pose, wanted: &Pose, share: f32) -> Pose {
        let mut target = lay.lerp(wanted, smoothstep((share - TURNS) / (1.0 - TURNS)));
        let limbs = lay.lerp(&self.drawn_up, smoothstep(share / DRAWN_UP));
        let limbs = limbs.lerp(wanted, smoothstep((share - LET_GO[0]) / (LET_GO[1] - LET_GO[0])));
        target.local_rotations[1..].copy_from_slice(&limbs.local_rotations[1..]);
        target
    }
}
