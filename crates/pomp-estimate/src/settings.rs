use crate::{ImpulseConfig, ReplayConfig};
use pomp_physics::DynamicConfig;

/// What the physics of a clip depends on.
#[derive(Clone, Copy, Debug)]
pub struct PhysicsSettings<'a> {
    /// The ragdoll.
    pub dynamic: &'a DynamicConfig,
    /// How it follows the clip.
    pub replay: &'a ReplayConfig,
    /// How contact impulses are estimated.
    pub impulses: &'a ImpulseConfig,
}
