//! Values of the processor's tensors.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Flex, TensorMetadata};
use burn::tensor::{DType, Device, Tensor, TensorData};

/// Whether a tensor lies in the processor's memory as f32, with or without gradients.
pub(crate) fn is_on_host<const D: usize>(tensor: &Tensor<D>) -> bool {
    tensor.device().inner() == Device::flex() && tensor.dtype() == DType::F32
}

/// The values of a tensor, row-major: its own memory where nothing else holds it, a copy otherwise.
pub(crate) fn owned(tensor: FloatTensor<Flex>) -> TensorData {
    if tensor.is_unique() {
        return tensor.into_data();
    }
    // `into_data` would copy them twice: to bytes, and to bytes that are aligned.
    let tensor = contiguous(tensor);
    TensorData::new(values(&tensor).to_vec(), tensor.shape())
}

/// The values of a tensor in one piece, row-major.
pub(crate) fn contiguous(tensor: FloatTensor<Flex>) -> FloatTensor<Flex> {
    if tensor.layout().is_contiguous() { tensor } else { tensor.to_contiguous() }
}

/// The values of a [`contiguous`] tensor.
pub(crate) fn values(tensor: &FloatTensor<Flex>) -> &[f32] {
    let start = tensor.layout().start_offset();
    &tensor.storage()[start..start + tensor.shape().num_elements()]
}

/// The values of data that is f32.
pub(crate) fn values_mut(data: &mut TensorData) -> &mut [f32] {
    data.as_mut_slice().expect("the tensor is f32")
}

/// A tensor of these values, row-major.
pub(crate) fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FloatTensor<Flex> {
    FloatTensor::<Flex>::from_data(TensorData::new(values, shape))
}
