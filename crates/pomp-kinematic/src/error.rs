use pomp_config::OutOfRange;
use thiserror::Error;

/// What can go wrong when a kinematic module is built, sampled or packed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KinematicError {
    /// A field of a configuration, or an argument, outside its range.
    #[error("kinematic module: {0}")]
    OutOfRange(#[from] OutOfRange),
    /// A diffusion step of which Γ was not estimated.
    #[error(
        "Γ cannot be estimated from {rows} samples, because none of them was noised to step {step}; give at least as many samples as there are steps"
    )]
    TooFewSamples {
        /// Samples seen.
        rows: u64,
        /// The step, from 1.
        step: usize,
    },
    /// Two arrays that belong together disagree in size.
    #[error("{what}: expected {expected} values, found {found}")]
    SizeMismatch {
        /// The array that is wrong.
        what: String,
        /// The size that the configuration implies.
        expected: usize,
        /// The size found.
        found: usize,
    },
    /// A NaN or an infinity.
    #[error("{what} is not finite at row {row}, column {column}")]
    NotFinite {
        /// The array that holds it.
        what: String,
        /// Row (sample, or diffusion step), from 0.
        row: usize,
        /// Column (feature), from 0.
        column: usize,
    },
    /// A sampler that needs Γ was asked for without it.
    #[error(
        "the sampler's covariance is {covariance}, but no Γ was given: estimate it over the training \
         data with `estimate_gamma`, or set the covariance to \"none\""
    )]
    MissingGamma {
        /// The covariance asked for.
        covariance: String,
    },
}

/// Returns the first value that is not finite as an error that names `what` and its position.
pub(crate) fn check_finite(what: &str, columns: usize, values: &[f32]) -> Result<(), KinematicError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(KinematicError::NotFinite {
            what: what.to_owned(),
            row: index / columns.max(1),
            column: index % columns.max(1),
        }),
    }
}

/// An error unless `found == expected`.
pub(crate) fn check_size(what: &str, expected: usize, found: usize) -> Result<(), KinematicError> {
    if expected == found {
        return Ok(());
    }
    Err(KinematicError::SizeMismatch { what: what.to_owned(), expected, found })
}
