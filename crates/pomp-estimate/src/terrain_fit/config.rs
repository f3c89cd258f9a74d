use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the ground under a clip is reconstructed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TerrainFitConfig {
    /// Distance between heights where the ground is no plane, metres. Default 0.05; larger blurs risers.
    pub cell_m: f32,
    /// Distance between heights of level and inclined planes, metres. Default 0.5.
    pub flat_cell_m: f32,
    /// Ground beyond every joint position of the clip, metres, at least 3. Default 4.
    pub margin_m: f32,
    /// Most heights of a map; a larger one gets a coarser cell, with a warning. Default 600,000.
    pub max_heights: usize,
    /// Largest span of a clip, metres; more is refused as a wrong unit. Default 300.
    pub max_span_m: f32,
    /// Ground counts as level when planted soles lie within this of their median, metres. Default 0.04, the
    /// scatter of planted feet in good motion capture; more levels real bumps, less carves noise.
    pub flat_tolerance_m: f32,
    /// A stance this far off the median is terrain even in a clip that is otherwise level, metres. Default 0.1.
    pub step_height_m: f32,
    /// Share of the planted time that may lie outside the tolerance on level ground. Default 0.2.
    pub flat_outlier_share: f32,
    /// Ridge of the radial-basis fit through planted feet, metres. Default 0.05: a single stance that
    /// contradicts its neighbours is followed by about two thirds. 0 passes through every stance.
    pub smoothing: f32,
    /// Heights at the same place that differ by more than this are contradictions, metres. Default 0.08.
    pub contradiction_m: f32,
    /// Largest lowering of ground under standing feet for feet that swing through it at other times, metres. Default 0.02,
    /// half the scatter of planted feet; doubled where more than one sole in swing in a hundred would still be inside and
    /// doubling prevents that. 0 leaves feet in swing inside the ground, more leaves standing feet above it.
    pub swing_give_m: f32,
    /// Clips with a larger share of the planted time in contradiction are refused, those with less are warned
    /// of. Default 0.5: the worst ladder in common mocap has 0.41.
    pub max_contradiction_share: f32,
    /// Terrain variants kept besides variant 0, the best patches per gait cycle. Default 4.
    pub variants: usize,
    /// Patches tried per gait cycle. Default 96; more finds better fits and takes longer, linearly.
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
