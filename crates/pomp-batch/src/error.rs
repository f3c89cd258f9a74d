use std::path::PathBuf;
use thiserror::Error;

/// What can stop a batch.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A setting outside its range.
    #[error(transparent)]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// A model that was made in memory.
    #[error(
        "the model was never saved, so rollouts cannot name it by the hash of its files; save it and load it again"
    )]
    UnnamedModel,
    /// The folder holds another batch.
    #[error(
        "{} holds a batch with another {what} ({there} there, {asked} asked for); give another folder with --out, or remove that one",
        folder.display()
    )]
    OtherBatch {
        /// The folder.
        folder: PathBuf,
        /// The setting that differs.
        what: String,
        /// Its value in the folder.
        there: String,
        /// Its value now.
        asked: String,
    },
    /// The folder holds a rollout that this batch would not make.
    #[error(
        "{} is a rollout of the same name, but was made with other settings (a terrain, path or clip may have changed since); give another folder with --out, or remove it",
        path.display()
    )]
    OtherRollout {
        /// The file.
        path: PathBuf,
    },
    /// The folder holds files, and nothing says that they are a batch's.
    #[error(
        "{} holds files but no manifest.json of a batch; give an empty or new folder with --out",
        folder.display()
    )]
    NotABatch {
        /// The folder.
        folder: PathBuf,
    },
    /// A manifest that cannot be read.
    #[error("{}: not the manifest of a batch ({reason}); give another folder with --out", path.display())]
    BadManifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The caller could not make the scene of a seed.
    #[error("the scene of seed {seed}: {reason}")]
    BadScene {
        /// The seed.
        seed: u64,
        /// What went wrong.
        reason: String,
    },
    /// A file or folder could not be read or written.
    #[error("{action} {}: {source}; {remedy}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The caller stopped it.
    #[error("stopped before the last rollout; run the same batch again to continue")]
    Stopped,
    /// Manifests of shares that are not of one batch.
    #[error("the manifests to merge are {reason}")]
    OtherShares {
        /// What they are instead.
        reason: &'static str,
    },
    /// A rollout could not be written.
    #[error(transparent)]
    Format(#[from] pomp_formats::FormatError),
    /// The closed loop refused.
    #[error(transparent)]
    Generator(#[from] pomp_generator::GeneratorError),
    /// The terrain was refused.
    #[error(transparent)]
    Terrain(#[from] pomp_terrain::TerrainError),
}
