use pomp_motion::GlobalPose;
use pomp_motion::glam::{Quat, Vec3};

/// Kinematic state of a ragdoll.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub(crate) pose: GlobalPose,
    pub(crate) local_rotations: Vec<Quat>,
    /// Joint origins, m/s.
    pub(crate) linear: Vec<Vec3>,
    /// World, rad/s.
    pub(crate) angular: Vec<Vec3>,
    /// Generalised: relative to the parent, in its frame.
    pub(crate) relative: Vec<Vec3>,
}
