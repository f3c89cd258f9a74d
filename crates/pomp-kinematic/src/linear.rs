use burn::nn::Linear;
use burn::tensor::Tensor;
use pomp_tensors::product;

/// A layer of rows, `[B, in]` → `[B, out]`: the same as `Linear::forward`.
pub(crate) fn linear(layer: &Linear, rows: Tensor<2>) -> Tensor<2> {
    let products = product_of(layer, rows);
    match &layer.bias {
        Some(bias) => products + bias.val().unsqueeze(),
        None => products,
    }
}

/// The same without the bias.
pub(crate) fn product_of(layer: &Linear, rows: Tensor<2>) -> Tensor<2> {
    product(rows.unsqueeze(), layer.weight.val().unsqueeze()).squeeze_dim(0)
}
