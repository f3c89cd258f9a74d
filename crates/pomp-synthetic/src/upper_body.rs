use pomp_motion::glam::Quat;
use pomp_motion::{JointIndex, humanoid};

/// The signals that spine, head and arms follow in one frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UpperBody {
    /// Pelvis yaw and roll against heading and level, radians.
    pub(crate) pelvis_yaw: f32,
    pub(crate) pelvis_roll: f32,
    /// Forward lean of the trunk beyond the pelvis, radians.
    pub(crate) lean: f32,
    /// Lean into a turn, radians, positive to the left.
    pub(crate) bank: f32,
    /// Forward swing of the upper arms, left and right, radians.
    pub(crate) arm_swing: [f32; 2],
    /// Elbow flexion, left and right, radians.
    pub(crate) elbow: [f32; 2],
    /// Breathing, radians of chest extension.
    pub(crate) breath: f32,
}

/// Upper arms out from the body when they hang, radians.
const ABDUCTION: f32 = 0.16;

impl UpperBody {
    /// Writes the local rotations of spine, head and arms.
    ///
    /// The shoulders turn against the pelvis about 0.7 times as far as it turns with the legs (Perry and
    /// Burnfield 2010), the trunk stays level over a listing pelvis, and the head looks along the heading.
    pub(crate) fn write(&self, local: &mut [Quat]) {
        let mut set = |joint: JointIndex, rotation: Quat| local[joint.0] = rotation.normalize();
        let (twist, upright, lean) = (-1.7 * self.pelvis_yaw, -self.pelvis_roll - self.bank, self.lean);
        let third = |share: f32, extra: f32| {
            Quat::from_rotation_y(twist * share)
                * Quat::from_rotation_z(upright * share)
                * Quat::from_rotation_x(lean * share + extra)
        };
        set(humanoid::SPINE, third(0.3, 0.0));
        set(humanoid::SPINE1, third(0.35, 0.0));
        set(humanoid::SPINE2, third(0.35, -self.breath));
        let gaze = |share: f32| {
            Quat::from_rotation_x(-0.8 * lean * share)
                * Quat::from_rotation_z(0.5 * self.bank * share)
                * Quat::from_rotation_y(0.7 * self.pelvis_yaw * share)
        };
        set(humanoid::NECK, gaze(0.5));
        set(humanoid::HEAD, gaze(0.5));
        let arms = [
            (1.0, humanoid::LEFT_ARM, humanoid::LEFT_FORE_ARM, humanoid::LEFT_HAND),
            (-1.0, humanoid::RIGHT_ARM, humanoid::RIGHT_FORE_ARM, humanoid::RIGHT_HAND),
        ];
        for (index, (sign, arm, forearm, hand)) in arms.into_iter().enumerate() {
            let hang = Quat::from_rotation_z(-sign * (std::f32::consts::FRAC_PI_2 - ABDUCTION));
            // The trunk's lean does not carry the arms with it: they hang from the shoulders.
            set(arm, Quat::from_rotation_x(-self.arm_swing[index] - 0.7 * lean) * hang);
            set(forearm, Quat::from_rotation_y(-sign * self.elbow[index]));
            set(hand, Quat::from_rotation_y(-sign * 0.12));
        }
    }
}
