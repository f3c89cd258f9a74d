use burn::tensor::Tensor;
use pomp_lanes::Lanes;
use pomp_tensors::{Elu, Silu, nonlinear, nonlinear_in_place};

use crate::config::Activation;

impl Activation {
    /// The nonlinearity, element by element.
    pub(crate) fn forward<const D: usize>(self, input: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Elu => nonlinear::<Elu, D>(input),
            Self::Silu => nonlinear::<Silu, D>(input),
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
