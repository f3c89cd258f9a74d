//! The model that is asked for: one of a folder, or the one that comes with the program.

use anyhow::{Context, Result, bail};
use pomp_embedded::Device;
use pomp_model::{Model, ModelStyles, UsedParts};
use std::path::Path;
use std::sync::Arc;

/// The models that a run may use.
#[derive(Clone)]
pub struct Models {
    /// The one that is given, or the embedded compact model.
    pub first: Arc<Model>,
    /// The embedded model of all directions, where none is given: it leads characters on their own feet where it holds ([`crate::support`]).
    pub unrolled: Option<Arc<Model>>,
}

impl Models {
    /// The model of a folder, which must be one that can generate; without one, those that come with the program.
    ///
    /// # Errors
    /// A folder without a whole model.
    pub fn find(folder: Option<&Path>, device: &Device) -> Result<Self> {
        let first = find_whole(folder, device)?;
        let unrolled = folder.is_none().then(|| load_unrolled(device)).transpose()?;
        Ok(Self { first: Arc::new(first), unrolled: unrolled.map(Arc::new) })
    }
}

const DAMAGED: &str = "the program is damaged: build it again";

/// Reads the embedded compact model, with its controllers.
pub fn load(device: &Device) -> Result<Model> {
    let mut model = pomp_embedded::load(device).context(DAMAGED)?;
    pomp_embedded_controllers::add_to(&mut model);
    Ok(model)
}

/// Reads the embedded model of all directions.
pub fn load_unrolled(device: &Device) -> Result<Model> {
    pomp_embedded_unrolled::load(device).context(DAMAGED)
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

/// Writes the files of the embedded model, but for its style adapter, into a folder that has an adapter trained for it; the
/// description last.
pub fn write_embedded(folder: &Path) -> Result<()> {
    for (name, bytes) in pomp_embedded::FILES.iter().rev().filter(|(name, _)| *name != ModelStyles::FILE) {
        pomp_formats::write_atomically(&folder.join(name), |file| file.write_all(bytes))?;
    }
    Ok(())
}

/// Hash of a model's files, by which rollouts that use these parts name it.
///
/// # Errors
/// A model that was made in memory.
pub fn hash(model: &Model, used: UsedParts) -> Result<String> {
    model
        .sha256_with(used)
        .context("the model was never saved, so rollouts cannot name it by the hash of its files; save it and load it again")
}
