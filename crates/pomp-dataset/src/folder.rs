use crate::DatasetError;
use pomp_motion::Recording;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// File that `pomp preprocess` writes beside the recordings.
const MANIFEST: &str = "manifest.json";

/// A folder of recordings.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The folder.
    pub folder: PathBuf,
    /// Its recordings (npz), sorted.
    pub recordings: Vec<PathBuf>,
    /// What its manifest tells, when it has one.
    pub manifest: Option<Manifest>,
}

/// The parts of `manifest.json` that are told on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Manifest {
    /// Program and version.
    pub made_by: String,
    /// Hash of the configuration.
    pub config_hash: String,
    /// The recordings.
    pub clips: Vec<ManifestClip>,
    /// Clips that failed.
    pub failures: Vec<ManifestFailure>,
}

/// One recording in the manifest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ManifestClip {
    /// File name within the folder.
    pub file: String,
    /// Warnings of reader, mapping and terrain.
    pub warnings: Vec<String>,
    /// The ground; manifests of early versions have none.
    pub ground: Option<Ground>,
    /// Variants that the clip does not have.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Figures of the contact impulses; manifests of early versions have none.
    pub impulses: Option<ImpulseFigures>,
}

/// Figures of the contact impulses of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct ImpulseFigures {
    /// Σ vertical contact impulse over m g T.
    pub vertical_closure: f32,
    /// The same less the momentum that the body gained; manifests of early versions do not say it.
    pub corrected_closure: Option<f32>,
}

/// The ground of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Ground {
    /// The form that the feet speak of, or the kind of relief that the clip was laid upon.
    pub kind: String,
}

/// A variant that a clip does not have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LeftOut {
    /// Name that it would have had.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// One clip that failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ManifestFailure {
    /// The input.
    pub input: PathBuf,
    /// What went wrong.
    pub error: String,
}

impl Dataset {
    /// Lists the recordings of `folder` and reads its manifest, if there is one.
    ///
    /// # Errors
    /// The folder cannot be listed or holds no recordings; a manifest that is damaged.
    pub fn open(folder: &Path) -> Result<Self, DatasetError> {
        let io = |action, path: &Path, source| DatasetError::Io { action, path: path.to_path_buf(), source };
        let mut recordings = Vec::new();
        let listing = |source| io("listing the recordings", folder, source);
        for entry in std::fs::read_dir(folder).map_err(listing)? {
            let path = entry.map_err(listing)?.path();
            if path.extension().is_some_and(|extension| extension == "npz") {
                recordings.push(path);
            }
        }
        recordings.sort();
        if recordings.is_empty() {
            return Err(DatasetError::Empty { folder: folder.to_path_buf() });
        }
        let path = folder.join(MANIFEST);
        let manifest = match std::fs::read_to_string(&path) {
            Ok(text) => Some(serde_json::from_str(&text).map_err(|error| DatasetError::BadManifest {
                path: path.clone(),
                reason: format!("not a manifest: {error}"),
            })?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(io("reading the manifest", &path, error)),
        };
        Ok(Self { folder: folder.to_path_buf(), recordings, manifest })
    }

    /// Reads a recording.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path) -> Result<Recording, DatasetError> {
        Ok(pomp_formats::read_recording(path)?)
    }
}
