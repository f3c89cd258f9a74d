//! Configurations of the commands: a file, what it extends, and `--set`.

use anyhow::Result;
use pomp_config::{Origin, Resolved, resolve, resolve_whole};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The configuration of a command, over the defaults of its type. Its ranges are not checked.
pub fn over_defaults<T: DeserializeOwned + Serialize + Default>(
    path: Option<&Path>,
    settings: &[String],
) -> Result<Resolved<T>> {
    Ok(resolve(path.map_or(Origin::Defaults, Origin::File), settings)?)
}

/// A file that says all itself: a path, a scene.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    Ok(resolve_whole(Origin::File(path), &[])?.config)
}

/// The same of a text that comes with the program.
pub fn parse<T: DeserializeOwned>(text: &str, name: &str) -> Result<T> {
    Ok(resolve_whole(Origin::BuiltIn { name, text }, &[])?.config)
}
