use crate::{EarlyStopping, TrainError};
use pomp_kinematic::{
    Activation, Blend, Conditioning, ExpertOutputs, GateInput, KinematicConfig, Prediction,
};
use pomp_model::OutputSpace;
use pomp_motion::features::{BlockName, FeatureLayout, Rotations};
use pomp_phase::{AlignedLossWeights, PeriodicAutoencoderConfig, PhaseTrainingConfig, StitchConfig};
use serde::{Deserialize, Serialize};

/// A training configuration: `configs/compact.toml`, `configs/paper.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// Name of the model.
    pub name: String,
    /// Seed of weights, batches and noise; the same seed and data give the same bytes.
    pub seed: u64,
    /// One clip in so many is held out to measure with; 0 holds out none.
    pub held_out_every: usize,
    /// Names of clips (without `_mirrored`) that are left out of training and measuring.
    pub exclude: Vec<String>,
    /// Frames at both ends of a clip whose phase windows reach so far beyond it that phases are continued from
    /// the nearest inner frame instead of read.
    pub phase_edge_frames: usize,
    /// Frames at both ends of a clip that are not learned from.
    pub margin_frames: usize,
    /// The periodic autoencoder.
    pub phase: PhaseStage,
    /// The aligned encoder.
    pub aligned_phase: AlignedStage,
    /// The kinematic module.
    pub kinematic: KinematicStage,
    /// Recordings in memory at a time, and a quarter as many to measure with. 0, or left out: all. With fewer, memory does not
    /// grow with the dataset: every 1,000 steps of the kinematic stage, and every epoch of the others, the recordings that come next
    /// in a shuffled order take the place of those before; an epoch is then one pass over as many windows as the first ones
    /// have, and normalisation is fitted on these. Too few make neighbouring batches alike: 64 or more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resident_recordings: usize,
    /// When a stage ends before its last step. May be left out: then none does, and the last weights are kept.
    #[serde(default, skip_serializing_if = "EarlyStopping::is_off")]
    pub early_stopping: EarlyStopping,
}

/// Periodic autoencoder: sizes and training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseStage {
    /// Networks and window.
    pub network: PeriodicAutoencoderConfig,
    /// Frames between neighbouring windows; consecutive windows are nearly equal, 6 to 10 is plenty.
    pub stride: usize,
    /// Optimiser.
    pub training: PhaseTrainingConfig,
}

/// Aligned encoder: windows and training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlignedStage {
    /// How windows are stitched, in training and in the loop.
    pub stitch: StitchConfig,
    /// Frames between neighbouring windows.
    pub stride: usize,
    /// Weights of the parts of the loss.
    pub loss: AlignedLossWeights,
    /// Optimiser.
    pub training: PhaseTrainingConfig,
}

/// Weight of each block of y in the loss; each block counts as a whole, whatever its number of features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockWeights {
    /// Joint positions.
    pub joint_positions: f32,
    /// Joint velocities.
    pub joint_velocities: f32,
    /// Joint rotations: the pose target itself.
    pub joint_rotations: f32,
    /// Root velocity and yaw rate: small in number, decisive for where it goes.
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

/// Rollouts of the model in the closed loop itself, along training clips that stand and walk on level ground: simulated on
/// ground drawn at random, of which the model is shown what the loop shows, with phases read off the body. So it learns
/// from the states that it will meet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedRollouts {
    /// Share of examples that they give; grows from 0 over the first third of training.
    pub share: f32,
    /// Longest rollout, frames.
    pub frames: usize,
    /// How much of the simulated pose the module sees, 0 … 1, as `pose_feedback` of the closed loop that it is for.
    pub pose_feedback: f32,
    /// Share of the pose's distance from its clip that the label leaves after a frame, 0 to below 1. Less leads back at once and
    /// is rough; more is smooth, and turns the joints less than people do.
    pub pose_left: f32,
    /// Mean number of pushes per second, each on a random body in a random direction along the ground.
    pub pushes_per_s: f32,
    /// Strongest push, N·s.
    pub largest_push_ns: f32,
}

/// Whether the kinematic module is told phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phases {
    /// Phase codes are part of x and y and alone decide the blend of the experts: the method.
    #[default]
    Codes,
    /// None: an ablation. The layout keeps their places, but the weights that phases of x meet are 0 and stay so, what
    /// is learned for those of y is their mean, and the gate sees the whole of x. Such a model runs wherever any other
    /// does, and phases change nothing.
    None,
}

impl Phases {
    /// Whether it is the method's form, which files leave out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Kinematic module: sizes and training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KinematicStage {
    /// Whether x and y carry joint rotations (ours) or not (the paper's layout, which sets no twist).
    pub rotations: Rotations,
    /// Whether the network predicts y itself or its change.
    pub output: OutputSpace,
    /// Whether phases are told. May be left out: they are.
    #[serde(default, skip_serializing_if = "Phases::is_default")]
    pub phases: Phases,
    /// How the experts' outputs become conditions. May be left out for the paper's: orthonormal.
    #[serde(default, skip_serializing_if = "ExpertOutputs::is_default")]
    pub expert_outputs: ExpertOutputs,
    /// Where the experts are blended. May be left out for the paper's: after the decoder.
    #[serde(default, skip_serializing_if = "Blend::is_default")]
    pub blend: Blend,
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
    /// Training steps of the diffusion.
    pub diffusion_steps: usize,
    /// Length of the code of the diffusion step.
    pub time_embedding: usize,
    /// Nonlinearity.
    pub activation: Activation,
    /// What the decoder is conditioned on.
    pub conditioning: Conditioning,
    /// How the decoder's last layer is read.
    pub prediction: Prediction,
    /// Bound below which an expert counts as dependent.
    pub independence: f64,
    /// Share of hidden units of the experts silenced in training.
    pub expert_dropout: f64,
    /// Loss weights.
    pub weights: BlockWeights,
    /// Optimiser steps.
    pub steps: usize,
    /// Examples per step.
    pub batch_size: usize,
    /// Peak learning rate of AdamW; it rises over the first steps and falls along a cosine.
    pub learning_rate: f64,
    /// Steps of the rise.
    pub warm_up_steps: usize,
    /// Decoupled weight decay.
    pub weight_decay: f32,
    /// Memory of the averaged weights, which are the ones that are kept: 0.999 averages a thousand steps.
    pub average: f32,
    /// Share of the weights that a fine-tuning begins with in the ones that are kept, 0 to below 1; the rest are the averaged
    /// ones. What is learned anew costs less of what was there before (Wortsman and others, CVPR 2022). May be left
    /// out: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_of_first: f32,
    /// Share of examples whose state is that of the physics replay.
    pub replayed_share: f32,
    /// Rollouts in the simulator, with the settings of the closed loop.
    pub simulated_rollouts: SimulatedRollouts,
    /// Share of examples whose state the model itself led to with no simulator between; grows from 0 over the first third
    /// of training.
    pub rollout_share: f32,
    /// Longest rollout, frames.
    pub rollout_frames: usize,
    /// Standard deviation of noise on the state in x, in its normalised unit.
    pub state_noise: f32,
    /// Standard deviation of noise on phase codes, trajectory and contact impulses in x, in their normalised unit.
    pub context_noise: f32,
    /// Share of the step's weight that gaits other than standing and walking get: their examples are drawn more
    /// often by this factor.
    pub rare_gait_factor: f32,
}

impl KinematicStage {
    /// The module's configuration for a layout.
    pub fn network(&self, layout: &FeatureLayout) -> KinematicConfig {
        let seen_by_gate = match self.phases {
            Phases::Codes => layout.x_range(BlockName::PhaseCodes),
            Phases::None => 0..layout.x_len(),
        };
        KinematicConfig {
            input_size: layout.x_len(),
            output_size: layout.y_len(),
            gate_input: GateInput { start: seen_by_gate.start, len: seen_by_gate.len() },
            experts: self.experts,
            expert_hidden: self.expert_hidden.clone(),
            condition_size: self.condition_size,
            gate_hidden: self.gate_hidden.clone(),
            decoder_hidden: self.decoder_hidden.clone(),
            diffusion_steps: self.diffusion_steps,
            time_embedding: self.time_embedding,
            activation: self.activation,
            conditioning: self.conditioning,
            prediction: self.prediction,
            expert_outputs: self.expert_outputs,
            blend: self.blend,
            independence: self.independence,
            expert_dropout: self.expert_dropout,
        }
    }
}

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl TrainConfig {
    /// Checks every range.
    ///
    /// # Errors
    /// The first field outside its range.
    pub fn validate(&self) -> Result<(), TrainError> {
        let check = |holds: bool, field, value: f64, range| {
            if holds { Ok(()) } else { Err(TrainError::BadConfig { field, value: value.to_string(), range }) }
        };
        let k = &self.kinematic;
        let share = |v: f32| (0.0..=1.0).contains(&v);
        check(self.phase.stride >= 1, "phase.stride", self.phase.stride as f64, "1 or more")?;
        check(self.aligned_phase.stride >= 1, "aligned_phase.stride", 0.0, "1 or more")?;
        check(k.steps >= 1, "kinematic.steps", k.steps as f64, "1 or more")?;
        check(k.batch_size >= 2, "kinematic.batch_size", k.batch_size as f64, "2 or more")?;
        check(
            k.learning_rate > 0.0 && k.learning_rate < 1.0,
            "kinematic.learning_rate",
            k.learning_rate,
            "above 0 and below 1",
        )?;
        check((0.0..1.0).contains(&k.average), "kinematic.average", f64::from(k.average), "0 to below 1")?;
        check(
            (0.0..1.0).contains(&k.kept_of_first),
            "kinematic.kept_of_first",
            f64::from(k.kept_of_first),
            "0 to below 1",
        )?;
        let led = &k.simulated_rollouts;
        check(share(k.replayed_share), "kinematic.replayed_share", f64::from(k.replayed_share), "0 to 1")?;
        check(share(led.share), "kinematic.simulated_rollouts.share", f64::from(led.share), "0 to 1")?;
        check(
            led.share == 0.0 || k.rotations != Rotations::None,
            "kinematic.simulated_rollouts.share",
            f64::from(led.share),
            "0 where kinematic.rotations is \"none\": a simulated body needs rotations to aim at",
        )?;
        check(
            share(led.pose_feedback),
            "kinematic.simulated_rollouts.pose_feedback",
            f64::from(led.pose_feedback),
            "0 to 1",
        )?;
        check(
            (0.0..1.0).contains(&led.pose_left),
            "kinematic.simulated_rollouts.pose_left",
            f64::from(led.pose_left),
            "0 to below 1",
        )?;
        check(
            (0.0..=60.0).contains(&led.pushes_per_s),
            "kinematic.simulated_rollouts.pushes_per_s",
            f64::from(led.pushes_per_s),
            "0 to 60",
        )?;
        check(
            (0.0..=1000.0).contains(&led.largest_push_ns),
            "kinematic.simulated_rollouts.largest_push_ns",
            f64::from(led.largest_push_ns),
            "0 to 1000",
        )?;
        check(share(k.rollout_share), "kinematic.rollout_share", f64::from(k.rollout_share), "0 to 1")?;
        check(
            share(k.replayed_share + k.rollout_share + led.share),
            "kinematic.replayed_share + kinematic.rollout_share + kinematic.simulated_rollouts.share",
            f64::from(k.replayed_share + k.rollout_share + led.share),
            "0 to 1",
        )?;
        check(k.state_noise >= 0.0, "kinematic.state_noise", f64::from(k.state_noise), "0 or more")?;
        check(k.context_noise >= 0.0, "kinematic.context_noise", f64::from(k.context_noise), "0 or more")?;
        check(
            k.rare_gait_factor > 0.0,
            "kinematic.rare_gait_factor",
            f64::from(k.rare_gait_factor),
            "above 0",
        )?;
        Ok(())
    }
}
