//! What a file of half precision makes of a module's weights.

use burn::module::{ModuleMapper, Param};
use burn::tensor::{FloatDType, Tensor};

/// Rounds every weight as a file of half precision does.
pub struct Rounded;

impl ModuleMapper for Rounded {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, value, mapper) = param.consume();
        let rounded = value.cast(FloatDType::F16).cast(FloatDType::F32);
        Param::from_mapped_value(id, rounded, mapper)
    }
}
