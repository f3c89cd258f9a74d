//! TOML files, with errors that name file, line and remedy.

use anyhow::{Context, Result, anyhow};
use serde::de::DeserializeOwned;
use std::path::Path;

/// Reads a configuration; unknown keys are errors.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{}: cannot read the configuration", path.display()))?;
    parse(&text, &path.display().to_string())
}

/// Parses a configuration that is not a file of its own.
pub fn parse<T: DeserializeOwned>(text: &str, name: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| anyhow!("{name}: {}", error.to_string().trim_end()))
}
