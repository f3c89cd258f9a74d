use std::path::PathBuf;
use thiserror::Error;

/// What can keep a report from being made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The folder of a report cannot be made.
    #[error("{}: cannot make the folder: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that a report shows cannot be read.
    #[error("{}: cannot be read: {source}; remove it and run the same command again", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// `model.json` lacks something that the training wrote.
    #[error("model.json has no `config.{key}`: train the model again")]
    BadModel {
        /// The key that is missing or of another type.
        key: &'static str,
    },
    /// The recordings do not fit the model, or are too short.
    #[error("{}: {reason}", path.display())]
    BadData {
        /// The folder of recordings.
        path: PathBuf,
        /// What is wrong, and what to do about it.
        reason: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Format(#[from] pomp_formats::FormatError),
    /// A model cannot be read.
    #[error(transparent)]
    Model(#[from] pomp_model::ModelError),
    /// The dataset cannot be read or measured on.
    #[error(transparent)]
    Train(#[from] pomp_train::TrainError),
    /// The phase encoder refused.
    #[error(transparent)]
    Phase(#[from] pomp_phase::PhaseError),
    /// Skeleton-aware networks refuse.
    #[error(transparent)]
    Skeletal(#[from] pomp_skeletal::SkeletalError),
    /// The rules of retargeting refuse.
    #[error(transparent)]
    Retarget(#[from] pomp_retarget::RetargetOntoError),
    /// A chart cannot be drawn.
    #[error(transparent)]
    Render(#[from] pomp_render::RenderError),
    /// A clip or a trial cannot be read or processed.
    #[error(transparent)]
    Preprocess(#[from] pomp_preprocess::PreprocessError),
    /// The trials beside force plates cannot be read.
    #[error(transparent)]
    Plates(#[from] pomp_preprocess::validation::PlateError),
}
