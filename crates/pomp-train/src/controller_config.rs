//! Settings of the training of a controller.

use crate::{BlockWeights, KinematicTraining, TrainConfig, TrainError, TrainingStates, Unrolling};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_controllers::ControllerKind;
use pomp_controllers::gated::GatedSizes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the training of a controller with blended experts: `configs/controllers/KIND.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerConfig {
    /// Which controller.
    pub kind: ControllerKind,
    /// Seed of weights, batches and noise; the same seed and data give the same bytes.
    pub seed: u64,
    /// One clip in so many is held out to measure with; 0 holds out none.
    pub held_out_every: usize,
    /// Names of clips (without `_mirrored`) that are left out; one that ends in `*` stands for all that begin so.
    pub exclude: Vec<String>,
    /// Frames at both ends of a clip that are not learned from.
    pub margin_frames: usize,
    /// Sizes of the network.
    pub sizes: GatedSizes,
    /// Weights of the loss.
    pub loss: BlockWeights,
    /// Optimiser and schedule.
    pub training: KinematicTraining,
    /// Where the states that it learns from come from.
    pub states: TrainingStates,
    /// Windows in which it goes on by itself, with gradients through time.
    pub unrolling: Unrolling,
}

impl Default for ControllerConfig {
    fn default() -> Self {
        Self::of(ControllerKind::Phase)
    }
}

impl ControllerConfig {
    /// The settings of the embedded controller of a kind.
    pub fn of(kind: ControllerKind) -> Self {
        let TrainConfig { seed, held_out_every, margin_frames, kinematic, .. } = TrainConfig::default();
        let pfnn = kind == ControllerKind::Pfnn;
        // The others learn from where their own errors lead them by unrolling, not by single frames of rollouts.
        let states = TrainingStates {
            replayed_share: 0.2,
            rollout_share: 0.0,
            rollout_frames: 300,
            ..kinematic.states
        };
        let training = KinematicTraining { steps: 6_000, batch_size: 32, ..kinematic.training };
        // The neural state machine walks for minutes without.
        let carried_share = if kind == ControllerKind::Nsm { 0.0 } else { 0.9 };
        let unrolling = Unrolling { windows: 32, carried_share, ..Unrolling::default() };
        Self {
            kind,
            seed,
            held_out_every,
            exclude: Vec::new(),
            margin_frames,
            sizes: GatedSizes::of(kind),
            loss: kinematic.loss,
            training: if pfnn { KinematicTraining { steps: 12_000, ..kinematic.training } } else { training },
            states: if pfnn { kinematic.states } else { states },
            unrolling: if pfnn {
                Unrolling { windows: 0, astray_rad: 0.0, retimed_frames: 0, carried_share: 0.0, ..unrolling }
            } else {
                unrolling
            },
        }
    }

    /// The configuration of a kinematic module that reads data as this one does.
    pub(crate) fn reading(&self) -> TrainConfig {
        let mut config = TrainConfig {
            seed: self.seed,
            held_out_every: self.held_out_every,
            exclude: self.exclude.clone(),
            margin_frames: self.margin_frames,
            ..TrainConfig::default()
        };
        config.kinematic.loss = self.loss;
        config.kinematic.training = self.training;
        config.kinematic.states = self.states;
        config
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`TrainError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), TrainError> {
        Ok(self.check(&Fields::root())?)
    }
}

impl Validate for ControllerConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        self.sizes.check(&fields.section("sizes"))?;
        self.training.check(&fields.section("training"))?;
        self.states.check(&fields.section("states"))?;
        self.unrolling.check(&fields.section("unrolling"))?;
        fields.within(
            "states.replayed_share + states.rollout_share",
            self.states.replayed_share + self.states.rollout_share,
            0.0..=1.0,
        )?;
        fields.holds(
            self.training.kept_of_first == 0.0,
            "training.kept_of_first",
            self.training.kept_of_first,
            "0: a controller is not fine-tuned",
        )
    }
}
