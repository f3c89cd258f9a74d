//! Height maps and descriptions in files.
//!
//! | extension | content |
//! |---|---|
//! | `.png` | 16-bit greyscale, one pixel per height, with its sidecar `NAME.png.toml` (see [`Sidecar`]); seen from above: x to the right, z down |
//! | `.npz` | arrays `terrain_height` `[rows, columns]`, `terrain_origin` `[2]` (x, z) and `terrain_cell`, as in recordings; other arrays are left alone |
//! | `.toml` | a [`TerrainSpec`], generated on loading |
//!
//! Files are written beside their place, synced and renamed, so no partial file ever carries the final name.

mod access;
mod image;
mod npz;

pub use image::Sidecar;

use crate::{HeightMap, Shape, TerrainError, TerrainSpec};
use access::{bad, read_text, write_beside};
use std::path::Path;

/// Writes a height map to a `.png` (and its sidecar) or an `.npz` file.
///
/// PNG keeps 65,536 levels between the lowest and the highest height, so a height moves by at most
/// (highest − lowest) / 131,070; npz is exact.
///
/// # Errors
/// [`TerrainError::BadFile`] for another extension, [`TerrainError::Io`] when writing fails.
pub fn save(map: &HeightMap, path: impl AsRef<Path>) -> Result<(), TerrainError> {
    let path = path.as_ref();
    match extension(path).as_str() {
        "png" => image::save(map, path),
        "npz" => npz::save(map, path),
        other => Err(unknown_extension(path, other, "name it .png or .npz")),
    }
}

/// Reads a `.png` or `.npz` file.
///
/// # Errors
/// As [`crate::load`].
pub(crate) fn load_map(path: &Path) -> Result<HeightMap, TerrainError> {
    let grid = match extension(path).as_str() {
        "png" => image::load(path)?,
        "npz" => npz::load(path)?,
        other => return Err(unknown_extension(path, other, "a height map is a .png or .npz file")),
    };
    HeightMap::from_grid(grid)
        .map_err(|source| bad(path, source.to_string(), "repair the file or export the terrain again"))
}

/// Reads a description; relative paths of file shapes become relative to the folder of `path`.
///
/// # Errors
/// [`TerrainError::Io`], or [`TerrainError::BadFile`] with line and column.
pub fn load_spec(path: impl AsRef<Path>) -> Result<TerrainSpec, TerrainError> {
    let path = path.as_ref();
    parse_spec(&read_text(path)?, path)
}

/// Reads a description from text; `path` names it in errors and anchors relative paths.
///
/// # Errors
/// [`TerrainError::BadFile`] with line and column, or with the field that is out of range.
pub fn parse_spec(text: &str, path: &Path) -> Result<TerrainSpec, TerrainError> {
    let mut spec: TerrainSpec = toml::from_str(text).map_err(|source| {
        let remedy = "compare it with the files in configs/terrain";
        bad(path, format!("is not a terrain description: {}", source.to_string().trim_end()), remedy)
    })?;
    spec.validate().map_err(|source| bad(path, source.to_string(), "change that line"))?;
    if let Some(folder) = path.parent() {
        anchor(&mut spec.shape, folder);
    }
    Ok(spec)
}

/// Writes a description as TOML.
///
/// # Errors
/// [`TerrainError::Io`] when writing fails.
pub fn save_spec(spec: &TerrainSpec, path: impl AsRef<Path>) -> Result<(), TerrainError> {
    let path = path.as_ref();
    let text = toml::to_string(spec)
        .map_err(|source| bad(path, format!("cannot be written as TOML: {source}"), "check its numbers"))?;
    write_beside(path, |file| file.write_all(text.as_bytes()))
}

fn anchor(shape: &mut Shape, folder: &Path) {
    match shape {
        Shape::File { path } if path.is_relative() => *path = folder.join(&*path),
        Shape::Sum { parts } => parts.iter_mut().for_each(|part| anchor(part, folder)),
        _ => {}
    }
}

pub(crate) fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

fn unknown_extension(path: &Path, extension: &str, remedy: &str) -> TerrainError {
    let reason = match extension {
        "" => "has no extension".to_owned(),
        other => format!("has the extension \".{other}\", which is no terrain format"),
    };
    bad(path, reason, remedy)
}
