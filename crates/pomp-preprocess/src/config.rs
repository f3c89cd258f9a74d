use crate::replay::ReplayConfig;
use crate::terrain_fit::TerrainFitConfig;
use pomp_motion::retarget::RetargetOptions;
use pomp_motion::{ContactConfig, GaitLabelConfig};
use pomp_physics::DynamicConfig;
use serde::{Deserialize, Serialize};

/// Everything that decides what preprocessing makes of a clip; its hash is stored in every result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PreprocessConfig {
    /// Frames per second of the results. Features and windows of the method assume 60. Default 60.
    pub frame_rate_hz: f32,
    /// Also write each clip's mirror image, as `NAME_mirrored.npz`. Default true.
    pub mirror: bool,
    /// Terrain variants per clip, 1 or more; variant 0 is the plain fit. Default 1.
    pub terrain_variants: usize,
    /// Mapping onto the project skeleton.
    pub retarget: RetargetOptions,
    /// Foot contacts.
    pub contacts: ContactConfig,
    /// Gait labels.
    pub gaits: GaitLabelConfig,
    /// Terrain reconstruction.
    pub terrain: TerrainFitConfig,
    /// Physics replay.
    pub replay: ReplayConfig,
    /// The ragdoll.
    pub dynamic: DynamicConfig,
}

impl Default for PreprocessConfig {
    fn default() -> Self {
        Self {
            frame_rate_hz: 60.0,
            mirror: true,
            terrain_variants: 1,
            retarget: RetargetOptions::default(),
            contacts: ContactConfig::default(),
            gaits: GaitLabelConfig::default(),
            terrain: TerrainFitConfig::default(),
            replay: ReplayConfig::default(),
            dynamic: DynamicConfig::default(),
        }
    }
}
