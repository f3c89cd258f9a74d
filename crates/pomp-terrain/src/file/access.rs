//! Reading and writing, with errors that name the file.

use crate::TerrainError;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) fn bad(path: &Path, reason: impl Into<String>, remedy: impl Into<String>) -> TerrainError {
    TerrainError::BadFile { path: path.to_owned(), reason: reason.into(), remedy: remedy.into() }
}

pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> TerrainError {
    let path: PathBuf = path.to_owned();
    move |source| TerrainError::Io { action, path, source }
}

pub(super) fn read_text(path: &Path) -> Result<String, TerrainError> {
    std::fs::read_to_string(path).map_err(io("read", path))
}

pub(super) fn write_beside(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> Result<(), TerrainError> {
    pomp_files::replace_file(path, write).map_err(io("write", path))
}
