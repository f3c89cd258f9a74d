//! Lengths of a body that scale limb by limb.

use glam::Vec3;
use pomp_motion::{JointIndex, humanoid};

/// First joints of the legs; knee and ankle follow.
pub const LEGS: [JointIndex; 2] = [humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG];
/// First joints of the arms; elbow and wrist follow.
pub const ARMS: [JointIndex; 2] = [humanoid::LEFT_ARM, humanoid::RIGHT_ARM];

/// Lengths in the T-pose, metres; `None` for parts that the body lacks.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    pub leg: Option<f32>,
    pub torso: Option<f32>,
    pub shoulder_width: Option<f32>,
    pub arm: Option<f32>,
}

impl Lengths {
    /// Of a body whose project joints are at these places in the T-pose.
    pub fn of(at: impl Fn(JointIndex) -> Option<Vec3>) -> Self {
        let limb = |[left, right]: [JointIndex; 2]| {
            let one = |upper: JointIndex| {
                let [a, b, c] = [0, 1, 2].map(|i| at(JointIndex(upper.0 + i)));
                Some(a?.distance(b?) + b?.distance(c?))
            };
            Some((one(left)? + one(right)?) * 0.5)
        };
        let middle = |[left, right]: [JointIndex; 2]| Some((at(left)? + at(right)?) * 0.5);
        Self {
            leg: limb(LEGS),
            torso: middle(ARMS).zip(middle(LEGS)).map(|(shoulders, hips)| shoulders.distance(hips)),
            shoulder_width: at(ARMS[0]).zip(at(ARMS[1])).map(|(left, right)| left.distance(right)),
            arm: limb(ARMS),
        }
    }
}
