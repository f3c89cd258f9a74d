use crate::kinematic_config::KinematicStage;
use crate::split::Split;
use crate::{EarlyStopping, TrainError};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::humanoid;
use pomp_phase::{AlignedLossWeights, PeriodicAutoencoderConfig, PhaseTrainingConfig, StitchConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A training configuration: `configs/compact.toml`, `configs/paper.toml`. The defaults are those of the compact model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// Name of the model.
    pub name: String,
    /// Seed of weights, batches and noise; the same seed and data give the same bytes.
    pub seed: u64,
    /// One clip in this many is held out for measuring; 0 holds out none.
    pub held_out_every: usize,
    /// Clips whose names begin with one of these are held out too: whole subjects and sessions, whose other clips may be nearly the same.
    #[serde(default)]
    pub held_out: Vec<String>,
    /// Names of clips (without `_mirrored`) that are left out; one that ends in `*` stands for all that begin so.
    pub exclude: Vec<String>,
    /// Number of frames at each end of a clip whose phase windows reach too far beyond the clip; their phases are extrapolated from
    /// the nearest inner frame.
    pub phase_edge_frames: usize,
    /// Number of frames at each end of a clip that are not used for training.
    pub margin_frames: usize,
    /// The periodic autoencoder.
    pub phase: PhaseStage,
    /// The aligned encoder.
    pub aligned_phase: AlignedStage,
    /// The kinematic module.
    pub kinematic: KinematicStage,
    /// Number of training recordings in memory at a time; a quarter as many are kept for measuring. 0, or left out, means all. With
    /// a limit, memory does not grow with the dataset: every 1,000 steps of the kinematic stage, and every epoch of the other
    /// stages, the next recordings in a shuffled order replace the previous ones. An epoch is then one pass over as many windows as
    /// the first recordings have, and normalisation is fitted on the first recordings. With too few, neighbouring batches are too
    /// similar: use 64 or more.
    #[serde(default)]
    pub resident_recordings: usize,
    /// When a stage ends before its last step. If left out, no stage ends early, and the last weights are kept.
    #[serde(default)]
    pub early_stopping: EarlyStopping,
}

/// Periodic autoencoder: sizes and training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseStage {
    /// Networks and window.
    pub network: PeriodicAutoencoderConfig,
    /// Frames between neighbouring windows. Consecutive windows are nearly equal, so 6 to 10 is close enough.
    pub stride: usize,
    /// Optimiser.
    pub training: PhaseTrainingConfig,
}

/// Aligned encoder: windows and training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

impl Default for TrainConfig {
    fn default() -> Self {
        let training = |learning_rate, epochs| PhaseTrainingConfig {
            learning_rate,
            weight_decay: 1e-4,
            batch_size: 64,
            epochs,
        };
        Self {
            name: "model".to_owned(),
            seed: 1,
            held_out_every: 8,
            held_out: Vec::new(),
            exclude: Vec::new(),
            phase_edge_frames: 30,
            margin_frames: 12,
            phase: PhaseStage {
                network: PeriodicAutoencoderConfig::new(humanoid::JOINTS),
                stride: 8,
                training: training(1e-3, 8),
            },
            aligned_phase: AlignedStage {
                stitch: StitchConfig::default(),
                stride: 8,
                loss: AlignedLossWeights::default(),
                training: training(5e-4, 4),
            },
            kinematic: KinematicStage::default(),
            resident_recordings: 0,
            early_stopping: EarlyStopping::default(),
        }
    }
}

impl TrainConfig {
    /// How recordings are divided.
    pub fn split(&self) -> Split {
        let Self { held_out_every, held_out, exclude, .. } = self.clone();
        Split { held_out_every, held_out, exclude }
    }
}

impl Validate for TrainConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        self.phase.network.check(&fields.section("phase.network"))?;
        fields.within("phase.stride", self.phase.stride, 1..)?;
        let window = &self.phase.network.window;
        self.aligned_phase.stitch.check_in(window, &fields.section("aligned_phase.stitch"))?;
        fields.within("aligned_phase.stride", self.aligned_phase.stride, 1..)?;
        for (section, training) in [
            ("phase.training", &self.phase.training),
            ("aligned_phase.training", &self.aligned_phase.training),
        ] {
            let fields = fields.section(section);
            fields.within("batch_size", training.batch_size, 1..)?;
            fields.within("epochs", training.epochs, 1..)?;
        }
        self.kinematic.check(&fields.section("kinematic"))
    }
}

impl TrainConfig {
    /// Checks every range.
    ///
    /// # Errors
    /// [`TrainError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), TrainError> {
        Ok(self.check(&Fields::root())?)
    }
}
