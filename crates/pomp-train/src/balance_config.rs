//! Settings of the training of a balance policy.

use crate::TrainError;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_generator::Preset;
use pomp_policy::PolicySizes;
use pomp_terrain::TerrainSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the training of a balance policy: `configs/balance.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalanceTraining {
    /// Seed of weights, ground, motion, pushes and noise.
    pub seed: u64,
    /// Sizes of the policy.
    pub sizes: PolicySizes,
    /// Hidden widths of the critic, which training alone needs.
    pub critic_hidden: Vec<usize>,
    /// What the bodies are to follow. Each walker keeps to one motion on one ground.
    pub scenes: Vec<BalanceScene>,
    /// Length of the motions, seconds.
    pub motion_s: f32,
    /// Longest episode, seconds.
    pub episode_s: f32,
    /// Share of the episodes that begin with the motion, 0 to 1; the others begin anywhere in it.
    pub from_start: f32,
    /// Pushes on the chest, of which half of the episodes have none.
    pub pushes: BalancePushes,
    /// Weights of the reward of a decision.
    pub reward: BalanceReward,
    /// Proximal policy optimisation.
    pub learning: BalanceLearning,
}

/// Motions of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalanceScene {
    /// The command.
    pub control: Preset,
    /// The ground; drawn anew for every walker.
    pub terrain: TerrainSpec,
    /// Number of walkers.
    pub walkers: usize,
}

/// Pushes while training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalancePushes {
    /// Mean number per second.
    pub per_s: f32,
    /// Smallest and largest impulse, N·s; along the ground, in any direction.
    pub impulse_ns: [f32; 2],
}

/// Weights of the reward of a decision. Every term but the costs lies between 0 and its weight; a fall ends the episode, and all that
/// would have come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalanceReward {
    /// For being up.
    pub upright: f32,
    /// For the velocity of the target, within 0.4 m/s.
    pub velocity: f32,
    /// For the height of the target's centre of mass, within 8 cm.
    pub height: f32,
    /// For the rotation of the target's pelvis, within 0.35 rad.
    pub pelvis: f32,
    /// For the joint rotations of the target's legs, within 0.35 rad.
    pub legs: f32,
    /// Cost of the mean square of the action.
    pub action: f32,
    /// Cost of the mean square of its change.
    pub change: f32,
}

/// Proximal policy optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalanceLearning {
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

impl BalanceTraining {
    /// Checks every range.
    ///
    /// # Errors
    /// [`TrainError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), TrainError> {
        Ok(self.check(&Fields::root())?)
    }
}

impl Validate for BalanceTraining {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        self.sizes.check(&fields.section("sizes"))?;
        fields.within("critic_hidden.len()", self.critic_hidden.len(), 1..=8)?;
        for width in &self.critic_hidden {
            fields.within("critic_hidden", *width, 1..=4096)?;
        }
        let walkers: usize = self.scenes.iter().map(|scene| scene.walkers).sum();
        fields.within("scenes: walkers in all", walkers, 1..=100_000)?;
        fields.within("motion_s", self.motion_s, 2.0..=600.0)?;
        fields.within("episode_s", self.episode_s, 0.5..=600.0)?;
        fields.within("from_start", self.from_start, 0.0..=1.0)?;
        let pushes = fields.section("pushes");
        pushes.within("per_s", self.pushes.per_s, 0.0..=10.0)?;
        for impulse in self.pushes.impulse_ns {
            pushes.within("impulse_ns", impulse, 0.0..=1000.0)?;
        }
        let reward = fields.section("reward");
        for (name, value) in [
            ("upright", self.reward.upright),
            ("velocity", self.reward.velocity),
            ("height", self.reward.height),
            ("pelvis", self.reward.pelvis),
            ("legs", self.reward.legs),
            ("action", self.reward.action),
            ("change", self.reward.change),
        ] {
            reward.within(name, value, 0.0..=100.0)?;
        }
        let learning = fields.section("learning");
        let BalanceLearning { iterations, decisions, epochs, batch_size, .. } = self.learning;
        learning.within("iterations", iterations, 1..=1_000_000)?;
        learning.within("decisions", decisions, 1..=10_000)?;
        learning.within("epochs", epochs, 1..=100)?;
        learning.within("batch_size", batch_size, 1..=1_000_000)?;
        learning.within("learning_rate", self.learning.learning_rate, 1e-7..=1.0)?;
        learning.within("divergence", self.learning.divergence, 1e-5..=1.0)?;
        learning.within("discount", self.learning.discount, 0.0..=1.0)?;
        learning.within("trace", self.learning.trace, 0.0..=1.0)?;
        learning.within("clip", self.learning.clip, 0.01..=1.0)?;
        learning.within("deviation", self.learning.deviation, 0.01..=3.0)?;
        learning.within("entropy", self.learning.entropy, 0.0..=1.0)
    }
}
