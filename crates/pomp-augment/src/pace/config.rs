use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Variants of level walks at a slower pace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PaceConfig {
    /// Slowed variants per clip and mirror image. Default 0: none.
    pub variants: usize,
    /// Range of the pace relative to that of the clip. The range is divided among the variants, and each draws from
    /// its own part. Default 0.35 to 0.8.
    pub share: [f32; 2],
    /// Least share of standing and walking that a clip must have. Default 0.95.
    pub least_steady_share: f32,
    /// Seed of the paces. Default 1.
    pub seed: u64,
}

impl Default for PaceConfig {
    fn default() -> Self {
        Self { variants: 0, share: [0.35, 0.8], least_steady_share: 0.95, seed: 1 }
    }
}

impl Validate for PaceConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("variants", self.variants, 0..=100)?;
        fields.pair_within("share", self.share, 0.2..=1.0)?;
        fields.within("least_steady_share", self.least_steady_share, 0.0..=1.0)
    }
}
