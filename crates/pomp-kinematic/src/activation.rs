use burn::tensor::{Tensor, activation};

use crate::config::Activation;

impl Activation {
    /// The nonlinearity, element by element.
    pub(crate) fn forward<const D: usize>(self, input: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Elu => activation::elu(input, 1.0),
            Self::Silu => activation::silu(input),
        }
    }

    /// What an initial weight is multiplied by so that a unit-variance input stays near unit variance.
    pub(crate) fn gain(self) -> f64 {
        match self {
            Self::Elu => 1.25,
            Self::Silu => 1.68,
        }
    }
}
