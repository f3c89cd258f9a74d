//! What a body that balances does beyond what its target asks.

use crate::DynamicModule;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{GlobalPose, PerJoint};
use serde::{Deserialize, Serialize};

/// A foot that is to be displaced upward by more than this is lifted, although it bears weight, metres.
pub(super) const LIFTS_FROM_M: f32 = 0.02;

/// Steps and accelerations that are added to those of the balance, world axes. The default adds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reaction {
    /// Displacement of the left and of the right foot from where the target has it, metres. A foot on the ground stays there, unless it
    /// is to be displaced upward by more than 2 cm.
    pub steps: [Vec3; 2],
    /// Acceleration of the centre of mass, m/s².
    pub acceleration: Vec3,
    /// Angular acceleration of the pelvis, rad/s².
    pub angular: Vec3,
}

impl Reaction {
    /// Whether all of it is finite.
    pub fn is_finite(&self) -> bool {
        let vectors = [self.steps[0], self.steps[1], self.acceleration, self.angular];
        vectors.iter().all(|vector| vector.is_finite())
    }
}

/// A foot of a body that balances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalancingFoot {
    /// How far its target is displaced from that of the pose that is followed, metres, world.
    pub displaced: Vec3,
    /// Vertical force of the ground in the last frame, body weights.
    pub load_bw: f32,
}

impl DynamicModule {
    /// Adds a reaction to the balance by the legs, from the next frame on and until another is set, or the ragdoll is reset. Without that
    /// balance it does nothing.
    ///
    /// # Panics
    /// When it is not finite.
    pub fn set_reaction(&mut self, reaction: &Reaction) {
        assert!(reaction.is_finite(), "a reaction is finite: {reaction:?}");
        self.controls.reaction = *reaction;
    }

    /// The left and the right foot, as the balance moves and loads them.
    pub fn balancing_feet(&self) -> [BalancingFoot; 2] {
        self.controls.feet.map(|foot| BalancingFoot { displaced: foot.way(), load_bw: foot.load() })
    }

    /// Centre of mass that the ragdoll would have in another pose, metres, world.
    pub fn center_of_mass_in(&self, pose: &GlobalPose) -> Vec3 {
        self.ragdoll.center_of_mass(pose)
    }

    /// Velocities of the joints, m/s, world.
    pub fn joint_velocities(&self) -> &PerJoint<Vec3> {
        &self.motion.linear
    }

    /// Angular velocities of the bodies, rad/s, world.
    pub fn angular_velocities(&self) -> &PerJoint<Vec3> {
        &self.motion.angular
    }

    /// Rotations of the joints relative to their parents; that of the root in the world.
    pub fn local_rotations(&self) -> &PerJoint<Quat> {
        &self.motion.local_rotations
    }
}
