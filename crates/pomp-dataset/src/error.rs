use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong with a dataset.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// A recording could not be read or a result not written.
    #[error(transparent)]
    Format(#[from] pomp_formats::FormatError),
    /// The folder holds no recordings.
    #[error("{}: no recordings (*.npz) here; make some with `pomp preprocess INPUT… --out {}`", folder.display(), folder.display())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// The manifest is not one that `pomp preprocess` writes.
    #[error("{}: {reason}; run `pomp preprocess` again to write it", path.display())]
    BadManifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A recording that cannot be counted or exported.
    #[error("{}: {reason}", path.display())]
    BadRecording {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The folder of results holds something else.
    #[error("{}: {reason}; give another folder with --out", folder.display())]
    BadTarget {
        /// The folder.
        folder: PathBuf,
        /// What it holds.
        reason: String,
    },
    /// The file system refuses.
    #[error("{}: {action}: {source}; check that it can be read or written and has room", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}
