use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the ground under a clip is reconstructed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TerrainFitConfig {
    /// Grid spacing of the heights where the ground is not a plane, metres. Default 0.05; a larger value blurs risers.
    pub cell_m: f32,
    /// Grid spacing of the heights on level and inclined planes, metres. Default 0.5.
    pub flat_cell_m: f32,
    /// Margin of ground around all joint positions of the clip, metres, at least 3. Default 4.
    pub margin_m: f32,
    /// Largest number of heights of a map; a larger map is coarsened, with a warning. Default 600,000.
    pub max_heights: usize,
    /// Largest span of a clip, metres. A clip with a larger span is rejected, because its unit must be wrong. Default 300.
    pub max_span_m: f32,
    /// Largest distance of planted soles from their median height on ground that counts as level, metres. Default 0.04,
    /// the scatter of planted feet in good motion capture. A larger value levels real bumps; a smaller value turns noise
    /// into relief.
    pub flat_tolerance_m: f32,
    /// Distance from the median height at which a stance counts as terrain even in a clip that is otherwise level, metres.
    /// Default 0.1.
    pub step_height_m: f32,
    /// Share of the planted time that may lie outside the tolerance on level ground. Default 0.2.
    pub flat_outlier_share: f32,
    /// Ridge (regularisation) of the radial-basis fit through planted feet, metres. Default 0.05: the fit follows a single
    /// stance that contradicts its neighbours by about two thirds. With 0 it passes through every stance.
    pub smoothing: f32,
    /// Heights at the same place that differ by more than this are contradictions, metres. Default 0.08.
    pub contradiction_m: f32,
    /// Largest amount by which the ground under standing feet is lowered for feet that swing through it at other times,
    /// metres. Default 0.02, half the scatter of planted feet. It is doubled if otherwise more than one swinging sole in a
    /// hundred would remain inside the ground and doubling prevents that. With 0, swinging feet remain inside the ground;
    /// with larger values, standing feet are above it.
    pub swing_give_m: f32,
    /// Largest share of the planted time with contradictions. Clips with a larger share are rejected; a smaller share
    /// gives a warning. Default 0.5: the worst ladder in common mocap has 0.41.
    pub max_contradiction_share: f32,
    /// Number of terrain variants kept in addition to variant 0: the best patches per gait cycle. Default 4.
    pub variants: usize,
    /// Number of patches tried per gait cycle. Default 96; more patches give better fits, and the time grows linearly.
    pub patches: usize,
    /// Seed of the patch library. Default 1.
    pub seed: u64,
}

impl Default for TerrainFitConfig {
    fn default() -> Self {
        Self {
            cell_m: 0.05,
            flat_cell_m: 0.5,
            margin_m: 4.0,
            max_heights: 600_000,
            max_span_m: 300.0,
            flat_tolerance_m: 0.04,
            step_height_m: 0.1,
            flat_outlier_share: 0.2,
            smoothing: 0.05,
            contradiction_m: 0.08,
            swing_give_m: 0.02,
            max_contradiction_share: 0.5,
            variants: 4,
            patches: 96,
            seed: 1,
        }
    }
}

impl Validate for TerrainFitConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("cell_m", self.cell_m, 0.01..=1.0)?;
        fields.within("flat_cell_m", self.flat_cell_m, 0.01..=1.0)?;
        fields.within("margin_m", self.margin_m, 3.0..=100.0)?;
        fields.within("max_heights", self.max_heights, 1000..=16_000_000)?;
        fields.within("max_span_m", self.max_span_m, 1.0..=1e4)?;
        fields.within("flat_tolerance_m", self.flat_tolerance_m, 0.0..=1.0)?;
        fields.within("step_height_m", self.step_height_m, 0.0..=1.0)?;
        fields.within("flat_outlier_share", self.flat_outlier_share, 0.0..=0.5)?;
        fields.within("smoothing", self.smoothing, 0.0..=10.0)?;
        fields.within("contradiction_m", self.contradiction_m, 0.0..=10.0)?;
        fields.within("swing_give_m", self.swing_give_m, 0.0..=1.0)?;
        fields.within("max_contradiction_share", self.max_contradiction_share, 0.0..=1.0)?;
        // As many as there are variants.
        fields.within("patches", self.patches, self.variants.max(1)..=100_000)
    }
}
