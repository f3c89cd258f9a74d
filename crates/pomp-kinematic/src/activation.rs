use burn::tensor::Tensor;
use pomp_lanes::Lanes;
use pomp_tensors::{Elu, Silu, biased_nonlinear, biased_residual, nonlinear, nonlinear_in_place};

use crate::config::Activation;

impl Activation {
    /// The nonlinearity, element by element.
    pub(crate) fn forward<const D: usize>(self, input: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Elu => nonlinear::<Elu, D>(input),
            Self::Silu => nonlinear::<Silu, D>(input),
        }
    }

    /// The nonlinearity of `input` + `bias` (see [`biased_nonlinear`]), in one pass.
    pub(crate) fn biased(self, input: Tensor<3>, bias: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Elu => biased_nonlinear::<Elu>(input, bias),
            Self::Silu => biased_nonlinear::<Silu>(input, bias),
        }
    }

    /// [`Self::biased`], plus `residual`.
    pub(crate) fn biased_residual(self, residual: Tensor<3>, input: Tensor<3>, bias: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Elu => biased_residual::<Elu>(residual, input, bias),
            Self::Silu => biased_residual::<Silu>(residual, input, bias),
        }
    }

    /// The nonlinearity in place.
    pub(crate) fn apply(self, lanes: Lanes, values: &mut [f32]) {
        match self {
            Self::Elu => nonlinear_in_place::<Elu>(lanes, values),
            Self::Silu => nonlinear_in_place::<Silu>(lanes, values),
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
