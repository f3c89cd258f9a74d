//! The style of some cycles in the rest of another.

use crate::StyleError;
use crate::model::StyleModel;
use nalgebra::DVector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which part of a code is blended or edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Only the style subspace; the rest comes from the content.
    #[default]
    Style,
    /// All subspaces.
    All,
}

impl Scope {
    /// The rows of a code that belong to it.
    pub(crate) fn rows(self, model: &StyleModel) -> std::ops::Range<usize> {
        match self {
            Self::Style => model.subspaces.rows(model.style_subspace),
            Self::All => 0..model.subspaces.rotation.nrows(),
        }
    }
}

/// Largest sum of weights beyond 1 that counts as rounding.
const ROUNDING: f64 = 1e-6;

/// The content's code with its part in `scope` replaced by a weighted sum of those of styles; what the weights leave of 1 is
/// the content's own.
///
/// # Errors
/// [`StyleError::BadRequest`] for weights that are negative or add up to more than 1.
pub fn blend(
    model: &StyleModel,
    content: &DVector<f64>,
    styles: &[(f64, DVector<f64>)],
    scope: Scope,
) -> Result<DVector<f64>, StyleError> {
    let total: f64 = styles.iter().map(|(weight, _)| weight).sum();
    if styles.iter().any(|(weight, _)| !weight.is_finite() || *weight < 0.0) || total > 1.0 + ROUNDING {
        return Err(StyleError::BadRequest(format!(
            "the weights add up to {total}; give weights of 0 or more that add up to 1 at most: the content keeps the rest"
        )));
    }
    let mut code = content.clone();
    for row in scope.rows(model) {
        code[row] = (1.0 - total).max(0.0) * content[row]
            + styles.iter().map(|(weight, style)| weight * style[row]).sum::<f64>();
    }
    Ok(code)
}
