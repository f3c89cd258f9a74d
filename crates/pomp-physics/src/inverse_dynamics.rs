//! The torques that an expected frame asks of the drives.

use crate::Expectation;
use crate::motion::Motion;
use crate::world::World;
use pomp_motion::glam::Vec3;

impl World {
    /// Torque of every joint's drive, N·m in the parent's frame, with which ragdoll `member` in the state `motion` moves as
    /// `expected`: Newton and Euler from the tips to the root, every body's mass in its centre.
    pub(crate) fn expected_torques(
        &self,
        member: usize,
        motion: &Motion,
        expected: &Expectation,
    ) -> Vec<Vec3> {
        let ragdoll = &self.ragdolls[member];
        let (positions, rotations) = (&motion.pose.positions, &motion.pose.rotations);
        let joints = positions.len();
        let origin = positions[0];
        let (mut force, mut moment) = (vec![Vec3::ZERO; joints], vec![Vec3::ZERO; joints]);
        for i in 0..joints {
            let center = positions[i] + rotations[i] * ragdoll.local_center(i);
            force[i] = self.force_for(ragdoll.mass(i), expected.accelerations[i]);
            moment[i] = (center - origin).cross(force[i]);
        }
        for support in &expected.supports {
            let i = support.body;
            let point = positions[i] + rotations[i] * support.point;
            force[i] -= support.force_n;
            moment[i] -= (point - origin).cross(support.force_n);
        }
        let mut torques = vec![Vec3::ZERO; joints];
        for i in (1..joints).rev() {
            let parent = ragdoll.parent(i);
            let about_joint = moment[i] - (positions[i] - origin).cross(force[i]);
            torques[i] = rotations[parent].inverse() * about_joint;
            let (own_force, own_moment) = (force[i], moment[i]);
            force[parent] += own_force;
            moment[parent] += own_moment;
        }
        torques.iter_mut().zip(&expected.torques).skip(1).for_each(|(torque, besides)| *torque += *besides);
        torques
    }
}
