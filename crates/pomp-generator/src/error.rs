use thiserror::Error;

/// What can stop the closed loop.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GeneratorError {
    /// A command that cannot be followed.
    #[error("control: {reason}")]
    BadControl {
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// Characters that cannot be in one world.
    #[error("scene: {reason}")]
    BadScene {
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// A setting outside its range.
    #[error(transparent)]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// The model does not fit the skeleton, the simulator or this version.
    #[error("model: {reason}")]
    BadModel {
        /// What does not fit.
        reason: String,
    },
    /// A motion that does not say what makes it again.
    #[error(
        "\"{recording}\" contains no recipe; only rollouts made by a current version of `pomp generate` or `pomp studio` contain one; generate it again"
    )]
    NoRecipe {
        /// Name of the recording.
        recording: String,
    },
    /// A recipe that cannot be followed.
    #[error("the recipe of \"{recording}\": {reason}")]
    BadRecipe {
        /// Name of the recording.
        recording: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A rollout of one model, given another.
    #[error(
        "the rollout was made by the model with the hash {recorded}, but the given model has the hash {given}; give the folder of that model with --model"
    )]
    OtherModel {
        /// Hash of the files of the rollout's model.
        recorded: String,
        /// That of the model that was given.
        given: String,
    },
    /// What the controller proposes cannot be computed.
    #[error(transparent)]
    Controller(#[from] pomp_controllers::ControllerError),
    /// The caller has stopped a rollout.
    #[error("stopped after frame {frame}, before the end of the rollout")]
    Stopped {
        /// The last frame that was simulated.
        frame: usize,
    },
    /// A push on a character that is not simulated.
    #[error(
        "a push in frame {frame}, but dynamics = \"kinematic_only\" simulates no body to push; leave the push out or set dynamics = \"simulated\""
    )]
    NothingToPush {
        /// Frame of the rollout.
        frame: usize,
    },
    /// The network gave something that is not a number.
    #[error(
        "the kinematic module gave a value that is not finite in frame {frame}; the model or its input is damaged"
    )]
    NotFinite {
        /// Frame of the rollout.
        frame: usize,
    },
    /// The phase encoding module refused.
    #[error(transparent)]
    Phase(#[from] pomp_phase::PhaseError),
    /// The kinematic module refused.
    #[error(transparent)]
    Kinematic(#[from] pomp_kinematic::KinematicError),
    /// The model lacks a part.
    #[error(transparent)]
    ModelFile(#[from] pomp_model::ModelError),
    /// The simulator refused.
    #[error(transparent)]
    Physics(#[from] pomp_physics::PhysicsError),
}
