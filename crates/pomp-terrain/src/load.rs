use crate::{HeightMap, TerrainError, file, generate};
use std::path::Path;

/// Reads a terrain from a `.png`, `.npz` or `.toml` file; `seed` matters for descriptions (`.toml`) only.
///
/// # Errors
/// [`TerrainError::Io`] when a file cannot be read, [`TerrainError::BadFile`] with place and remedy when its
/// content is no terrain.
pub fn load(path: impl AsRef<Path>, seed: u64) -> Result<HeightMap, TerrainError> {
    let path = path.as_ref();
    if file::extension(path) == "toml" {
        generate(&file::load_spec(path)?, seed)
    } else {
        file::load_map(path)
    }
}
