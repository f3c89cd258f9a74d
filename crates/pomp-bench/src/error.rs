use std::path::PathBuf;
use thiserror::Error;

/// What can stop a bench.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A setting outside its range.
    #[error("bench: {0}")]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// A file of the results could not be read or written.
    #[error("{action} {}: {source}; {remedy}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The dataset has too little for a method.
    #[error("method \"{method}\" in scenario \"{scenario}\": {reason}")]
    TooLittleData {
        /// The method.
        method: String,
        /// The scenario.
        scenario: String,
        /// What is missing and what to do about it.
        reason: String,
    },
    /// No model to measure.
    #[error("there is no model to measure the performance of; give one")]
    NoModel,
    /// The results of other programs cannot be used.
    #[error(
        "{}: {reason}; write the file with crates/pomp-bench/benches/peers.py, or leave --peers out",
        path.display()
    )]
    BadPeers {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A rollout of an ensemble that is timed failed.
    #[error("a rollout of the timed ensemble failed: {reason}")]
    EnsembleFailed {
        /// Why.
        reason: String,
    },
    /// The ensemble refused.
    #[error(transparent)]
    Batch(#[from] pomp_batch::BatchError),
    /// The model's description does not say which clips were held out.
    #[error("the model's training configuration has no usable `{field}`; train it with this version")]
    BadModel {
        /// The field of the training configuration.
        field: &'static str,
    },
    /// A file of the results could not be written.
    #[error(transparent)]
    Format(#[from] pomp_formats::FormatError),
    /// A motion breaks a rule.
    #[error(transparent)]
    Motion(#[from] pomp_motion::MotionError),
    /// The dataset cannot be read.
    #[error(transparent)]
    Data(#[from] pomp_train::TrainError),
    /// The closed loop refused.
    #[error(transparent)]
    Generator(#[from] pomp_generator::GeneratorError),
    /// The controller refused.
    #[error(transparent)]
    Controller(#[from] pomp_controllers::ControllerError),
    /// The terrain was refused.
    #[error(transparent)]
    Terrain(#[from] pomp_terrain::TerrainError),
    /// The simulator refused.
    #[error(transparent)]
    Physics(#[from] pomp_physics::PhysicsError),
    /// The phase encoder refused.
    #[error(transparent)]
    Phase(#[from] pomp_phase::PhaseError),
    /// A recording could not be measured.
    #[error(transparent)]
    Eval(#[from] pomp_eval::EvalError),
    /// A preview could not be drawn.
    #[error(transparent)]
    Render(#[from] pomp_render::RenderError),
}
