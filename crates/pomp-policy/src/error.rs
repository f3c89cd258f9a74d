use pomp_weights::WeightsError;
use thiserror::Error;

/// What can go wrong with a balance policy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A file that holds no balance policy of this version.
    #[error("{source_name}: {reason}; train it again with `pomp train balance`")]
    BadFile {
        /// The file.
        source_name: String,
        /// What is wrong.
        reason: String,
    },
    /// A weight that is not finite.
    #[error(
        "layer {layer} of the balance policy holds a number that is not finite; train it again with `pomp train balance`"
    )]
    NotFinite {
        /// Number of the layer, from 1.
        layer: usize,
    },
    /// Weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}
