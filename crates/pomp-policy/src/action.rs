//! What the policy does.

use pomp_motion::Pose;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::humanoid::{LEFT_ARM, RIGHT_ARM, SPINE, SPINE1, SPINE2};
use pomp_motion::rotation::exp;
use pomp_physics::Reaction;
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
        Self([0.0; ACTIONS])
    }
}

impl Action {
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

    /// Steps and accelerations in the world, of a body that heads as `heading` says.
    pub fn reaction(&self, heading: Quat) -> Reaction {
        let vector = |first: usize| Vec3::from_slice(&self.0[first..first + 3]);
        let step = |first: usize| {
            let step = vector(first);
            heading * (step * Vec3::new(STEP_M, 0.0, STEP_M)) + Vec3::Y * (step.y * LIFT_M).max(0.0)
        };
        Reaction {
            steps: [step(0), step(3)],
            acceleration: heading * vector(6) * ACCELERATION_M_S2,
            angular: heading * vector(9) * ANGULAR_RAD_S2,
        }
    }

    /// Turns trunk and shoulders of a target.
    pub fn turn(&self, pose: &mut Pose) {
        let spine = [SPINE, SPINE1, SPINE2].map(|joint| (joint, 12, 1.0 / 3.0));
        let shoulders = [(LEFT_ARM, 15, 1.0), (RIGHT_ARM, 18, 1.0)];
        for (joint, first, share) in spine.into_iter().chain(shoulders) {
            let turn = exp(Vec3::from_slice(&self.0[first..first + 3]) * ROTATION_RAD * share);
            let rotation = &mut pose.local_rotations[joint.0];
            *rotation = (turn * *rotation).normalize();
        }
    }
}
