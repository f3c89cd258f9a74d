//! The model and the configuration that come with the program.

use anyhow::{Context, Result};
use burn::tensor::Device;
use pomp_model::Model;
use std::path::Path;

/// The compact training configuration.
pub const CONFIG: &str = include_str!("../../../configs/compact.toml");

/// Reads the embedded compact model.
pub fn load(device: &Device) -> Result<Model> {
    pomp_embedded::load(device).context("the program is damaged: build it again")
}

/// The model of a folder, or the embedded one without.
pub fn find(folder: Option<&Path>, device: &Device) -> Result<Model> {
    match folder {
        Some(folder) => Ok(Model::load(folder, device)?),
        None => load(device),
    }
}
