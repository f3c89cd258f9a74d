//! The manifest of a run: results and configuration.

use crate::journal::ManifestEntry;
use crate::{PreprocessConfig, PreprocessError};
use pomp_files::{Digest, Hasher};
use serde::{Deserialize, Serialize};
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

/// Hash of a configuration and of this version, as stored in every result.
pub fn config_hash(config: &PreprocessConfig) -> String {
    let json = serde_json::to_string(config).expect("a config is plain data");
    Digest::of(format!("{}\n{json}", env!("CARGO_PKG_VERSION"))).short()
}

/// The hash of a configuration with the contents of the files that it names.
pub(crate) fn hash_with_files(config: &PreprocessConfig) -> Result<String, PreprocessError> {
    let hash = config_hash(config);
    let files = config.falls.clips();
    if files.is_empty() {
        return Ok(hash);
    }
    let mut hasher = Hasher::default();
    hasher.update(hash);
    for path in files {
        let digest = Digest::of_file(path).map_err(|source| PreprocessError::Io {
            action: "reading the clip of falls.get_up",
            path: path.clone(),
            source,
            remedy: "name a motion file that can be read, or write get_up = \"physics\"",
        })?;
        hasher.update(digest);
    }
    Ok(hasher.finish().short())
}
