//! The networks with everything that it takes to run them, as one file.

use crate::gated::{Gate, GatedNetwork, GatedSizes};
use crate::learned::PoseLayout;
use crate::matching::{POSE_WIDTH, TRAJECTORY};
use crate::{ControllerError, ControllerKind};
use burn::tensor::Device;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::{Skeleton, humanoid};
use pomp_weights::{WeightFile, WeightPrecision};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The entry of the metadata that holds a [`LearnedDescription`].
const ENTRY: &str = "controller";
/// Names of the networks in the file, in the order of [`LearnedModel::networks`].
const NETWORKS: [&str; 3] = ["decompressor", "stepper", "projector"];
/// Hidden layers of each.
const HIDDEN_LAYERS: [usize; 3] = [1, 2, 3];
/// Values of the features of motion matching.
const FEATURES: usize = POSE_WIDTH + TRAJECTORY;

/// Sizes of the networks of learned motion matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnedSizes {
    /// Values of the code that stands beside the features of a frame. Default 32; fewer blur the pose, more are harder to foretell.
    pub code: usize,
    /// Width of every hidden layer: one of the decompressor, two of the stepper, three of the projector. Default 256.
    pub hidden: usize,
    /// Width of the three hidden layers of the compressor, which training alone needs. Default 256.
    pub compressor_hidden: usize,
}

impl Default for LearnedSizes {
    fn default() -> Self {
        Self { code: 32, hidden: 256, compressor_hidden: 256 }
    }
}

impl Validate for LearnedSizes {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("code", self.code, 1..=256)?;
        fields.within("hidden", self.hidden, 1..=2048)?;
        fields.within("compressor_hidden", self.compressor_hidden, 1..=2048)
    }
}

/// A mean and a scale per value: what is divided by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scales {
    /// Means.
    pub mean: Vec<f32>,
    /// Deviations.
    pub deviation: Vec<f32>,
}

impl Scales {
    /// What is wrong with it for so many values of `what`, in words.
    fn check(&self, what: &str, values: usize) -> Result<(), String> {
        if (self.mean.len(), self.deviation.len()) != (values, values) {
            return Err(format!("the scales of {what} have not {values} values"));
        }
        let is_good =
            |(mean, deviation): (&f32, &f32)| mean.is_finite() && deviation.is_normal() && *deviation > 0.0;
        if !self.mean.iter().zip(&self.deviation).all(is_good) {
            return Err(format!("a scale of {what} is not finite or not above 0"));
        }
        Ok(())
    }
}

/// Everything about learned motion matching but its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnedDescription {
    /// Always [`ControllerKind::LearnedMatching`].
    pub kind: ControllerKind,
    /// Program and version.
    pub made_by: String,
    /// The resolved training configuration.
    pub config: serde_json::Value,
    /// Seed of weights and batches.
    pub seed: u64,
    /// Hash of the recordings that the clips were taken from.
    pub data_hash: String,
    /// Collections with their licences and seconds.
    pub data: Vec<(String, f32)>,
    /// Skeleton of the clips.
    pub skeleton: Skeleton,
    /// Sizes of the networks.
    pub sizes: LearnedSizes,
    /// Of the features of motion matching, with their weights in them.
    pub features: Scales,
    /// Of the values of a pose ([`PoseLayout`]).
    pub pose: Scales,
    /// Of the change of features and code from a frame to the next.
    pub change: Scales,
    /// Figures of the training: name → value.
    pub metrics: BTreeMap<String, f32>,
}

impl LearnedDescription {
    /// Where the values of a pose lie.
    pub fn layout(&self) -> PoseLayout {
        PoseLayout::new(self.skeleton.len())
    }

    /// Inputs and outputs of decompressor, stepper and projector.
    pub fn widths(&self) -> [[usize; 2]; 3] {
        let entry = FEATURES + self.sizes.code;
        [[entry, self.layout().width()], [entry, entry], [FEATURES, entry]]
    }

    /// Networks of its sizes with weights from its seed.
    ///
    /// # Errors
    /// Sizes outside their ranges.
    pub fn fresh(&self, device: &Device) -> Result<[GatedNetwork; 3], ControllerError> {
        let network = |at: usize| {
            let hidden = vec![self.sizes.hidden; HIDDEN_LAYERS[at]];
            plain_network(&hidden, self.widths()[at], self.seed.wrapping_add(at as u64), device)
        };
        Ok([network(0)?, network(1)?, network(2)?])
    }

    /// What is wrong with it, in words.
    fn check(&self) -> Result<(), String> {
        if self.kind != ControllerKind::LearnedMatching {
            return Err(format!(
                "it holds the controller {}, not {}",
                self.kind,
                ControllerKind::LearnedMatching
            ));
        }
        if self.skeleton.len() != humanoid::JOINTS {
            return Err("its skeleton is not the project skeleton".to_owned());
        }
        self.sizes.check(&Fields::root()).map_err(|error| error.to_string())?;
        self.features.check("features", FEATURES)?;
        self.pose.check("the pose", self.layout().width())?;
        self.change.check("changes", FEATURES + self.sizes.code)
    }
}

/// A network without a gate: one expert.
///
/// # Errors
/// A width outside its range.
pub fn plain_network(
    hidden: &[usize],
    widths: [usize; 2],
    seed: u64,
    device: &Device,
) -> Result<GatedNetwork, ControllerError> {
    let sizes = GatedSizes { experts: 1, hidden: hidden.to_vec(), gate_hidden: Vec::new(), dropout: 0.0 };
    GatedNetwork::new(&sizes, Gate::Given, widths, seed, device)
}

/// The trained networks and their description.
#[derive(Clone, Debug)]
pub struct LearnedModel {
    /// What they are.
    pub description: LearnedDescription,
    /// Decompressor, stepper and projector.
    pub networks: [GatedNetwork; 3],
}

impl LearnedModel {
    /// Writes it in half precision, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written, or a weight that is not finite.
    pub fn save(&self, path: &Path) -> Result<(), ControllerError> {
        let json = serde_json::to_string(&self.description).expect("a description is plain data");
        let mut file = WeightFile::new(Some((ENTRY, &json)));
        for (name, network) in NETWORKS.iter().zip(&self.networks) {
            file.add_module(name, network)?;
        }
        Ok(file.save(path, WeightPrecision::F16)?)
    }

    /// Reads the bytes of a file; `source_name` is named in errors.
    ///
    /// # Errors
    /// Bytes that are damaged or hold no such networks.
    pub fn from_bytes(bytes: &[u8], source_name: &str, device: &Device) -> Result<Self, ControllerError> {
        let bad = |reason: String| ControllerError::BadFile { source_name: source_name.to_owned(), reason };
        let file = WeightFile::from_bytes(bytes, source_name)?;
        let description: LearnedDescription =
            serde_json::from_str(file.metadata(ENTRY)?).map_err(|error| bad(error.to_string()))?;
        description.check().map_err(bad)?;
        let [decompressor, stepper, projector] = description.fresh(device)?;
        let networks = [
            file.load_into(NETWORKS[0], decompressor)?,
            file.load_into(NETWORKS[1], stepper)?,
            file.load_into(NETWORKS[2], projector)?,
        ];
        Ok(Self { description, networks })
    }
}
