use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{GlobalPose, PerJoint};

/// Kinematic state of a ragdoll.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub(crate) pose: GlobalPose,
    pub(crate) local_rotations: PerJoint<Quat>,
    /// Joint origins, m/s.
    pub(crate) linear: PerJoint<Vec3>,
    /// World, rad/s.
    pub(crate) angular: PerJoint<Vec3>,
    /// Generalised: relative to the parent, in its frame.
    pub(crate) relative: PerJoint<Vec3>,
}
