//! The trained policy with everything that it takes to run it, as one file.

use crate::{ACTIONS, OBSERVATIONS, PolicyError};
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_files::Digest;
use pomp_tensors::{Tanh, nonlinear};
use pomp_weights::{WeightFile, WeightPrecision};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The entry of the metadata that holds a [`PolicyDescription`].
const ENTRY: &str = "balance_policy";
const WEIGHTS: &str = "policy";

/// Sizes of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicySizes {
    /// Hidden widths. Default 256, 128.
    pub hidden: Vec<usize>,
}

impl Default for PolicySizes {
    fn default() -> Self {
        Self { hidden: vec![256, 128] }
    }
}

impl Validate for PolicySizes {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("hidden.len()", self.hidden.len(), 1..=8)?;
        for width in &self.hidden {
            fields.within("hidden", *width, 1..=4096)?;
        }
        Ok(())
    }
}

/// Linear layers with hyperbolic tangents between them.
#[derive(Module, Debug)]
pub struct PolicyNetwork {
    /// The layers.
    pub layers: Vec<Linear>,
}

impl PolicyNetwork {
    /// A network of `hidden` widths with weights drawn on `device`.
    pub fn new(hidden: &[usize], [inputs, outputs]: [usize; 2], device: &Device) -> Self {
        let widths: Vec<usize> = [inputs].iter().chain(hidden).chain(&[outputs]).copied().collect();
        let layers = widths.windows(2).map(|pair| LinearConfig::new(pair[0], pair[1]).init(device));
        Self { layers: layers.collect() }
    }

    /// `[B, outputs]` of `[B, inputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        self.layers.iter().enumerate().fold(x, |hidden, (index, layer)| {
            let hidden = layer.forward(hidden);
            if index < last { nonlinear::<Tanh, 2>(hidden) } else { hidden }
        })
    }
}

/// Everything about a policy but its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyDescription {
    /// Program and version.
    pub made_by: String,
    /// The resolved training configuration.
    pub config: serde_json::Value,
    /// Seed of weights, ground and noise.
    pub seed: u64,
    /// Hash of the files of the model whose motion it was trained on.
    pub model_sha256: String,
    /// Sizes of the network.
    pub sizes: PolicySizes,
    /// Means of the observations.
    pub mean: Vec<f32>,
    /// Their standard deviations.
    pub deviation: Vec<f32>,
    /// Figures of the training: name → value.
    pub metrics: BTreeMap<String, f32>,
}

impl PolicyDescription {
    /// What is wrong with it, in words.
    fn check(&self) -> Result<(), String> {
        self.sizes.check(&Fields::root()).map_err(|error| error.to_string())?;
        if (self.mean.len(), self.deviation.len()) != (OBSERVATIONS, OBSERVATIONS) {
            return Err(format!(
                "it sees {} numbers, and this version shows it {OBSERVATIONS}",
                self.mean.len()
            ));
        }
        let is_good =
            |(mean, deviation): (&f32, &f32)| mean.is_finite() && deviation.is_normal() && *deviation > 0.0;
        if !self.mean.iter().zip(&self.deviation).all(is_good) {
            return Err("a mean or deviation of what it sees is not finite or not above 0".to_owned());
        }
        Ok(())
    }
}

/// A trained policy and its description.
#[derive(Clone, Debug)]
pub struct BalancePolicy {
    /// What it is.
    pub description: PolicyDescription,
    /// Its weights: observations, normalised, to actions.
    pub network: PolicyNetwork,
    /// SHA-256 of the file that it was read from, 64 hexadecimal digits; `None` for one that was made in memory.
    pub file_sha256: Option<String>,
}

impl BalancePolicy {
    /// Name of its file in a model folder.
    pub const FILE: &'static str = "balance_policy.safetensors";

    /// Writes it in half precision, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written, or a weight that is not finite.
    pub fn save(&self, path: &Path) -> Result<(), PolicyError> {
        let json = serde_json::to_string(&self.description).expect("a description is plain data");
        let mut file = WeightFile::new(Some((ENTRY, &json)));
        file.add_module(WEIGHTS, &self.network)?;
        Ok(file.save(path, WeightPrecision::F16)?)
    }

    /// Reads the bytes of a file; `source_name` is named in errors.
    ///
    /// # Errors
    /// Bytes that are damaged or hold no policy of this version.
    pub fn from_bytes(bytes: &[u8], source_name: &str, device: &Device) -> Result<Self, PolicyError> {
        let bad = |reason: String| PolicyError::BadFile { source_name: source_name.to_owned(), reason };
        let file = WeightFile::from_bytes(bytes, source_name)?;
        let description: PolicyDescription =
            serde_json::from_str(file.metadata(ENTRY)?).map_err(|error| bad(error.to_string()))?;
        description.check().map_err(bad)?;
        let fresh = PolicyNetwork::new(&description.sizes.hidden, [OBSERVATIONS, ACTIONS], device);
        let network = file.load_into(WEIGHTS, fresh)?;
        Ok(Self { description, network, file_sha256: Some(Digest::of(bytes).to_string()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PackedPolicy;

    fn device() -> Device {
        Device::flex()
    }

    fn policy() -> BalancePolicy {
        let sizes = PolicySizes { hidden: vec![16, 8] };
        let network = PolicyNetwork::new(&sizes.hidden, [OBSERVATIONS, ACTIONS], &device());
        let description = PolicyDescription {
            made_by: "a test".to_owned(),
            config: serde_json::Value::Null,
            seed: 3,
            model_sha256: String::new(),
            sizes,
            mean: (0..OBSERVATIONS).map(|at| at as f32 * 0.01).collect(),
            deviation: vec![0.5; OBSERVATIONS],
            metrics: BTreeMap::from([("reward".to_owned(), 0.5)]),
        };
        BalancePolicy { description, network, file_sha256: None }
    }

    fn bytes(policy: &BalancePolicy) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(BalancePolicy::FILE);
        policy.save(&path).unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn a_policy_is_read_as_it_was_written_and_decides_the_same() {
        let policy = policy();
        let written = bytes(&policy);
        let read = BalancePolicy::from_bytes(&written, "it", &device()).unwrap();
        assert_eq!(read.description, policy.description);
        assert_eq!(read.file_sha256, Some(Digest::of(&written).to_string()));
        assert_eq!(bytes(&read), written, "half precision loses nothing a second time");

        let mut seen: Vec<f32> = (0..OBSERVATIONS).map(|at| (at as f32 * 0.7).sin()).collect();
        let packed = PackedPolicy::new(&read).unwrap();
        packed.normalise(&mut seen);
        let rows = burn::tensor::TensorData::new(seen.clone(), [1, OBSERVATIONS]);
        let whole = read.network.forward(Tensor::from_data(rows, &device()));
        let whole: Vec<f32> = whole.into_data().try_to_vec().unwrap();
        let before = PackedPolicy::new(&policy).unwrap().outputs(&seen);
        let decided = packed.outputs(&seen);
        let apart = |other: &[f32]| -> f32 {
            decided.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
        };
        println!("beside the network {:e}, beside full precision {:e}", apart(&whole), apart(&before));
        assert!(decided.iter().any(|value| value.abs() > 0.01));
        assert!(apart(&whole) < 1e-5 && apart(&before) < 1e-2);
    }

    #[test]
    fn damaged_files_and_those_of_other_versions_are_refused_by_name() {
        let refused =
            |bytes: &[u8]| BalancePolicy::from_bytes(bytes, "there.safetensors", &device()).unwrap_err();
        let good = bytes(&policy());
        for bad in [&b""[..], &b"not weights"[..], &good[..good.len() - 7], &good[..64]] {
            let told = refused(bad).to_string();
            assert!(told.contains("there.safetensors"), "{told}");
        }
        let mut other = policy();
        other.description.mean.pop();
        let told = refused(&bytes(&other)).to_string();
        assert!(told.contains("sees 200 numbers") && told.contains("pomp train balance"), "{told}");
        let mut flat = policy();
        flat.description.deviation[4] = 0.0;
        assert!(matches!(refused(&bytes(&flat)), PolicyError::BadFile { .. }));
        let mut wide = policy();
        wide.description.sizes.hidden = vec![32, 8];
        assert!(matches!(refused(&bytes(&wide)), PolicyError::Weights(_)));
    }
}
