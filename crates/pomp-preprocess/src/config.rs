use crate::replay::ReplayConfig;
use crate::terrain_fit::TerrainFitConfig;
use crate::{BumpConfig, FallConfig, ImpulseConfig, PaceConfig, PreprocessError, WarpConfig};
use pomp_motion::retarget::RetargetOptions;
use pomp_motion::{ContactConfig, GaitLabelConfig};
use pomp_physics::DynamicConfig;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

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
    /// Clips on ground with relief.
    pub warp: WarpConfig,
    /// Variants of level walks at a slower pace; none by default.
    pub pace: PaceConfig,
    /// Clips that are pushed.
    pub bumps: BumpConfig,
    /// Clips that are struck down and get up again; none by default.
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
            dynamic: DynamicConfig::default(),
        }
    }
}

impl PreprocessConfig {
    /// Checks what decides whether results mean anything.
    ///
    /// # Errors
    /// [`PreprocessError::BadConfig`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), PreprocessError> {
        let check = |holds: bool, field: &str, value: &dyn Display, range: &str| {
            let reason = || format!("{field} = {value} is not {range}");
            if holds { Ok(()) } else { Err(PreprocessError::BadConfig { reason: reason() }) }
        };
        let (rate, dynamic_rate) = (self.frame_rate_hz, self.dynamic.frame_rate_hz);
        check((20.0..=1000.0).contains(&rate), "frame_rate_hz", &rate, "between 20 and 1000 Hz")?;
        // The replay hands the ragdoll one pose per control frame: at another rate all forces would be wrong.
        check(
            dynamic_rate == rate,
            "dynamic.frame_rate_hz",
            &dynamic_rate,
            "frame_rate_hz, which it has to be",
        )?;
        check(
            (1..=100).contains(&self.terrain_variants),
            "terrain_variants",
            &self.terrain_variants,
            "1 to 100",
        )?;
        let most = self.terrain.variants + 1;
        check(
            self.terrain_variants <= most,
            "terrain_variants",
            &self.terrain_variants,
            "at most terrain.variants + 1: raise terrain.variants",
        )?;
        let lost = self.replay.lost_beyond_m;
        check(lost > 0.0 && lost <= 100.0, "replay.lost_beyond_m", &lost, "above 0 and at most 100 m")?;
        for (field, scale) in [
            ("replay.bearing_stiffness", self.replay.bearing_stiffness),
            ("replay.bearing_damping", self.replay.bearing_damping),
        ] {
            check((0.0..=10.0).contains(&scale), field, &scale, "between 0 and 10")?;
        }
        let warm_up = self.replay.warm_up_frames;
        check(warm_up <= 600, "replay.warm_up_frames", &warm_up, "600 or less")?;
        let bad = |reason: String| PreprocessError::BadConfig { reason };
        self.terrain.validate().map_err(|error| bad(format!("terrain: {error}")))?;
        self.warp.validate().map_err(|reason| bad(format!("warp: {reason}")))?;
        self.pace.validate().map_err(|reason| bad(format!("pace: {reason}")))?;
        self.bumps.validate().map_err(|reason| bad(format!("bumps: {reason}")))?;
        self.falls.validate().map_err(|reason| bad(format!("falls: {reason}")))?;
        self.impulses.validate(rate).map_err(bad)?;
        self.dynamic.validate().map_err(|error| bad(format!("dynamic: {error}")))
    }
}
