//! The manifest of a run: results and configuration.

use crate::journal::ManifestEntry;
use crate::{PreprocessConfig, PreprocessError};
use pomp_files::{Digest, Hasher};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A clip that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The input.
    pub input: PathBuf,
    /// The error.
    pub error: String,
}

/// The manifest of a run: `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Program and version.
    pub made_by: String,
    /// The resolved configuration.
    pub config: PreprocessConfig,
    /// Its hash, as stored in every result.
    pub config_hash: String,
    /// Results, sorted by name.
    pub clips: Vec<ManifestEntry>,
    /// Clips that failed, sorted by input.
    pub failures: Vec<Failure>,
}

impl Manifest {
    /// One manifest of several, as one run would have written it. Where more than one tell of an input, the last of them counts;
    /// with `inputs` those of other inputs are left out.
    ///
    /// # Errors
    /// [`PreprocessError::BadConfig`] without manifests, or where they are not of one configuration and version.
    pub fn merged(parts: Vec<Self>, inputs: Option<&[PathBuf]>) -> Result<Self, PreprocessError> {
        let bad = |reason: &str| PreprocessError::BadConfig { reason: reason.to_owned() };
        let same = |a: &Self, b: &Self| (&a.made_by, &a.config_hash) == (&b.made_by, &b.config_hash);
        let mut told: BTreeMap<PathBuf, (Vec<ManifestEntry>, Vec<Failure>)> = BTreeMap::new();
        let mut whole: Option<Self> = None;
        for mut part in parts {
            if whole.as_ref().is_some_and(|whole| !same(whole, &part)) {
                return Err(bad("the manifests to merge are of different configurations or versions"));
            }
            let mut of_part: BTreeMap<PathBuf, (Vec<ManifestEntry>, Vec<Failure>)> = BTreeMap::new();
            for clip in part.clips.drain(..) {
                of_part.entry(clip.input.clone()).or_default().0.push(clip);
            }
            for failure in part.failures.drain(..) {
                of_part.entry(failure.input.clone()).or_default().1.push(failure);
            }
            told.extend(of_part);
            whole.get_or_insert(part);
        }
        let mut whole = whole.ok_or_else(|| bad("there are no manifests to merge"))?;
        told.retain(|input, _| inputs.is_none_or(|inputs| inputs.contains(input)));
        for (clips, failures) in told.into_values() {
            whole.clips.extend(clips);
            whole.failures.extend(failures);
        }
        whole.clips.sort_by(|a, b| a.name.cmp(&b.name));
        whole.failures.sort_by(|a, b| a.input.cmp(&b.input));
        Ok(whole)
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest is plain data")
    }
}

/// Hash of a configuration and of this version, as stored in every result.
pub fn config_hash(config: &PreprocessConfig) -> String {
    let json = serde_json::to_string(config).expect("a config is plain data");
    Digest::of(format!("{}\n{json}", env!("CARGO_PKG_VERSION"))).short()
}

/// What is done with files that a configuration names, and the remedy where that fails.
const GET_UP: (&str, &str) = (
    "reading the clip of falls.get_up",
    "name a motion file that can be read, or write get_up = \"physics\"",
);
const STYLES: (&str, &str) = (
    "reading the styles of style.file",
    "name a file that `pomp style fit` has written, or write style.variants = 0",
);

/// The hash of a configuration with the contents of the files that it names.
///
/// # Errors
/// One of these files cannot be read.
pub fn hash_with_files(config: &PreprocessConfig) -> Result<String, PreprocessError> {
    let hash = config_hash(config);
    let styles = config.style.file.iter().filter(|_| config.style.variants > 0);
    let files: Vec<(&PathBuf, &str, &str)> = (config.falls.clips().iter())
        .map(|path| (path, GET_UP.0, GET_UP.1))
        .chain(styles.map(|path| (path, STYLES.0, STYLES.1)))
        .collect();
    if files.is_empty() {
        return Ok(hash);
    }
    let mut hasher = Hasher::default();
    hasher.update(hash);
    for (path, action, remedy) in files {
        let digest = Digest::of_file(path).map_err(|source| PreprocessError::Io {
            action,
            path: path.clone(),
            source,
            remedy,
        })?;
        hasher.update(digest);
    }
    Ok(hasher.finish().short())
}
