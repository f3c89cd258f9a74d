//! Settings of the training of a get-up policy.

use crate::{PolicyLearning, TrainError};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_policy::PolicySizes;
use pomp_terrain::TerrainSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the training of a get-up policy: `configs/get_up.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetUpTraining {
    /// Seed of weights, ground, falls and noise.
    pub seed: u64,
    /// Sizes of the policy.
    pub sizes: PolicySizes,
    /// Hidden widths of the critic, which training alone needs.
    pub critic_hidden: Vec<usize>,
    /// On what the bodies lie.
    pub grounds: Vec<GetUpGround>,
    /// Falls of each body.
    pub falls: usize,
    /// Smallest and largest impulse of the push that fells a body, N·s; along the ground, in any direction.
    pub impulse_ns: [f32; 2],
    /// Share of the episodes that begin where a body has fallen, 0 to 1; the others begin anywhere on the way up.
    pub from_fall: f32,
    /// Share of the external root assist at first, 0 to 1. It is made less while most attempts succeed, until there is none.
    pub assist: f32,
    /// Weights of the reward of a decision.
    pub reward: GetUpReward,
    /// Proximal policy optimisation.
    pub learning: PolicyLearning,
}

/// Ground of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetUpGround {
    /// The ground; drawn anew for every body.
    pub terrain: TerrainSpec,
    /// Number of bodies.
    pub bodies: usize,
}

/// Weights of the reward of a decision. Every term but the costs lies between 0 and its weight, and counts for more the farther the body has
/// come: `start` at first, all at last. A body that has got up has the whole reward for ever; one that does not get on has none any more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetUpReward {
    /// Share of the reward at the beginning of the way, 0 to 1.
    pub start: f32,
    /// For the height of the target's pelvis, within 12 cm.
    pub height: f32,
    /// For the rotation of the target's pelvis, within 0.6 rad.
    pub pelvis: f32,
    /// For the target's centre of mass along the ground, within 20 cm.
    pub place: f32,
    /// For the joint rotations of the target, within 0.5 rad.
    pub joints: f32,
    /// Cost of the mean square of the action.
    pub action: f32,
    /// Cost of the mean square of its change.
    pub change: f32,
}

impl GetUpTraining {
    /// Checks every range.
    ///
    /// # Errors
    /// [`TrainError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), TrainError> {
        Ok(self.check(&Fields::root())?)
    }
}

impl Validate for GetUpTraining {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        self.sizes.check(&fields.section("sizes"))?;
        fields.within("critic_hidden.len()", self.critic_hidden.len(), 1..=8)?;
        for width in &self.critic_hidden {
            fields.within("critic_hidden", *width, 1..=4096)?;
        }
        let bodies: usize = self.grounds.iter().map(|ground| ground.bodies).sum();
        fields.within("grounds: bodies in all", bodies, 1..=100_000)?;
        fields.within("falls", self.falls, 1..=1000)?;
        let [least, most] = self.impulse_ns;
        fields.within("impulse_ns[1]", most, 0.0..=1000.0)?;
        fields.within("impulse_ns[0]", least, 0.0..=most)?;
        fields.within("from_fall", self.from_fall, 0.0..=1.0)?;
        fields.within("assist", self.assist, 0.0..=1.0)?;
        let reward = fields.section("reward");
        reward.within("start", self.reward.start, 0.0..=1.0)?;
        for (name, value) in [
            ("height", self.reward.height),
            ("pelvis", self.reward.pelvis),
            ("place", self.reward.place),
            ("joints", self.reward.joints),
            ("action", self.reward.action),
            ("change", self.reward.change),
        ] {
            reward.within(name, value, 0.0..=100.0)?;
        }
        self.learning.check(&fields.section("learning"))
    }
}
