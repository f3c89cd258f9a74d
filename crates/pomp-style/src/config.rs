use crate::StyleError;
use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All settings of `pomp style fit`; they are stored in the style file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StyleConfig {
    /// Selection of walking cycles.
    pub cycles: CycleConfig,
    /// Time alignment to the reference.
    pub alignment: AlignmentConfig,
    /// Principal components of the posture, K. Default 20.
    pub posture_components: usize,
    /// Principal components of the timing h(t), L. Default 10. K + L must be below the number of cycles: directions that the cycles
    /// do not span are noise after whitening.
    pub timing_components: usize,
    /// Independent feature subspaces.
    pub subspaces: SubspaceConfig,
    /// One clip in this many of each style is held out from the fit and measured, 2 or more; 0 holds out none. Default 5.
    pub held_out_every: usize,
    /// Number of folds of a cross-validation over clips, where each clip is left out of one fit; 0 turns it off. With as many folds
    /// as clips, it is leave-one-out. Default 0.
    pub folds: usize,
    /// Seed of the starting points of the subspace analysis. Default 1.
    pub seed: u64,
}

impl Default for StyleConfig {
    fn default() -> Self {
        Self {
            cycles: CycleConfig::default(),
            alignment: AlignmentConfig::default(),
            posture_components: 20,
            timing_components: 10,
            subspaces: SubspaceConfig::default(),
            held_out_every: 5,
            folds: 0,
            seed: 1,
        }
    }
}

/// Selection of walking cycles; a cycle runs from one strike of the left foot to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CycleConfig {
    /// Largest number of cycles per style in the fit, spread evenly over its clips, so that no style outweighs another. Default 200.
    /// A fit needs about ten times as many cycles as dimensions: with few cycles, sparse directions are those of single cycles.
    pub most_per_style: usize,
    /// Duration of a cycle, seconds. Default 0.6 to 2.4.
    pub duration_s: [f32; 2],
    /// Least distance that the pelvis travels in a cycle, metres. Default 0.3.
    pub least_travel_m: f32,
    /// Largest turn of the pelvis from the beginning of a cycle to its end, and largest angle between facing and travel, degrees.
    /// Default 30.
    pub most_turn_deg: f32,
    /// Largest difference between the heights of planted feet in a cycle, metres: beyond it the ground is not level. Default 0.1.
    pub most_rise_m: f32,
}

impl Default for CycleConfig {
    fn default() -> Self {
        Self {
            most_per_style: 200,
            duration_s: [0.6, 2.4],
            least_travel_m: 0.3,
            most_turn_deg: 30.0,
            most_rise_m: 0.1,
        }
    }
}

/// Time alignment of a cycle to the reference by dynamic programming, segment by segment between foot contacts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AlignmentConfig {
    /// Largest number of consecutive steps i in which only one of the two times advances. Default 2: the duration of a segment
    /// changes by a factor of three at most. A cycle with a longer or shorter segment is left out.
    pub most_steps: usize,
    /// Number of frames before and after a frame that are included when two frames are compared. Default 2.
    pub window_frames: usize,
    /// Standard deviation of the smoothing of the warp's steps, frames; the ends of segments stay fixed. Default 2. With 0, steps of
    /// zero length, which the alignment produces, become `least_step_frames`.
    pub smoothing_frames: f32,
    /// Smallest step of the warp, frames. Default 0.001; the logarithm of a step of zero length is infinite.
    pub least_step_frames: f32,
}

impl Default for AlignmentConfig {
    fn default() -> Self {
        Self { most_steps: 2, window_frames: 2, smoothing_frames: 2.0, least_step_frames: 1e-3 }
    }
}

/// Independent feature subspace analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SubspaceConfig {
    /// Number of subspaces, J; it must divide `posture_components` + `timing_components`. Default 3.
    pub count: usize,
    /// How the style subspace is chosen. Default `differences`.
    pub choice: SubspaceChoice,
    /// Number of starting points; the best result is kept. Default 10.
    pub restarts: usize,
    /// Largest number of gradient steps from each starting point. Default 400.
    pub iterations: usize,
}

impl Default for SubspaceConfig {
    fn default() -> Self {
        Self { count: 3, choice: SubspaceChoice::Differences, restarts: 10, iterations: 400 }
    }
}

/// How the style subspace is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubspaceChoice {
    /// The subspace that carries most of the differences between the means of styles, in s. Default.
    #[default]
    Differences,
    /// The subspace with the largest ratio of the variance between styles to the variance within them.
    Separation,
    /// The subspace in which the cycles differ most from the reference in total, as in the source. It needs no labels, but finds the
    /// directions of unusual cycles rather than those of styles.
    Reference,
}

impl Validate for StyleConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        self.cycles.check(&fields.section("cycles"))?;
        self.alignment.check(&fields.section("alignment"))?;
        fields.within("posture_components", self.posture_components, 1..=1000)?;
        fields.within("timing_components", self.timing_components, 1..=1000)?;
        self.subspaces.check(&fields.section("subspaces"))?;
        let components = self.posture_components + self.timing_components;
        fields.holds(
            components.is_multiple_of(self.subspaces.count),
            "subspaces.count",
            self.subspaces.count,
            format!("a divisor of posture_components + timing_components, {components}"),
        )?;
        fields.holds(self.held_out_every != 1, "held_out_every", self.held_out_every, "0, or 2 or more")?;
        fields.within("held_out_every", self.held_out_every, 0..=1000)?;
        fields.holds(self.folds != 1, "folds", self.folds, "0, or 2 or more")?;
        fields.within("folds", self.folds, 0..=10_000)
    }
}

impl Validate for CycleConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("most_per_style", self.most_per_style, 1..=100_000)?;
        fields.pair_within("duration_s", self.duration_s, 0.2..=10.0)?;
        fields.within("least_travel_m", self.least_travel_m, 0.01..=5.0)?;
        fields.within("most_turn_deg", self.most_turn_deg, 1.0..=80.0)?;
        fields.within("most_rise_m", self.most_rise_m, 0.01..=1.0)
    }
}

impl Validate for AlignmentConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("most_steps", self.most_steps, 1..=20)?;
        fields.within("window_frames", self.window_frames, 0..=30)?;
        fields.within("smoothing_frames", self.smoothing_frames, 0.0..=30.0)?;
        fields.within("least_step_frames", self.least_step_frames, 1e-6..=0.5)
    }
}

impl Validate for SubspaceConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("count", self.count, 2..=100)?;
        fields.within("restarts", self.restarts, 1..=1000)?;
        fields.within("iterations", self.iterations, 1..=100_000)
    }
}

impl StyleConfig {
    /// Checks every range.
    ///
    /// # Errors
    /// [`StyleError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), StyleError> {
        Ok(self.check(&Fields::root())?)
    }
}
