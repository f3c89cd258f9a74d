use pomp_kinematic::KinematicError;
use pomp_phase::PhaseError;
use pomp_weights::WeightsError;
use thiserror::Error;

/// What can go wrong with a controller.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// A name that no controller has.
    #[error(
        "there is no controller \"{name}\"; the controllers are {}",
        crate::ControllerKind::ALL.map(crate::ControllerKind::name).join(", ")
    )]
    UnknownKind {
        /// The name.
        name: String,
    },
    /// A file that describes no controller, or another one than its weights are of.
    #[error("{source_name}: {reason}; train it again with `pomp train controller`")]
    BadFile {
        /// The file.
        source_name: String,
        /// What is wrong.
        reason: String,
    },
    /// A prediction that is not finite.
    #[error(
        "the controller {kind} predicts a number that is not finite; train it again, or choose another one"
    )]
    NotFinite {
        /// Which controller.
        kind: &'static str,
    },
    /// A state or command that is not finite.
    #[error(
        "the controller {kind} is given a state or a command that is not finite; check the path and what sets the state"
    )]
    InputNotFinite {
        /// Which controller.
        kind: &'static str,
    },
    /// Weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// A layer.
    #[error(transparent)]
    Layer(#[from] KinematicError),
    /// Phases.
    #[error(transparent)]
    Phase(#[from] PhaseError),
}
