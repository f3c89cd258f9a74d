use pomp_motion::{GlobalPose, Pose, Skeleton};
use pomp_terrain::HeightMap;

/// What a [`super::Recovery`] sees of a body at the start of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Fallen<'a> {
    /// Its skeleton.
    pub skeleton: &'a Skeleton,
    /// Where it is.
    pub pose: &'a GlobalPose,
    /// Mean speed of its joints, m/s.
    pub mean_joint_speed_m_s: f32,
    /// The target of the frame before.
    pub target: &'a Pose,
    /// What it lies on.
    pub terrain: &'a HeightMap,
    /// The same as a standing character is led over it, which may bridge holes.
    pub led_over: &'a HeightMap,
}
