//! Settings of the training of a style adapter.

use crate::{
    BlockWeights, KinematicTraining, SimulatedRollouts, TrainConfig, TrainError, TrainingStates, Unrolling,
};
use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the training of a style adapter: `configs/style_adapter.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StyleTraining {
    /// Seed of codes, batches and noise; the same seed and data give the same bytes.
    pub seed: u64,
    /// Numbers of a style code. Each style has a code of its own; the codes of as many styles can be independent.
    pub channels: usize,
    /// Frames at both ends of a clip that are not learned from.
    pub margin_frames: usize,
    /// Share of the examples with a weight below 1, drawn between `least_weight` and 1. Their target lies as far between what the frozen
    /// module predicts and what the clip does: without them half a weight is much less than half of the style.
    pub partial_share: f32,
    /// Least weight of these examples.
    pub least_weight: f32,
    /// Names of clips of plain walks, as in `clips` of a style. A share of the rollouts without a body begins in a frame of theirs, at the
    /// phase of the style's clip: without them a character that walks plainly may not find into the style.
    #[serde(default)]
    pub neutral: Vec<String>,
    /// Share of these rollouts.
    pub neutral_share: f32,
    /// The styles. Recordings that neither a style nor `neutral` names are not used.
    pub styles: Vec<StyleClips>,
    /// Weights of the loss.
    pub loss: BlockWeights,
    /// Optimiser and schedule.
    pub training: KinematicTraining,
    /// Where the states that it learns from come from.
    pub states: TrainingStates,
    /// Rollouts in the simulator, with the settings of the closed loop.
    pub simulated_rollouts: SimulatedRollouts,
    /// Windows with gradients through time, for a module that learned with them; off by default.
    #[serde(default)]
    pub unrolling: Unrolling,
}

/// A style and its clips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StyleClips {
    /// Name of the style.
    pub name: String,
    /// Names of the clips to learn from, without `_mirrored` and `_terrain…`: mirror images and variants belong to them.
    pub clips: Vec<String>,
    /// Names of the clips to measure with.
    #[serde(default)]
    pub held_out: Vec<String>,
}

impl Validate for StyleTraining {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("channels", self.channels, 1..=1000)?;
        fields.within("styles.len()", self.styles.len(), 1..=1000)?;
        fields.within("partial_share", self.partial_share, 0.0..=1.0)?;
        fields.within("neutral_share", self.neutral_share, 0.0..=1.0)?;
        fields.within("least_weight", self.least_weight, 0.0..=1.0)?;
        for (index, style) in self.styles.iter().enumerate() {
            let fields = fields.section(format!("styles[{index}]"));
            let own = !self.styles[..index].iter().any(|other| other.name == style.name);
            // What `--style NAME:WEIGHT,…` can name.
            let plain = !style.name.is_empty() && !style.name.contains([':', ',', '=', '.', ' ']);
            fields.holds(
                own && plain,
                "name",
                &style.name,
                "a name of its own, without : , = . and spaces",
            )?;
            fields.within("clips.len()", style.clips.len(), 1..)?;
        }
        self.training.check(&fields.section("training"))?;
        self.states.check(&fields.section("states"))?;
        self.simulated_rollouts.check(&fields.section("simulated_rollouts"))?;
        self.unrolling.check(&fields.section("unrolling"))?;
        fields.within(
            "states.replayed_share + states.rollout_share + simulated_rollouts.share",
            self.states.replayed_share + self.states.rollout_share + self.simulated_rollouts.share,
            0.0..=1.0,
        )?;
        fields.holds(
            self.training.kept_of_first == 0.0,
            "training.kept_of_first",
            self.training.kept_of_first,
            "0: an adapter begins with maps of 0",
        )
    }
}

impl StyleTraining {
    /// Checks every range.
    ///
    /// # Errors
    /// [`TrainError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), TrainError> {
        Ok(self.check(&Fields::root())?)
    }

    /// The configuration of a kinematic module that reads data as this one does.
    pub(crate) fn reading(&self) -> TrainConfig {
        let mut config =
            TrainConfig { seed: self.seed, margin_frames: self.margin_frames, ..TrainConfig::default() };
        config.kinematic.loss = self.loss;
        config.kinematic.training = self.training;
        config.kinematic.states = self.states;
        config.kinematic.simulated_rollouts = self.simulated_rollouts;
        config
    }
}
