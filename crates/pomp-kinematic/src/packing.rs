//! Layers of burn modules, packed for one frame at a time.

use crate::encoder::ExpertLinear;
use crate::error::KinematicError;
use burn::nn::Linear;
use burn::tensor::Tensor;
use pomp_lanes::{NotFinitePart, PackedLinear, Precision};

/// Packs `[in, out]` weights, row-major, and a bias for products in `precision`; `what` names the layer in an error.
pub(crate) fn pack(
    what: &str,
    weight: &[f32],
    shape: [usize; 2],
    bias: Option<&[f32]>,
    precision: Precision,
) -> Result<PackedLinear, KinematicError> {
    PackedLinear::pack(weight, shape, bias, precision).map_err(|found| KinematicError::NotFinite {
        what: match found.part {
            NotFinitePart::Weights => what.to_owned(),
            NotFinitePart::Bias => format!("the bias of {what}"),
        },
        row: found.row,
        column: found.column,
    })
}

/// Packs a layer of a burn module.
pub(crate) fn pack_linear(
    what: &str,
    layer: &Linear,
    precision: Precision,
) -> Result<PackedLinear, KinematicError> {
    let weight = layer.weight.val();
    let bias = layer.bias.as_ref().map(|bias| values(bias.val()));
    pack(what, &values(weight.clone()), weight.dims(), bias.as_deref(), precision)
}

/// The values of a tensor on the host.
pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// Packs a layer of all experts as one: their outputs lie one after the other, without padding between them.
///
/// # Errors
/// A weight that is not finite; `what` names the layer.
pub fn pack_side_by_side(
    what: &str,
    layer: &ExpertLinear,
    precision: Precision,
) -> Result<PackedLinear, KinematicError> {
    let [experts, inputs, outputs] = layer.weight.val().dims();
    let (weight, bias) = (values(layer.weight.val()), values(layer.bias.val()));
    let mut joined = vec![0.0; weight.len()];
    for (row, cells) in weight.chunks_exact(outputs).enumerate() {
        let (expert, input) = (row / inputs, row % inputs);
        let first = (input * experts + expert) * outputs;
        joined[first..first + outputs].copy_from_slice(cells);
    }
    pack(what, &joined, [inputs, experts * outputs], Some(&bias), precision)
}
