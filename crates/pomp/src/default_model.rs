//! The model and the configuration that come with the program.

use anyhow::{Context, Result, bail};
use burn::tensor::Device;
use pomp_config::Origin;
use pomp_model::Model;
use std::path::Path;

/// The compact training configuration.
const CONFIG: &str = include_str!("../configs/compact.toml");

/// Where the configuration of a training comes from.
pub fn origin(path: Option<&Path>) -> Origin<'_> {
    path.map_or(Origin::BuiltIn { name: "configs/compact.toml", text: CONFIG }, Origin::File)
}

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

/// The same, of a model that is to generate: one whose training has come as far as the kinematic module.
pub fn find_whole(folder: Option<&Path>, device: &Device) -> Result<Model> {
    let model = find(folder, device)?;
    if let Some(folder) = folder
        && model.kinematic.is_none()
    {
        let out = folder.display();
        bail!(
            "{out}: the model is trained in part, it has no kinematic module yet; go on with `pomp train all --data DATA --out \
             {out} --resume`, with the --config, --set and --seed of before, or train that stage alone: `pomp train kinematic \
             --data DATA --out {out}`"
        );
    }
    Ok(model)
}

/// The same, with what to call it in a report.
pub fn find_named(folder: Option<&Path>, device: &Device) -> Result<(Model, String)> {
    let name =
        folder.map_or_else(|| "the embedded compact model".to_owned(), |folder| folder.display().to_string());
    Ok((find(folder, device)?, name))
}
