//! Files of a report.

use crate::ReportError;
use pomp_formats::write_atomically;
use serde::Serialize;
use std::path::Path;

/// Makes a folder and those above it.
pub(crate) fn make_folder(path: &Path) -> Result<(), ReportError> {
    std::fs::create_dir_all(path).map_err(|source| ReportError::Folder { path: path.to_path_buf(), source })
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    Ok(write_atomically(path, |file| file.write_all(bytes))?)
}

/// A report as JSON that a person can read.
pub(crate) fn json(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).expect("a report is plain data")
}
