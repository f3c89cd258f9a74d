//! What the policy does.

use pomp_motion::Pose;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::humanoid::{LEFT_ARM, RIGHT_ARM, SPINE, SPINE1, SPINE2};
use pomp_motion::rotation::exp;
use serde::{Deserialize, Serialize};

/// Numbers of an action: displacement of both feet, acceleration of the centre of mass, angular acceleration of the pelvis, rotations
/// of the spine and of both shoulders; three each.
pub const ACTIONS: usize = 21;

/// What a component of 1 means: displacement along the ground and upward, metres; accelerations, m/s² and rad/s²; rotations, radians.
const STEP_M: f32 = 0.2;
const LIFT_M: f32 = 0.1;
const ACCELERATION_M_S2: f32 = 2.0;
const ANGULAR_RAD_S2: f32 = 15.0;
const ROTATION_RAD: f32 = 0.3;
/// Components are limited to this many units.
const MOST: f32 = 3.0;
/// Share of the way to the action that was decided on that is gone in a frame.
const APPROACH: f32 = 0.5;

/// An action, in units of its scales; components as in [`ACTIONS`], in the heading frame of the body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action([f32; ACTIONS]);

impl Default for Action {
    fn default() -> Self {
        Self::NONE
    }
}

impl Action {
    /// Nothing is done.
    pub const NONE: Self = Self([0.0; ACTIONS]);

    /// The action of these components, each limited to ±3; one that is not finite is 0.
    pub fn new(components: &[f32; ACTIONS]) -> Self {
        Self(components.map(|value| if value.is_finite() { value.clamp(-MOST, MOST) } else { 0.0 }))
    }

    /// Its components.
    pub fn components(&self) -> &[f32; ACTIONS] {
        &self.0
    }

    /// This action a frame later, when `decided` has been decided on.
    pub fn towards(&self, decided: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + (decided.0[i] - self.0[i]) * APPROACH))
    }

    /// Both at once.
    pub fn plus(&self, other: &Self) -> Self {
        Self::new(&std::array::from_fn(|i| self.0[i] + other.0[i]))
    }

    fn vector(&self, first: usize) -> Vec3 {
        Vec3::from_slice(&self.0[first..first + 3])
    }

    /// Displacements of both feet in the world, metres, of a body that heads as `heading` says; left, right. Feet aren't moved down.
    pub fn steps_m(&self, heading: Quat) -> [Vec3; 2] {
        [0, 3].map(|first| {
            let step = self.vector(first);
            heading * (step * Vec3::new(STEP_M, 0.0, STEP_M)) + Vec3::Y * (step.y * LIFT_M).max(0.0)
        })
    }

    /// Acceleration of the centre of mass in the world, m/s².
    pub fn acceleration_m_s2(&self, heading: Quat) -> Vec3 {
        heading * self.vector(6) * ACCELERATION_M_S2
    }

    /// Angular acceleration of the pelvis in the world, rad/s².
    pub fn angular_rad_s2(&self, heading: Quat) -> Vec3 {
        heading * self.vector(9) * ANGULAR_RAD_S2
    }

    /// Turns trunk and shoulders of a target.
    pub fn turn(&self, pose: &mut Pose) {
        let spine = [SPINE, SPINE1, SPINE2].map(|joint| (joint, 12, 1.0 / 3.0));
        let shoulders = [(LEFT_ARM, 15, 1.0), (RIGHT_ARM, 18, 1.0)];
        for (joint, first, share) in spine.into_iter().chain(shoulders) {
            let turn = exp(self.vector(first) * ROTATION_RAD * share);
            let rotation = &mut pose.local_rotations[joint.0];
            *rotation = (turn * *rotation).normalize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_motion::Skeleton;
    use pomp_motion::rotation::from_yaw;

    #[test]
    fn components_have_limits_and_an_action_is_approached() {
        let mut components = [0.5; ACTIONS];
        (components[0], components[1], components[2]) = (f32::NAN, 7.0, -7.0);
        let decided = Action::new(&components);
        assert_eq!(decided.components()[..4], [0.0, MOST, -MOST, 0.5]);
        let near = (0..12).fold(Action::default(), |action, _| action.towards(&decided));
        assert!(near.components().iter().zip(decided.components()).all(|(a, b)| (a - b).abs() < 1e-3));
    }

    #[test]
    fn steps_and_accelerations_turn_with_the_body_and_push_no_foot_down() {
        let mut components = [0.0; ACTIONS];
        (components[2], components[4], components[8]) = (1.0, -1.0, 1.0);
        let action = Action::new(&components);
        // A body that heads along +X.
        let heading = from_yaw(std::f32::consts::FRAC_PI_2);
        let near = |a: Vec3, b: Vec3| a.distance(b) < 1e-6;
        let [left, right] = action.steps_m(heading);
        assert!(near(left, Vec3::X * STEP_M) && near(right, Vec3::ZERO));
        assert!(near(action.acceleration_m_s2(heading), Vec3::X * ACCELERATION_M_S2));
        assert!(near(action.angular_rad_s2(heading), Vec3::ZERO));
    }

    #[test]
    fn the_trunk_turns_by_what_is_asked_and_the_legs_do_not() {
        let skeleton = Skeleton::humanoid(1.75);
        let mut components = [0.0; ACTIONS];
        (components[12], components[17]) = (1.0, 1.0);
        let mut pose = Pose::rest(&skeleton);
        Action::new(&components).turn(&mut pose);
        let world = skeleton.forward_kinematics(&pose);
        let turned = |joint: usize| world.rotations[joint].angle_between(Quat::IDENTITY);
        assert!((turned(SPINE2.0) - ROTATION_RAD).abs() < 1e-5);
        assert!((pose.local_rotations[LEFT_ARM.0].angle_between(Quat::IDENTITY) - ROTATION_RAD).abs() < 1e-5);
        assert_eq!(pose.local_rotations[pomp_motion::humanoid::LEFT_UP_LEG.0], Quat::IDENTITY);
    }
}
