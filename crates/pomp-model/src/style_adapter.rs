//! The styles of a model: a trained style adapter with its description, as one file.

use crate::ModelError;
use burn::tensor::Device;
use pomp_files::Digest;
use pomp_kinematic::{KinematicConfig, StyleAdapter, StyleModulation};
use pomp_motion::features::{BlockName, FeatureLayout};
use pomp_weights::{WeightFile, WeightPrecision};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The entry of the metadata that holds a [`StyleDescription`].
const ENTRY: &str = "style_adapter";
const WEIGHTS: &str = "style";
/// Bound on what a description may ask for.
const MOST_STYLES: usize = 1000;

/// A style and what the loop needs to know of it beside its code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedStyle {
    /// Its name on the command line and in configurations.
    pub name: String,
    /// Share of the commanded speed at which a character of this style walks, above 0 and at most 1.
    pub pace: f32,
    /// Phase codes of the keys of a window in which it walks on, 2C each; the cycle of its strides goes through them.
    pub walk_codes: Vec<f32>,
    /// Time of its training clips, mirror images included, seconds.
    pub seconds: f32,
}

/// Everything about a style adapter but its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StyleDescription {
    /// Program and version.
    pub made_by: String,
    /// The resolved training configuration.
    pub config: serde_json::Value,
    /// Seed of codes, batches and noise.
    pub seed: u64,
    /// Hash of the recordings that it was trained on.
    pub data_hash: String,
    /// Collections with their licences and seconds.
    pub data: Vec<(String, f32)>,
    /// Hash of the files of the model whose kinematic module it modulates.
    pub model_sha256: String,
    /// The styles, in the order of the codes.
    pub styles: Vec<NamedStyle>,
    /// Numbers of a code.
    pub channels: usize,
    /// Figures of the training: name → value.
    pub metrics: BTreeMap<String, f32>,
}

impl StyleDescription {
    /// What is wrong with it, in words.
    fn check(&self, code_width: usize) -> Result<(), String> {
        if !(1..=MOST_STYLES).contains(&self.styles.len()) || !(1..=MOST_STYLES).contains(&self.channels) {
            return Err(format!(
                "it has {} styles with codes of {} numbers; there may be 1 to {MOST_STYLES} of each",
                self.styles.len(),
                self.channels
            ));
        }
        for (index, style) in self.styles.iter().enumerate() {
            if style.name.is_empty() || self.styles[..index].iter().any(|other| other.name == style.name) {
                return Err(format!(
                    "the name \"{}\" of style {} is empty or not its own",
                    style.name,
                    index + 1
                ));
            }
            if !(style.pace > 0.0 && style.pace <= 1.0) {
                return Err(format!(
                    "the pace of \"{}\" is {}; it must be above 0 and at most 1",
                    style.name, style.pace
                ));
            }
            if style.walk_codes.len() != code_width || style.walk_codes.iter().any(|code| !code.is_finite()) {
                return Err(format!(
                    "the style \"{}\" has {} phase codes, of which all must be finite; the model's window has {code_width}",
                    style.name,
                    style.walk_codes.len()
                ));
            }
        }
        Ok(())
    }
}

/// A trained style adapter and its description.
#[derive(Clone, Debug)]
pub struct ModelStyles {
    /// What it is.
    pub description: StyleDescription,
    /// Codes and maps.
    pub adapter: StyleAdapter,
    /// SHA-256 of the file that it was read from, 64 hexadecimal digits; `None` for one that was made in memory.
    pub file_sha256: Option<String>,
}

/// What weighted styles change in the loop.
#[derive(Clone, Debug, PartialEq)]
pub struct StyleChange {
    /// In the kinematic module.
    pub modulation: StyleModulation,
    /// Share of the commanded speed, above 0 and at most 1.
    pub pace: f32,
    /// Weight and [`NamedStyle::walk_codes`] of each style whose weight is not 0.
    pub walk_codes: Vec<(f32, Vec<f32>)>,
}

impl ModelStyles {
    /// Name of its file in a model folder.
    pub const FILE: &'static str = "style_adapter.safetensors";

    /// Writes it in half precision, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written, or a weight that is not finite.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        let json = serde_json::to_string(&self.description).expect("a description is plain data");
        let mut file = WeightFile::new(Some((ENTRY, &json)));
        file.add_module(WEIGHTS, &self.adapter)?;
        Ok(file.save(path, WeightPrecision::F16)?)
    }

    /// Reads the bytes of a file, for a kinematic module with this layout and configuration; `source_name` is named in errors.
    ///
    /// # Errors
    /// Bytes that are damaged, of another version, or of a module of other sizes.
    pub fn from_bytes(
        bytes: &[u8],
        source_name: &str,
        layout: &FeatureLayout,
        config: &KinematicConfig,
        device: &Device,
    ) -> Result<Self, ModelError> {
        let code_width = layout.x_range(BlockName::PhaseCodes).len();
        let bad = |reason: String| ModelError::BadStyles { source_name: source_name.to_owned(), reason };
        let file = WeightFile::from_bytes(bytes, source_name)?;
        let description: StyleDescription =
            serde_json::from_str(file.metadata(ENTRY)?).map_err(|error| bad(error.to_string()))?;
        description.check(code_width).map_err(bad)?;
        let sizes = [description.styles.len(), description.channels];
        let fresh = StyleAdapter::new(config, sizes, description.seed, device)
            .map_err(|source| ModelError::Kinematic { source_name: source_name.to_owned(), source })?;
        let adapter = file.load_into(WEIGHTS, fresh)?;
        Ok(Self { description, adapter, file_sha256: Some(Digest::of(bytes).to_string()) })
    }

    /// Names of the styles, in the order of the codes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.description.styles.iter().map(|style| style.name.as_str())
    }

    /// What weighted styles change; `None` where every weight is 0.
    ///
    /// # Errors
    /// [`ModelError::UnknownStyle`], and a weight that is not finite.
    pub fn change(&self, weights: &BTreeMap<String, f32>) -> Result<Option<StyleChange>, ModelError> {
        let mut of_codes = vec![0.0; self.description.styles.len()];
        for (name, weight) in weights {
            let index =
                self.names().position(|known| known == name).ok_or_else(|| ModelError::UnknownStyle {
                    name: name.clone(),
                    known: self.names().collect::<Vec<_>>().join(", "),
                })?;
            of_codes[index] = *weight;
        }
        let modulation = self
            .adapter
            .modulation(&of_codes)
            .map_err(|source| ModelError::Kinematic { source_name: Self::FILE.to_owned(), source })?;
        let Some(modulation) = modulation else { return Ok(None) };
        let styles = || self.description.styles.iter().zip(&of_codes).filter(|(_, weight)| **weight != 0.0);
        let slower: f32 = styles().map(|(style, weight)| (1.0 - style.pace) * weight).sum();
        Ok(Some(StyleChange {
            modulation,
            pace: (1.0 - slower).clamp(SLOWEST_PACE, 1.0),
            walk_codes: styles().map(|(style, weight)| (*weight, style.walk_codes.clone())).collect(),
        }))
    }
}

/// Least share of the commanded speed.
const SLOWEST_PACE: f32 = 0.05;
