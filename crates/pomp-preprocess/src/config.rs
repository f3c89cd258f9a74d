use crate::PreprocessError;
use pomp_augment::{BumpConfig, FallConfig, PaceConfig, WarpConfig};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_estimate::terrain_fit::TerrainFitConfig;
use pomp_estimate::{ImpulseConfig, PhysicsSettings, ReplayConfig};
use pomp_motion::retarget::RetargetOptions;
use pomp_motion::{ContactConfig, GaitLabelConfig};
use pomp_physics::DynamicConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All settings of preprocessing; their hash is stored in every result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Clips on ground with relief.
    pub warp: WarpConfig,
    /// Variants of level walks at a slower pace; none by default.
    pub pace: PaceConfig,
    /// Clips that are pushed.
    pub bumps: BumpConfig,
    /// Clips with a fall and a get-up; none by default.
    pub falls: FallConfig,
    /// Physics replay.
    pub replay: ReplayConfig,
    /// Contact impulses as stored.
    pub impulses: ImpulseConfig,
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
            warp: WarpConfig::default(),
            pace: PaceConfig::default(),
            bumps: BumpConfig::default(),
            falls: FallConfig::default(),
            replay: ReplayConfig::default(),
            impulses: ImpulseConfig::default(),
            dynamic: DynamicConfig::for_recorded_motion(),
        }
    }
}

impl Validate for PreprocessConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        let rate = self.frame_rate_hz;
        fields.within("frame_rate_hz", rate, 20.0..=1000.0)?;
        // The replay hands the ragdoll one pose per control frame: at another rate all forces would be wrong.
        let dynamic_rate = self.dynamic.frame_rate_hz;
        fields.holds(dynamic_rate == rate, "dynamic.frame_rate_hz", dynamic_rate, "that of frame_rate_hz")?;
        fields.within("terrain_variants", self.terrain_variants, 1..=100)?;
        fields.holds(
            self.terrain_variants <= self.terrain.variants + 1,
            "terrain_variants",
            self.terrain_variants,
            "at most terrain.variants + 1: raise terrain.variants",
        )?;
        self.replay.check(&fields.section("replay"))?;
        self.terrain.check(&fields.section("terrain"))?;
        self.warp.check(&fields.section("warp"))?;
        self.pace.check(&fields.section("pace"))?;
        self.bumps.check(&fields.section("bumps"))?;
        self.falls.check(&fields.section("falls"))?;
        self.impulses.check_at(rate, &fields.section("impulses"))?;
        self.dynamic.check(&fields.section("dynamic"))
    }
}

impl PreprocessConfig {
    /// The settings of the physics of a clip.
    pub fn physics(&self) -> PhysicsSettings<'_> {
        PhysicsSettings { dynamic: &self.dynamic, replay: &self.replay, impulses: &self.impulses }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`PreprocessError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), PreprocessError> {
        Ok(self.check(&Fields::root())?)
    }
}
