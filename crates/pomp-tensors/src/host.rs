//! Values of the processor's tensors.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Flex, TensorMetadata};
use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::matrices::Matrix;

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

/// Matrices of a tensor `[G, R, C]`, read where they lie.
#[derive(Clone, Copy)]
pub(crate) struct Matrices<'a> {
    values: &'a [f32],
    shape: [usize; 3],
    strides: [usize; 3],
}

impl<'a> Matrices<'a> {
    /// Those of a tensor that is [`readable`].
    pub(crate) fn of(tensor: &'a FloatTensor<Flex>) -> Self {
        let layout = tensor.layout();
        let strides = <[isize; 3]>::try_from(layout.strides()).expect("the tensor has three dimensions");
        Self {
            values: &tensor.storage()[layout.start_offset()..],
            shape: tensor.shape().dims(),
            strides: strides.map(|stride| usize::try_from(stride).expect("the tensor is readable")),
        }
    }

    /// The matrix of a group; of the only one, if they share it.
    pub(crate) fn group(self, group: usize) -> Matrix<'a> {
        let ([groups, rows, columns], [stride, row, column]) = (self.shape, self.strides);
        let start = if groups == 1 { 0 } else { group * stride };
        Matrix::new(&self.values[start..], [rows, columns], [row, column])
    }
}

/// The tensor in an order that [`Matrices`] can read: a copy if something of it lies backwards.
pub(crate) fn readable(tensor: FloatTensor<Flex>) -> FloatTensor<Flex> {
    if tensor.layout().has_positive_strides() { tensor } else { tensor.to_contiguous() }
}

/// The values of data that is f32.
pub(crate) fn values_mut(data: &mut TensorData) -> &mut [f32] {
    data.as_mut_slice().expect("the tensor is f32")
}

/// A tensor of these values, row-major.
pub(crate) fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FloatTensor<Flex> {
    FloatTensor::<Flex>::from_data(TensorData::new(values, shape))
}
