//! How a model's training divided its data, so that reports measure on what it has not seen.

use crate::ReportError;
use pomp_model::Model;
use pomp_train::{Dataset, Split};
use std::path::Path;

/// What `model.json` says of the recordings that the model was trained on.
pub(crate) struct TrainingSplit {
    split: Split,
    /// As in the training's configuration.
    pub phase_edge_frames: usize,
    /// As in the training's configuration.
    pub margin_frames: usize,
}

impl TrainingSplit {
    pub fn of(model: &Model) -> Result<Self, ReportError> {
        let config = &model.description.config;
        let number = |key: &'static str| {
            let value = config.get(key).and_then(serde_json::Value::as_u64);
            value.and_then(|value| usize::try_from(value).ok()).ok_or(ReportError::BadModel { key })
        };
        Ok(Self {
            split: Split::of_config(config).map_err(|key| ReportError::BadModel { key })?,
            phase_edge_frames: number("phase_edge_frames")?,
            margin_frames: number("margin_frames")?,
        })
    }

    /// Reads the recordings of a folder, divided in the same way, for `model`.
    pub fn load(&self, data: &Path, model: &Model) -> Result<Dataset, ReportError> {
        let dataset = Dataset::load_split(data, &self.split)?;
        let (found, wanted) = (dataset.skeleton.len(), model.description.skeleton.len());
        if found != wanted {
            let reason = format!(
                "the recordings have {found} joints, the model {wanted}; preprocess them with the configuration that it was trained with"
            );
            return Err(ReportError::BadData { path: data.to_path_buf(), reason });
        }
        Ok(dataset)
    }
}
