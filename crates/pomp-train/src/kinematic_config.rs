//! Settings of the kinematic stage, by section.

use crate::Unrolling;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_kinematic::{
    Activation, Blend, Conditioning, ExpertOutputs, GateInput, KinematicConfig, Prediction,
};
use pomp_model::OutputSpace;
use pomp_motion::features::{BlockName, FeatureLayout, Rotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Kinematic module: layout, sizes and training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KinematicStage {
    /// Contents of x and y.
    pub layout: LayoutChoice,
    /// Sizes and forms of the networks.
    pub network: NetworkSizes,
    /// The diffusion.
    pub diffusion: DiffusionChoice,
    /// Weights of the loss.
    pub loss: BlockWeights,
    /// Optimiser and schedule.
    pub training: KinematicTraining,
    /// Where the training states come from.
    pub states: TrainingStates,
    /// Rollouts in the simulator, with the settings of the closed loop.
    pub simulated_rollouts: SimulatedRollouts,
    /// Windows in which it goes on by itself, with gradients through time.
    pub unrolling: Unrolling,
}

/// Contents of x and y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutChoice {
    /// Whether x and y contain joint rotations (ours) or not (the paper's layout, which leaves twist undetermined).
    pub rotations: Rotations,
    /// Whether the network predicts y itself or its change.
    pub output: OutputSpace,
    /// Whether x and y contain phases.
    pub phases: Phases,
}

impl Default for LayoutChoice {
    fn default() -> Self {
        Self { rotations: Rotations::SixD, output: OutputSpace::Residual, phases: Phases::Codes }
    }
}

/// Whether the kinematic module receives phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phases {
    /// Phase codes are part of x and y and alone decide the blend of the experts: the method.
    #[default]
    Codes,
    /// No phases: an ablation. The layout keeps the blocks of the phases, but the weights of the phases of x are fixed at 0, the module
    /// learns only the mean of the phases of y, and the gate sees the whole of x. Such a model runs wherever any other does, and phases
    /// have no effect.
    None,
}

/// Sizes and forms of the networks; [`KinematicConfig`] says what each means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSizes {
    /// Number of experts.
    pub experts: usize,
    /// Hidden widths of every expert.
    pub expert_hidden: Vec<usize>,
    /// Length of an expert's output.
    pub condition_size: usize,
    /// Hidden widths of the gate.
    pub gate_hidden: Vec<usize>,
    /// Hidden widths of the decoder.
    pub decoder_hidden: Vec<usize>,
    /// Nonlinearity.
    pub activation: Activation,
    /// What the decoder is conditioned on.
    pub conditioning: Conditioning,
    /// How the experts' outputs become conditions. Default as in the paper: orthonormal.
    pub expert_outputs: ExpertOutputs,
    /// Where the experts are blended. Default as in the paper: after the decoder.
    pub blend: Blend,
    /// Independent share of an expert's output below which it counts as dependent on the other experts.
    pub independence: f64,
    /// Share of the experts' hidden units that dropout sets to 0 in training.
    pub expert_dropout: f64,
}

impl Default for NetworkSizes {
    fn default() -> Self {
        Self {
            experts: 8,
            expert_hidden: vec![192],
            condition_size: 192,
            gate_hidden: vec![64],
            decoder_hidden: vec![512, 512],
            activation: Activation::Silu,
            conditioning: Conditioning::Experts,
            expert_outputs: ExpertOutputs::Orthonormal,
            blend: Blend::AfterDecoder,
            independence: 1e-2,
            expert_dropout: 0.0,
        }
    }
}

/// The diffusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffusionChoice {
    /// Training steps N of the diffusion.
    pub steps: usize,
    /// Length of the code of the diffusion step.
    pub time_embedding: usize,
    /// How the decoder's last layer is read.
    pub prediction: Prediction,
}

impl Default for DiffusionChoice {
    fn default() -> Self {
        Self { steps: 50, time_embedding: 32, prediction: Prediction::Clean }
    }
}

/// Weight of each block of y in the loss; each block counts as a whole, whatever its number of features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockWeights {
    /// Joint positions.
    pub joint_positions: f32,
    /// Joint velocities.
    pub joint_velocities: f32,
    /// Joint rotations: the pose target itself.
    pub joint_rotations: f32,
    /// Root velocity and yaw rate: few features, but they determine where the character goes.
    pub root_motion: f32,
    /// Gait.
    pub gait: f32,
    /// Predicted trajectory.
    pub trajectory: f32,
    /// Phase codes.
    pub phase_codes: f32,
    /// Frequencies, amplitudes, offsets.
    pub phase_parameters: f32,
}

impl Default for BlockWeights {
    fn default() -> Self {
        Self {
            joint_positions: 1.0,
            joint_velocities: 1.0,
            joint_rotations: 3.0,
            root_motion: 2.0,
            gait: 0.3,
            trajectory: 1.0,
            phase_codes: 1.0,
            phase_parameters: 0.5,
        }
    }
}

impl BlockWeights {
    fn of(&self, name: BlockName) -> f32 {
        match name {
            BlockName::JointPositions => self.joint_positions,
            BlockName::JointVelocities => self.joint_velocities,
            BlockName::JointRotations => self.joint_rotations,
            BlockName::RootMotion => self.root_motion,
            BlockName::Gait => self.gait,
            BlockName::Trajectory => self.trajectory,
            BlockName::PhaseCodes => self.phase_codes,
            BlockName::PhaseParameters => self.phase_parameters,
            BlockName::TerrainHeights | BlockName::ContactImpulses => 0.0,
        }
    }

    /// w of every feature of y, so that Σ w² over a block is its weight times the length of y over the sum of
    /// weights: the mean of (w ∘ error)² is the weighted mean of the blocks' mean squared errors.
    pub fn per_feature(&self, layout: &FeatureLayout) -> Vec<f32> {
        let total: f32 = layout.y_blocks().iter().map(|block| self.of(block.name)).sum();
        let mut weights = vec![0.0; layout.y_len()];
        for block in layout.y_blocks() {
            let share = self.of(block.name) / total;
            let each = (share * layout.y_len() as f32 / block.range.len() as f32).sqrt();
            weights[block.range.clone()].fill(each);
        }
        weights
    }
}

/// Optimiser and schedule of the kinematic stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KinematicTraining {
    /// Optimiser steps.
    pub steps: usize,
    /// Examples per step.
    pub batch_size: usize,
    /// Peak learning rate of AdamW. The rate rises over the first steps and then falls along a cosine.
    pub learning_rate: f64,
    /// Number of steps over which the learning rate rises.
    pub warm_up_steps: usize,
    /// Decoupled weight decay.
    pub weight_decay: f32,
    /// Decay of the exponential moving average of the weights, which are the weights that are kept: 0.999 averages over a thousand steps.
    pub average: f32,
    /// Share of the initial weights of a fine-tuning in the weights that are kept, 0 to below 1; the rest are the averaged weights. With a
    /// larger share, fine-tuning loses less of what the model learned before (Wortsman and others, CVPR 2022). Default 0.
    pub kept_of_first: f32,
}

impl Default for KinematicTraining {
    fn default() -> Self {
        Self {
            steps: 18_000,
            batch_size: 128,
            learning_rate: 1e-3,
            warm_up_steps: 500,
            weight_decay: 1e-3,
            average: 0.999,
            kept_of_first: 0.0,
        }
    }
}

/// Where the training states come from. The remaining examples use the states of the clips.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainingStates {
    /// Share of examples whose state comes from the physics replay.
    pub replayed_share: f32,
    /// Share of examples whose state comes from the model's own rollouts without the simulator; grows from 0 over the first third of
    /// training.
    pub rollout_share: f32,
    /// Longest rollout, frames.
    pub rollout_frames: usize,
    /// Standard deviation of the noise on the state in x, in normalised units.
    pub state_noise: f32,
    /// Standard deviation of the noise on phase codes, trajectory and contact impulses in x, in normalised units.
    pub context_noise: f32,
    /// Factor by which examples of gaits other than standing and walking are drawn more often, and those of walks sideways or backward.
    pub rare_gait_factor: f32,
}

impl Default for TrainingStates {
    fn default() -> Self {
        Self {
            replayed_share: 0.3,
            rollout_share: 0.4,
            rollout_frames: 150,
            state_noise: 0.1,
            context_noise: 0.1,
            rare_gait_factor: 1.0,
        }
    }
}

/// Rollouts of the model in the closed loop, along training clips of standing and walking (and jogging, if `jogs` is set) on level ground.
/// They are simulated on random ground, the model is shown the same surface as in the closed loop, and phases are read from the body. The
/// model thus learns from the states that it will encounter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedRollouts {
    /// Share of examples that come from these rollouts; grows from 0 over the first third of training.
    pub share: f32,
    /// Longest rollout, frames.
    pub frames: usize,
    /// Share of the simulated pose that the module is shown, 0 … 1; set it to the `share` of pose blending of the closed loop that the
    /// model is for.
    pub pose_feedback: f32,
    /// Share of the pose's deviation from its clip that remains in the label after one frame, 0 to below 1. A small share returns to the
    /// clip quickly and roughly; a large share is smooth, but turns the joints less than people do.
    pub pose_left: f32,
    /// Mean number of pushes per second, each on a random body in a random direction along the ground.
    pub pushes_per_s: f32,
    /// Strongest push, N·s.
    pub largest_push_ns: f32,
    /// Whether rollouts also follow jogs, in addition to standing and walking. Default false.
    pub jogs: bool,
}

impl Default for SimulatedRollouts {
    fn default() -> Self {
        Self {
            share: 0.0,
            frames: 150,
            pose_feedback: 1.0,
            pose_left: 0.5,
            pushes_per_s: 0.3,
            largest_push_ns: 60.0,
            jogs: false,
        }
    }
}

impl Validate for SimulatedRollouts {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("share", self.share, 0.0..=1.0)?;
        fields.within("pose_feedback", self.pose_feedback, 0.0..=1.0)?;
        fields.within("pose_left", self.pose_left, 0.0..1.0)?;
        fields.within("pushes_per_s", self.pushes_per_s, 0.0..=60.0)?;
        fields.within("largest_push_ns", self.largest_push_ns, 0.0..=1000.0)
    }
}

impl Validate for KinematicTraining {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("steps", self.steps, 1..)?;
        fields.within("batch_size", self.batch_size, 2..)?;
        fields.within("learning_rate", self.learning_rate, (Bound::Excluded(0.0), Bound::Excluded(1.0)))?;
        fields.within("average", self.average, 0.0..1.0)?;
        fields.within("kept_of_first", self.kept_of_first, 0.0..1.0)
    }
}

impl Validate for TrainingStates {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("replayed_share", self.replayed_share, 0.0..=1.0)?;
        fields.within("rollout_share", self.rollout_share, 0.0..=1.0)?;
        fields.within("state_noise", self.state_noise, 0.0..)?;
        fields.within("context_noise", self.context_noise, 0.0..)?;
        fields.within("rare_gait_factor", self.rare_gait_factor, (Bound::Excluded(0.0), Bound::Unbounded))
    }
}

impl Validate for KinematicStage {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        self.training.check(&fields.section("training"))?;
        self.states.check(&fields.section("states"))?;
        self.simulated_rollouts.check(&fields.section("simulated_rollouts"))?;
        let share = self.simulated_rollouts.share;
        fields.holds(
            share == 0.0 || self.layout.rotations != Rotations::None,
            "simulated_rollouts.share",
            share,
            "0 where layout.rotations is \"none\": a simulated body needs rotations to aim at",
        )?;
        self.unrolling.check(&fields.section("unrolling"))?;
        let windows = self.unrolling.windows;
        fields.holds(
            windows == 0 || (self.layout.rotations != Rotations::None && self.layout.output == OutputSpace::Residual),
            "unrolling.windows",
            windows,
            "0 where layout.rotations is \"none\" or layout.output is not \"residual\": the next state is made of rotations and changes",
        )?;
        fields.within(
            "states.replayed_share + states.rollout_share + simulated_rollouts.share",
            self.states.replayed_share + self.states.rollout_share + share,
            0.0..=1.0,
        )
    }
}

impl KinematicStage {
    /// The module's configuration for a layout.
    pub fn network(&self, layout: &FeatureLayout) -> KinematicConfig {
        let seen_by_gate = match self.layout.phases {
            Phases::Codes => layout.x_range(BlockName::PhaseCodes),
            Phases::None => 0..layout.x_len(),
        };
        let (sizes, diffusion) = (self.network.clone(), self.diffusion);
        KinematicConfig {
            input_size: layout.x_len(),
            output_size: layout.y_len(),
            gate_input: GateInput { start: seen_by_gate.start, len: seen_by_gate.len() },
            experts: sizes.experts,
            expert_hidden: sizes.expert_hidden,
            condition_size: sizes.condition_size,
            gate_hidden: sizes.gate_hidden,
            decoder_hidden: sizes.decoder_hidden,
            diffusion_steps: diffusion.steps,
            time_embedding: diffusion.time_embedding,
            activation: sizes.activation,
            conditioning: sizes.conditioning,
            prediction: diffusion.prediction,
            expert_outputs: sizes.expert_outputs,
            blend: sizes.blend,
            independence: sizes.independence,
            expert_dropout: sizes.expert_dropout,
        }
    }
}
