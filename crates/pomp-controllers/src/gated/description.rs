//! A trained network with everything that it takes to run it, as one file.

use super::features::Columns;
use super::network::{Gate, GatedNetwork, GatedSizes};
use crate::{ControllerError, ControllerKind};
use burn::tensor::Device;
use pomp_motion::features::{FeatureLayout, Normaliser};
use pomp_weights::{WeightFile, WeightPrecision};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The entry of the metadata that holds a [`GatedDescription`].
const ENTRY: &str = "controller";
const WEIGHTS: &str = "network";

/// Everything about a gated controller but its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatedDescription {
    /// Which one.
    pub kind: ControllerKind,
    /// Program and version.
    pub made_by: String,
    /// The resolved training configuration.
    pub config: serde_json::Value,
    /// Seed of weights, batches and noise.
    pub seed: u64,
    /// Hash of the recordings that it was trained on.
    pub data_hash: String,
    /// Collections with their licences and seconds.
    pub data: Vec<(String, f32)>,
    /// Sizes of the network.
    pub sizes: GatedSizes,
    /// Blocks of x and y, with the channels of its own phases.
    pub layout: FeatureLayout,
    /// Normalisation of x.
    pub x: Normaliser,
    /// Normalisation of what the network gives: y less what it would be if nothing changed.
    pub y: Normaliser,
    /// Inputs x, in their own units, at which its phases begin, by gait.
    pub starts: BTreeMap<String, Vec<f32>>,
    /// Figures of the training: name → value.
    pub metrics: BTreeMap<String, f32>,
}

impl GatedDescription {
    /// The columns that its network uses.
    pub fn columns(&self) -> Columns {
        Columns::of(self.kind, &self.layout)
    }

    /// A network of its sizes with weights from its seed.
    ///
    /// # Errors
    /// Sizes outside their ranges.
    pub fn fresh(&self, device: &Device) -> Result<GatedNetwork, ControllerError> {
        let [inputs, gate, outputs] = self.columns().widths();
        let gate = match gate {
            0 => Gate::Given,
            read => Gate::Learned(read),
        };
        GatedNetwork::new(&self.sizes, gate, [inputs, outputs], self.seed, device)
    }

    /// What is wrong with its sizes, in words.
    fn check(&self) -> Result<(), String> {
        let sizes = [
            ("normalisation of x", self.x.len(), self.layout.x_len()),
            ("normalisation of y", self.y.len(), self.layout.y_len()),
        ];
        let starts =
            self.starts.iter().map(|(gait, x)| (format!("start \"{gait}\""), x.len(), self.layout.x_len()));
        let sizes = sizes.map(|(what, found, expected)| (what.to_owned(), found, expected));
        for (what, found, expected) in sizes.into_iter().chain(starts) {
            if found != expected {
                return Err(format!("the {what} has {found} features, its layout {expected}"));
            }
        }
        if self.starts.is_empty() {
            return Err("it has no start".to_owned());
        }
        if self.starts.values().flatten().any(|value| !value.is_finite()) {
            return Err("a number of a start is not finite".to_owned());
        }
        Ok(())
    }
}

/// A trained network and its description.
#[derive(Clone, Debug)]
pub struct GatedModel {
    /// What it is.
    pub description: GatedDescription,
    /// Its weights.
    pub network: GatedNetwork,
}

impl GatedModel {
    /// Writes it in half precision, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written, or a weight that is not finite.
    pub fn save(&self, path: &Path) -> Result<(), ControllerError> {
        let json = serde_json::to_string(&self.description).expect("a description is plain data");
        let mut file = WeightFile::new(Some((ENTRY, &json)));
        file.add_module(WEIGHTS, &self.network)?;
        Ok(file.save(path, WeightPrecision::F16)?)
    }

    /// Reads the bytes of a file; `source_name` is named in errors.
    ///
    /// # Errors
    /// Bytes that are damaged or hold no such controller.
    pub fn from_bytes(bytes: &[u8], source_name: &str, device: &Device) -> Result<Self, ControllerError> {
        let bad = |reason: String| ControllerError::BadFile { source_name: source_name.to_owned(), reason };
        let file = WeightFile::from_bytes(bytes, source_name)?;
        let description: GatedDescription =
            serde_json::from_str(file.metadata(ENTRY)?).map_err(|error| bad(error.to_string()))?;
        description.check().map_err(bad)?;
        let network = file.load_into(WEIGHTS, description.fresh(device)?)?;
        Ok(Self { description, network })
    }
}
