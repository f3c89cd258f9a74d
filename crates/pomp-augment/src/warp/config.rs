use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Form of the ground that a level clip is laid on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReliefKind {
    /// One inclined plane, or ramps that change their angle every few metres.
    Slope,
    /// Smooth hills and hollows.
    Hills,
    /// Uneven ground.
    Rough,
    /// Flights of steps, up and down, with every riser between two footprints.
    Steps,
    /// Trenches between the footprints; the clip itself is unchanged.
    Gaps,
    /// Flights of stairs, up and down, a tread for each step; the steps of the clip become as short as the treads.
    Stairs,
}

impl ReliefKind {
    /// Name, as in configurations and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Slope => "slope",
            Self::Hills => "hills",
            Self::Rough => "rough",
            Self::Steps => "steps",
            Self::Gaps => "gaps",
            Self::Stairs => "stairs",
        }
    }
}

/// Variants of flat clips on ground with relief. Each pair of numbers is the range that a variant draws from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WarpConfig {
    /// Warped variants per clip and mirror image. Default 0: none.
    pub variants: usize,
    /// Kinds of relief. The variants cycle through them, starting at one that depends on the clip's name.
    /// Default: all kinds but stairs, with steps twice because they are the hardest to learn.
    pub kinds: Vec<ReliefKind>,
    /// Steepness of slopes and ramps, degrees; half of them go down. Default 3 to 18.
    pub slope_deg: [f32; 2],
    /// Steepest slope of hills, degrees. Default 5 to 18; above 25 feet slip.
    pub hills_deg: [f32; 2],
    /// Distance between hills, metres. Default 3 to 7.
    pub hills_wavelength_m: [f32; 2],
    /// Largest height of rough ground above and below its mean, metres. Default 0.02 to 0.06.
    pub rough_m: [f32; 2],
    /// Height of a step, metres; the same for all steps of a flight. Default 0.05 to 0.18.
    pub step_m: [f32; 2],
    /// Length of the treads of stairs, metres. Default 0.28 to 0.4.
    pub tread_m: [f32; 2],
    /// Height of the risers of stairs, metres; the same for all of a flight. Default 0.1 to 0.2.
    pub riser_m: [f32; 2],
    /// Depth of a trench, metres. Default 0.2 to 0.5.
    pub gap_depth_m: [f32; 2],
    /// Clearance of a swinging foot over the relief, metres, unless the clip's own is smaller. Default 0.04; with
    /// much less, the simulated foot, which lags behind, hits the risers.
    pub clearance_m: f32,
    /// Seed of the reliefs. Default 1.
    pub seed: u64,
}

impl Default for WarpConfig {
    fn default() -> Self {
        Self {
            variants: 0,
            kinds: vec![
                ReliefKind::Slope,
                ReliefKind::Steps,
                ReliefKind::Hills,
                ReliefKind::Rough,
                ReliefKind::Steps,
                ReliefKind::Gaps,
            ],
            slope_deg: [3.0, 18.0],
            hills_deg: [5.0, 18.0],
            hills_wavelength_m: [3.0, 7.0],
            rough_m: [0.02, 0.06],
            step_m: [0.05, 0.18],
            tread_m: [0.28, 0.4],
            riser_m: [0.1, 0.2],
            gap_depth_m: [0.2, 0.5],
            clearance_m: 0.04,
            seed: 1,
        }
    }
}

impl Validate for WarpConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("variants", self.variants, 0..=100)?;
        fields.holds(!self.kinds.is_empty(), "kinds", "[]", "at least one kind")?;
        fields.pair_within("slope_deg", self.slope_deg, 0.0..=25.0)?;
        fields.pair_within("hills_deg", self.hills_deg, 0.0..=25.0)?;
        fields.pair_within("hills_wavelength_m", self.hills_wavelength_m, 0.5..=50.0)?;
        fields.pair_within("rough_m", self.rough_m, 0.0..=0.2)?;
        fields.pair_within("step_m", self.step_m, 0.0..=0.25)?;
        fields.pair_within("tread_m", self.tread_m, 0.2..=0.6)?;
        fields.pair_within("riser_m", self.riser_m, 0.0..=0.25)?;
        fields.pair_within("gap_depth_m", self.gap_depth_m, 0.0..=2.0)?;
        fields.within("clearance_m", self.clearance_m, 0.0..=0.2)
    }
}
