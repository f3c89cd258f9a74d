use serde::{Deserialize, Serialize};

/// Variants of level walks at a slower pace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PaceConfig {
    /// Slowed variants per clip and mirror image. Default 0: none.
    pub variants: usize,
    /// Range of the pace over that of the clip, of which each variant draws from its own part. Default 0.35 to 0.8.
    pub share: [f32; 2],
    /// Least share of standing and walking in a clip. Default 0.95.
    pub least_steady_share: f32,
    /// Seed of the paces. Default 1.
    pub seed: u64,
}

impl Default for PaceConfig {
    fn default() -> Self {
        Self { variants: 0, share: [0.35, 0.8], least_steady_share: 0.95, seed: 1 }
    }
}

impl PaceConfig {
    /// Checks every field; the message names the first one out of range.
    ///
    /// # Errors
    /// The field, its value and its range.
    pub fn validate(&self) -> Result<(), String> {
        if self.variants > 100 {
            return Err(format!("variants = {} is not 0 to 100", self.variants));
        }
        let [low, high] = self.share;
        if !(0.2 <= low && low <= high && high <= 1.0) {
            return Err(format!(
                "share = [{low}, {high}] is not a range within 0.2 and 1, the smaller number first"
            ));
        }
        if !(0.0..=1.0).contains(&self.least_steady_share) {
            return Err(format!("least_steady_share = {} is not 0 to 1", self.least_steady_share));
        }
        Ok(())
    }
}
