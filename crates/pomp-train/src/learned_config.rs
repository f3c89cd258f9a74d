//! Settings of the training of learned motion matching.

use crate::{MatchingConfig, TrainError};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_controllers::ControllerKind;
use pomp_controllers::learned::LearnedSizes;
use pomp_controllers::matching::MatchingWeights;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of learned motion matching: `configs/controllers/learned-matching.toml`. Clips are chosen as for motion matching.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnedConfig {
    /// Always learned-matching.
    pub kind: ControllerKind,
    /// Seed of weights and batches; the same seed and data give the same bytes.
    pub seed: u64,
    /// One clip in this many is held out; 0 holds out none.
    pub held_out_every: usize,
    /// Names of clips (without `_mirrored`) that are left out; one that ends in `*` stands for all that begin so.
    pub exclude: Vec<String>,
    /// Minutes of motion to learn; mirror images are added. Default 5; more motion covers more commands, but blurs the pose.
    pub minutes: f32,
    /// Weight of each feature of motion matching. None may be 0, since the networks receive all features.
    pub weights: MatchingWeights,
    /// Sizes of the networks.
    pub sizes: LearnedSizes,
    /// Training of compressor and decompressor.
    pub decompressor: LearnedTraining,
    /// Training of the stepper, on its own output over a third of a second.
    pub stepper: LearnedTraining,
    /// Largest deviation of the noise on the entries that the stepper begins at in training, in their own deviations. The stepper learns to come
    /// back from where the projector leaves it, which never finds an entry exactly; with too much noise for a short training it glides.
    pub start_noise: f32,
    /// Training of the projector.
    pub projector: LearnedTraining,
}

/// Optimiser and schedule of one of the networks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnedTraining {
    /// Optimiser steps.
    pub steps: usize,
    /// Examples per step.
    pub batch_size: usize,
    /// Peak learning rate of AdamW; the rate falls along a cosine.
    pub learning_rate: f64,
}

impl Default for LearnedConfig {
    fn default() -> Self {
        let MatchingConfig { held_out_every, exclude, minutes, weights, .. } = MatchingConfig::default();
        let training = |steps| LearnedTraining { steps, batch_size: 64, learning_rate: 1e-3 };
        Self {
            kind: ControllerKind::LearnedMatching,
            seed: 1,
            held_out_every,
            exclude,
            minutes,
            weights,
            sizes: LearnedSizes::default(),
            decompressor: training(20_000),
            stepper: training(20_000),
            start_noise: 0.3,
            projector: training(30_000),
        }
    }
}

impl LearnedConfig {
    /// The motion matching whose clips are learned.
    pub fn matching(&self) -> MatchingConfig {
        MatchingConfig {
            held_out_every: self.held_out_every,
            exclude: self.exclude.clone(),
            minutes: self.minutes,
            weights: self.weights,
            ..MatchingConfig::default()
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`TrainError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), TrainError> {
        Ok(self.check(&Fields::root())?)
    }
}

impl Validate for LearnedConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        let is_right = self.kind == ControllerKind::LearnedMatching;
        fields.holds(is_right, "kind", self.kind.name(), "learned-matching")?;
        fields.within("minutes", self.minutes, 0.1..=600.0)?;
        self.weights.check(&fields.section("weights"))?;
        let MatchingWeights {
            foot_position,
            foot_velocity,
            hip_velocity,
            trajectory_position,
            trajectory_direction,
            ..
        } = self.weights;
        let all = [foot_position, foot_velocity, hip_velocity, trajectory_position, trajectory_direction];
        let least = all.into_iter().fold(f32::INFINITY, f32::min);
        fields.holds(least >= 0.01, "weights", least, "0.01 or more, each but that of phases")?;
        self.sizes.check(&fields.section("sizes"))?;
        fields.within("start_noise", self.start_noise, 0.0..=10.0)?;
        for (name, training) in
            [("decompressor", self.decompressor), ("stepper", self.stepper), ("projector", self.projector)]
        {
            let fields = fields.section(name);
            fields.within("steps", training.steps, 1..=100_000_000)?;
            fields.within("batch_size", training.batch_size, 1..=65_536)?;
            fields.within("learning_rate", training.learning_rate, 1e-8..=1.0)?;
        }
        Ok(())
    }
}
