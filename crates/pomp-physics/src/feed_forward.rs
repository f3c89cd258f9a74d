//! Torques that a motion needs, so that the drives need no error to make them.

use crate::world::{Motion, World};
use pomp_motion::glam::Vec3;

/// A force of the ground on a body that a frame is expected to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// Index of the body.
    pub body: usize,
    /// Where it acts, in the body's frame, metres.
    pub point: Vec3,
    /// Force, world, newtons.
    pub force_n: Vec3,
}

/// What the next frame is expected to ask of the drives.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Forces of the ground.
    pub supports: Vec<Support>,
    /// Acceleration of the centre of mass of every body, world, m/s².
    pub accelerations: Vec<Vec3>,
    /// prototype: stiffness and damping factor per joint
    pub gains: Vec<(f32, f32)>,
}

impl World {
    /// Torque of every joint's drive, in the parent's frame, with which the ragdoll in the state `motion` moves as
    /// `expected`: Newton and Euler, from the tips to the root.
    pub(crate) fn torques_for(&self, motion: &Motion, expected: &Expectation) -> Vec<Vec3> {
        let joints = self.parents.len();
        let origin = motion.pose.positions[0];
        let mut force = vec![Vec3::ZERO; joints];
        let mut moment = vec![Vec3::ZERO; joints];
        for i in 0..joints {
            let center = motion.pose.positions[i] + motion.pose.rotations[i] * self.coms[i];
            force[i] = (expected.accelerations[i] - self.gravity) * self.masses[i];
            moment[i] = (center - origin).cross(force[i]);
        }
        for support in &expected.supports {
            let i = support.body;
            let point = motion.pose.positions[i] + motion.pose.rotations[i] * support.point;
            force[i] -= support.force_n;
            moment[i] -= (point - origin).cross(support.force_n);
        }
        let mut torques = vec![Vec3::ZERO; joints];
        for i in (1..joints).rev() {
            let parent = self.parents[i];
            let about_joint = moment[i] - (motion.pose.positions[i] - origin).cross(force[i]);
            torques[i] = motion.pose.rotations[parent].inverse() * about_joint;
            let (f, m) = (force[i], moment[i]);
            force[parent] += f;
            moment[parent] += m;
        }
        torques
    }
}
