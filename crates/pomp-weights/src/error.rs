use std::path::PathBuf;
use thiserror::Error;

/// What can be wrong with weights or their file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The operating system refused.
    #[error("cannot {action} {}: {error}; check that the folder exists and may be written", path.display())]
    Io {
        /// What was tried: "read" or "write".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's word.
        error: std::io::Error,
    },
    /// Not a safetensors file, or a cut one.
    #[error("{source_name} is not a whole safetensors file: {reason}; copy or train the weights again")]
    Broken {
        /// The file.
        source_name: String,
        /// What the reader stumbled on.
        reason: String,
    },
    /// A number type that is neither f16 nor f32.
    #[error("tensor \"{name}\" of {source_name} holds {found}; only F16 and F32 are read")]
    UnsupportedType {
        /// The file.
        source_name: String,
        /// Name of the tensor.
        name: String,
        /// The type found.
        found: String,
    },
    /// The module wants a tensor that the file does not have.
    #[error("{source_name} has no tensor \"{name}\"; was it written by another version of the network?")]
    MissingTensor {
        /// The file.
        source_name: String,
        /// Name of the tensor.
        name: String,
    },
    /// The file has a tensor that the module does not know.
    #[error("{source_name} has a tensor \"{name}\" that the network does not know; do their sizes agree?")]
    UnknownTensor {
        /// The file.
        source_name: String,
        /// Name of the tensor.
        name: String,
    },
    /// A tensor of another shape.
    #[error(
        "tensor \"{name}\" of {source_name} has shape {found:?}, the network needs {expected:?}; \
         build the network with the configuration that it was trained with"
    )]
    WrongShape {
        /// The file.
        source_name: String,
        /// Name of the tensor.
        name: String,
        /// The network's shape.
        expected: Vec<usize>,
        /// The file's shape.
        found: Vec<usize>,
    },
    /// A NaN or an infinity among the weights.
    #[error("tensor \"{name}\" of {source_name} is not finite at element {index}; the training diverged")]
    NotFinite {
        /// The file, or "the network".
        source_name: String,
        /// Name of the tensor.
        name: String,
        /// Row-major index of the first bad element.
        index: usize,
    },
    /// A weight beyond the range of half precision.
    #[error("tensor \"{name}\" holds {value} at element {index}, too large for f16; write f32")]
    TooLargeForHalf {
        /// Name of the tensor.
        name: String,
        /// Row-major index of the element.
        index: usize,
        /// The weight.
        value: f32,
    },
    /// Two tensors of one name.
    #[error("two tensors are called \"{name}\"; give the modules different prefixes")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// Values that do not fill the shape.
    #[error("tensor \"{name}\" of shape {shape:?} was given {found} values")]
    WrongLength {
        /// Name of the tensor.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Number of values given.
        found: usize,
    },
    /// A metadata key that the file lacks.
    #[error("{source_name} has no metadata \"{key}\"; was it written by another program?")]
    MissingMetadata {
        /// The file.
        source_name: String,
        /// The key.
        key: String,
    },
    /// An integer or boolean parameter: files hold floating-point weights alone.
    #[error("parameter \"{name}\" is not a floating-point tensor and cannot be stored")]
    NotAFloat {
        /// Name of the parameter.
        name: String,
    },
}
