//! Settings of proximal policy optimisation.

use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Proximal policy optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyLearning {
    /// Iterations.
    pub iterations: usize,
    /// Decisions of each walker in an iteration.
    pub decisions: usize,
    /// Passes over them.
    pub epochs: usize,
    /// Decisions in a batch.
    pub batch_size: usize,
    /// Learning rate to begin with; it is led so that the policy changes by about `divergence` in an iteration.
    pub learning_rate: f64,
    /// Wanted Kullback-Leibler divergence of an iteration.
    pub divergence: f32,
    /// Discount of a decision.
    pub discount: f32,
    /// Trace of generalised advantage estimation.
    pub trace: f32,
    /// Farthest change of a probability that is rewarded, as a ratio above 1.
    pub clip: f32,
    /// Standard deviation of the actions to begin with.
    pub deviation: f32,
    /// Weight of the entropy.
    pub entropy: f32,
}

impl Validate for PolicyLearning {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        let PolicyLearning { iterations, decisions, epochs, batch_size, .. } = *self;
        fields.within("iterations", iterations, 1..=1_000_000)?;
        fields.within("decisions", decisions, 1..=10_000)?;
        fields.within("epochs", epochs, 1..=100)?;
        fields.within("batch_size", batch_size, 1..=1_000_000)?;
        fields.within("learning_rate", self.learning_rate, 1e-7..=1.0)?;
        fields.within("divergence", self.divergence, 1e-5..=1.0)?;
        fields.within("discount", self.discount, 0.0..=1.0)?;
        fields.within("trace", self.trace, 0.0..=1.0)?;
        fields.within("clip", self.clip, 0.01..=1.0)?;
        fields.within("deviation", self.deviation, 0.01..=3.0)?;
        fields.within("entropy", self.entropy, 0.0..=1.0)
    }
}
