use pomp_weights::WeightsError;
use thiserror::Error;

/// What can go wrong with a policy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A file that holds no policy of this kind and version.
    #[error("{source_name}: {reason}; train it again with `{command}`")]
    BadFile {
        /// The file.
        source_name: String,
        /// What is wrong.
        reason: String,
        /// The command that makes such a policy.
        command: &'static str,
    },
    /// A weight that is not finite.
    #[error("layer {layer} of a policy holds a number that is not finite; train it again")]
    NotFinite {
        /// Number of the layer, from 1.
        layer: usize,
    },
    /// Weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}
