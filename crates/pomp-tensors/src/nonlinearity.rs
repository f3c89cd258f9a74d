use burn::tensor::{DType, Device, Tensor, TensorData};
use pomp_lanes::{LaneLoop, Lanes, Wide};
use rayon::prelude::*;
use std::marker::PhantomData;

use crate::AT_ONCE;

/// Value and slope of a function at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tangent {
    /// f(x).
    pub value: f32,
    /// f'(x).
    pub slope: f32,
}

/// A function of one variable that is applied to every value of a tensor.
///
/// Its methods are to be marked `#[inline(always)]` and to have no branch and no call, or no loop over them is compiled to lanes.
pub trait Nonlinearity {
    /// f(x).
    fn value<W: Wide>(x: f32) -> f32;
    /// f(x) and f'(x).
    fn tangent<W: Wide>(x: f32) -> Tangent;
    /// The same made of tensor operations, for the devices that have no lanes of ours.
    fn by_operations<const D: usize>(input: Tensor<D>) -> Tensor<D>;
}

/// A nonlinearity, element by element; differentiable where the input is.
///
/// On the processor value and slope come from one pass over the input, in lanes and in all threads; burn's operations
/// take turns with one thread, and with the library's functions, forwards and again backwards.
pub fn nonlinear<F: Nonlinearity, const D: usize>(input: Tensor<D>) -> Tensor<D> {
    let device = input.device().inner();
    if device != Device::flex() || input.dtype() != DType::F32 {
        return F::by_operations(input);
    }
    let lanes = Lanes::detect();
    if !input.is_autodiff() {
        let mut values = input.into_data();
        let parts = values_of(&mut values).par_chunks_mut(AT_ONCE);
        parts.for_each(|values| nonlinear_in_place::<F>(lanes, values));
        return Tensor::from_data(values, &device);
    }
    let mut offsets = input.clone().inner().into_data();
    let inputs = values_of(&mut offsets);
    let mut slopes = vec![0.0; inputs.len()];
    let parts = inputs.par_chunks_mut(AT_ONCE).zip(slopes.par_chunks_mut(AT_ONCE));
    parts.for_each(|(values, slopes)| {
        lanes.run(Tangents { function: PhantomData::<F>, values, slopes });
    });
    let slopes = TensorData::new(slopes, offsets.shape().clone());
    // f(x) = f'(x) x + (f(x) − f'(x) x), of which only the x in the middle is taken for a variable: its gradient is f'(x).
    input * Tensor::from_data(slopes, &device) + Tensor::from_data(offsets, &device)
}

/// A nonlinearity of plain values, in this thread.
pub fn nonlinear_in_place<F: Nonlinearity>(lanes: Lanes, values: &mut [f32]) {
    lanes.run(Values { function: PhantomData::<F>, values });
}

fn values_of(data: &mut TensorData) -> &mut [f32] {
    data.as_mut_slice().expect("the tensor is f32")
}

struct Values<'a, F> {
    function: PhantomData<F>,
    values: &'a mut [f32],
}

impl<F: Nonlinearity> LaneLoop for Values<'_, F> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        for value in self.values {
            *value = F::value::<W>(*value);
        }
    }
}

/// Tangents: x becomes f(x) − f'(x) x, and f'(x) is written beside it.
struct Tangents<'a, F> {
    function: PhantomData<F>,
    values: &'a mut [f32],
    slopes: &'a mut [f32],
}

impl<F: Nonlinearity> LaneLoop for Tangents<'_, F> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        for (x, cell) in self.values.iter_mut().zip(self.slopes) {
            let Tangent { value, slope } = F::tangent::<W>(*x);
            *cell = slope;
            *x = value - slope * *x;
        }
    }
}
