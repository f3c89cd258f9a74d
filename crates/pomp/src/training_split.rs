//! How a model's training divided its data, so that reports measure on what it has not seen.

use anyhow::{Context, Result, anyhow, ensure};
use pomp_model::Model;
use pomp_train::Dataset;
use std::path::Path;

/// What `model.json` says of the recordings that the model was trained on.
pub struct TrainingSplit {
    pub held_out_every: usize,
    pub exclude: Vec<String>,
    pub phase_edge_frames: usize,
    pub margin_frames: usize,
}

impl TrainingSplit {
    pub fn of(model: &Model) -> Result<Self> {
        let config = &model.description.config;
        let missing = |key: &str| anyhow!("model.json says no `config.{key}`: train the model again");
        let number = |key: &str| {
            let value = config.get(key).and_then(serde_json::Value::as_u64);
            value.and_then(|value| usize::try_from(value).ok()).ok_or_else(|| missing(key))
        };
        let exclude = config.get("exclude").ok_or_else(|| missing("exclude"))?;
        Ok(Self {
            held_out_every: number("held_out_every")?,
            exclude: serde_json::from_value(exclude.clone()).context("model.json, config.exclude")?,
            phase_edge_frames: number("phase_edge_frames")?,
            margin_frames: number("margin_frames")?,
        })
    }

    /// Reads the recordings of a folder, divided in the same way, for `model`.
    pub fn load(&self, data: &Path, model: &Model) -> Result<Dataset> {
        let dataset = Dataset::load(data, self.held_out_every, &self.exclude)?;
        ensure!(
            dataset.skeleton.len() == model.description.skeleton.len(),
            "{}: the recordings have {} joints, the model {}; preprocess them with the configuration that it was trained with",
            data.display(),
            dataset.skeleton.len(),
            model.description.skeleton.len()
        );
        Ok(dataset)
    }
}
