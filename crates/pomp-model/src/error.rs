use std::path::PathBuf;
use thiserror::Error;

/// What can be wrong with a model's files.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Weights that are damaged, incomplete or of another network.
    #[error(transparent)]
    Weights(#[from] pomp_weights::WeightsError),
    /// A controller whose file is damaged, or of another kind.
    #[error(transparent)]
    Controller(#[from] pomp_controllers::ControllerError),
    /// A balance policy whose file is damaged, or of another version.
    #[error(transparent)]
    Policy(#[from] pomp_policy::PolicyError),
    /// A phase network that cannot be built from its configuration.
    #[error("{source_name}: {source}")]
    Phase {
        /// File or model.
        source_name: String,
        /// What is wrong.
        source: pomp_phase::PhaseError,
    },
    /// A kinematic network that cannot be built from its configuration.
    #[error("{source_name}: {source}")]
    Kinematic {
        /// File or model.
        source_name: String,
        /// What is wrong.
        source: pomp_kinematic::KinematicError,
    },
    /// The file system refuses.
    #[error("{}: {action}: {source}; {remedy}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// `model.json` is not what this version writes.
    #[error("{source_name}: {reason}; train the model again or use the version that wrote it")]
    BadDescription {
        /// File or model.
        source_name: String,
        /// What is wrong, with line and column.
        reason: String,
    },
    /// A controller that has not been trained.
    #[error(
        "{source_name}: the model has no controller {kind}; it has {there}. Run `pomp train controller {kind}` on its folder, or \
         choose another one with --controller"
    )]
    MissingController {
        /// File or model.
        source_name: String,
        /// The controller that is asked for.
        kind: &'static str,
        /// Those that there are.
        there: String,
    },
    /// A style adapter that is not what this version writes.
    #[error("{source_name}: {reason}; train it again with `pomp train style`")]
    BadStyles {
        /// File or model.
        source_name: String,
        /// What is wrong.
        reason: String,
    },
    /// A style that the model does not have.
    #[error("there is no style \"{name}\"; the model has {known}")]
    UnknownStyle {
        /// What was asked for.
        name: String,
        /// The names of those that there are.
        known: String,
    },
    /// A part that has not been trained.
    #[error("{source_name}: the model has no {part} yet; run `pomp train {stage}` on it")]
    MissingPart {
        /// File or model.
        source_name: String,
        /// What is missing.
        part: &'static str,
        /// The training stage that makes it.
        stage: &'static str,
    },
}
