//! A body that is to stand: over its feet, not where its target leans.
//!
//! The kinematic module's standing poses hold the centre of mass anywhere over the soles and beyond, which an assist hides. A body on
//! its own feet stands only while its capture point, the centre of mass led by its velocity, is over them.

use super::along_ground;
use super::stance::{FEET, height, sole};
use crate::world::World;
use crate::{BalanceConfig, DynamicModule, PoseVelocity};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::legs::{LEGS, bend_leg};
use pomp_motion::{GlobalPose, Pose};

/// Time in which a body that tips over like an inverted pendulum of its height moves by its distance from the foot, seconds.
pub(super) const PENDULUM_S: f32 = 0.31;
/// Slower than this a body that begins stands, m/s.
const BEGINS_STANDING_M_S: f32 = 0.4;
/// How often the pelvis is moved so that the centre of mass is over the feet: the legs bend and move it a little.
const ROUNDS: usize = 3;

/// A walk is undisturbed up to the first difference of the velocities of body and target along the ground; from the second on the body
/// is carried off, m/s.
const SLIP_M_S: (f32, f32) = (0.3, 0.6);

impl BalanceConfig {
    /// How far a target whose centre of mass has the `velocity` and which is `stepping` (0 to 1) stands, 0 to 1.
    pub(super) fn standing_share(&self, velocity: Vec3, stepping: f32) -> f32 {
        let slow = 1.0 - along_ground(velocity).length() / self.standing_below_m_s.max(f32::MIN_POSITIVE);
        slow.clamp(0.0, 1.0) * (1.0 - stepping)
    }
}

/// How far a body walks as its target does, which `stands` as far as said and whose centre of mass has a velocity that differs from the
/// body's by `slip`, 0 to 1: 0 where the target stands or the body is carried off.
pub(super) fn undisturbed(stands: f32, slip: Vec3) -> f32 {
    let (usual, carried_off) = SLIP_M_S;
    let follows = (carried_off - along_ground(slip).length()) / (carried_off - usual);
    (1.0 - stands) * follows.clamp(0.0, 1.0)
}

/// Where the centre of mass is to be, from the middle of the feet: where the `target` has it or, as far as it `stands`, where its
/// capture point at this `velocity` is over the middle.
pub(super) fn over_feet(target: Vec3, velocity: Vec3, stands: f32) -> Vec3 {
    target - along_ground(target + velocity * PENDULUM_S) * stands
}

impl DynamicModule {
    /// The pose and velocities with which a body that balances begins when `pose` and `velocities` are asked for: one that stands has its
    /// centre of mass over its feet, its soles on the ground, and rests. Others, and those that the assist holds, begin as asked.
    pub fn balanced_start(&self, pose: &Pose, velocities: &PoseVelocity) -> (Pose, PoseVelocity) {
        let (mut pose, mut velocities) = (pose.clone(), velocities.clone());
        let stands = (1.0 - velocities.root_linear.length() / BEGINS_STANDING_M_S).clamp(0.0, 1.0);
        if self.config.balance.enabled && stands > 0.0 {
            self.stand(&self.world(), &mut pose, stands);
            velocities.root_linear *= 1.0 - stands;
            velocities.angular.iter_mut().for_each(|rate| *rate *= 1.0 - stands);
        }
        (pose, velocities)
    }

    /// Takes `pose` a `share` of the way to one whose centre of mass is over the middle of its feet and whose soles are on the ground.
    fn stand(&self, world: &World, pose: &mut Pose, share: f32) {
        let (skeleton, height_m) = (self.skeleton(), self.body_height_m());
        let start = skeleton.forward_kinematics(pose);
        let level: [Quat; 2] = std::array::from_fn(|leg| {
            let [heel, ball, _] = sole(&start, height_m, leg);
            let rise = height(&world.ground, ball) - height(&world.ground, heel);
            let along = ball - heel;
            Quat::from_rotation_arc(along.normalize(), (along - Vec3::Y * (rise * share)).normalize())
        });
        for _ in 0..ROUNDS {
            let now = skeleton.forward_kinematics(pose);
            let feet: Vec3 = FEET.iter().flatten().map(|body| now.positions[*body] * 0.25).sum();
            let aside = feet - world.ragdolls[self.member].center_of_mass(&now);
            pose.root_position += along_ground(aside) * share;
            for (leg, level) in LEGS.into_iter().zip(level) {
                let [_, _, ankle, toe] = leg.map(|joint| joint.0);
                let turn = level * start.rotations[ankle] * now.rotations[ankle].inverse();
                bend_leg(skeleton, pose, &now, leg, start.positions[ankle], turn);
                pose.local_rotations[toe] = pose.local_rotations[toe].slerp(Quat::IDENTITY, share);
            }
        }
        let lowest = |pose: &GlobalPose| {
            let points = (0..2).flat_map(|leg| sole(pose, height_m, leg));
            points.map(|point| height(&world.ground, point)).fold(f32::INFINITY, f32::min)
        };
        pose.root_position.y -= lowest(&skeleton.forward_kinematics(pose)) * share;
    }
}
