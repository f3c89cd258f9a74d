//! A nonlinearity of a sum, and what is added to it, in one pass.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::{Tensor, TensorData};
use pomp_lanes::{LaneLoop, Lanes, Wide};
use rayon::prelude::*;
use std::marker::PhantomData;

use crate::host::{contiguous, is_on_host, owned, tensor, values, values_mut};
use crate::{AT_ONCE, Nonlinearity, Tangent};

/// f(x + b), differentiable in both: `[G, R, O]` from x, `[G, R, O]`, and b, `[G or 1, P, O]`, whose P rows are repeated R / P
/// times.
///
/// # Panics
/// When b cannot be repeated so.
pub fn biased_nonlinear<F: Nonlinearity>(input: Tensor<3>, bias: Tensor<3>) -> Tensor<3> {
    let sizes = Sizes::of(input.dims(), bias.dims());
    if !is_on_host(&input) {
        return F::by_operations(sizes.sum(input, bias));
    }
    let (input, bias) = (input.into_dispatch(), bias.into_dispatch());
    Tensor::from_dispatch(<Dispatch as Biased>::biased(input, bias, sizes, Passes::of::<F>()))
}

/// h + f(x + b), differentiable in all three: [`biased_nonlinear`] beside a residual connection, `[G, R, O]`.
///
/// # Panics
/// As [`biased_nonlinear`], and when h has not the shape of x.
pub fn biased_residual<F: Nonlinearity>(residual: Tensor<3>, input: Tensor<3>, bias: Tensor<3>) -> Tensor<3> {
    assert_eq!(residual.dims(), input.dims(), "a residual connection keeps the shape");
    let sizes = Sizes::of(input.dims(), bias.dims());
    if !is_on_host(&input) {
        return residual + F::by_operations(sizes.sum(input, bias));
    }
    let [residual, input, bias] = [residual, input, bias].map(Tensor::into_dispatch);
    Tensor::from_dispatch(<Dispatch as Biased>::residual(residual, input, bias, sizes, Passes::of::<F>()))
}

/// G, R, O of the input; G or 1, and P, of the bias.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    groups: usize,
    rows: usize,
    width: usize,
    bias_groups: usize,
    period: usize,
}

impl Sizes {
    fn of([groups, rows, width]: [usize; 3], [bias_groups, period, bias_width]: [usize; 3]) -> Self {
        assert_eq!(bias_width, width, "a bias is as wide as the input");
        assert!(bias_groups == groups || bias_groups == 1, "{bias_groups} groups of biases for {groups}");
        assert!(period > 0 && rows.is_multiple_of(period), "{period} rows of biases for {rows}");
        Self { groups, rows, width, bias_groups, period }
    }

    fn sum(self, input: Tensor<3>, bias: Tensor<3>) -> Tensor<3> {
        let Self { groups, rows, width, bias_groups, period } = self;
        let input = input.reshape([groups, rows / period, period, width]);
        let bias = bias.reshape([bias_groups, 1, period, width]);
        (input + bias).reshape([groups, rows, width])
    }

    /// Where the bias of a row of the input begins.
    fn bias_start(self, row: usize) -> usize {
        let group = if self.bias_groups == 1 { 0 } else { row / self.rows };
        (group * self.period + row % self.period) * self.width
    }

    /// Rows that one thread takes at a time.
    fn rows_at_once(self) -> usize {
        (AT_ONCE / self.width.max(1)).max(1)
    }

    /// The gradient of the bias: `of_sum`, the gradient of the sum, over the rows that the bias was repeated for.
    fn summed(self, of_sum: &[f32]) -> Vec<f32> {
        let Self { groups, rows, width, bias_groups, period } = self;
        let mut sums = vec![0.0; bias_groups * period * width];
        // A single row of sums is split into columns for the threads.
        let piece = if bias_groups * period > 1 { width } else { width.min(COLUMNS) };
        let lanes = Lanes::detect();
        sums.par_chunks_mut(piece).enumerate().for_each(|(index, sums)| {
            let (row, column) = (index * piece / width, index * piece % width);
            let (group, within) = (row / period, row % period);
            let first = if bias_groups == 1 { 0 } else { group * rows };
            let count = if bias_groups == 1 { groups * rows } else { rows };
            let start = (first + within) * width + column;
            lanes.run(Sum { sums, terms: &of_sum[start..], stride: period * width, count: count / period });
        });
        sums
    }
}

/// Columns of a row of sums that one thread takes at a time.
const COLUMNS: usize = 64;

/// Sums of rows `stride` apart.
struct Sum<'a> {
    sums: &'a mut [f32],
    terms: &'a [f32],
    stride: usize,
    count: usize,
}

impl LaneLoop for Sum<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        for terms in self.terms.chunks(self.stride).take(self.count) {
            for (sum, term) in self.sums.iter_mut().zip(terms) {
                *sum += term;
            }
        }
    }
}

/// One row: x becomes f(x + b), plus h if there is one.
type ValuePass = fn(Lanes, values: &mut [f32], bias: &[f32], residual: &[f32]);
/// The same, with f'(x + b) written beside it.
type TangentPass = fn(Lanes, values: &mut [f32], bias: &[f32], residual: &[f32], slopes: &mut [f32]);

/// The loops of a nonlinearity.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    value: ValuePass,
    tangent: TangentPass,
}

impl Passes {
    fn of<F: Nonlinearity>() -> Self {
        Self {
            value: |lanes, values, bias, residual| {
                lanes.run(Values { function: PhantomData::<F>, values, bias, residual });
            },
            tangent: |lanes, values, bias, residual, slopes| {
                lanes.run(Tangents { function: PhantomData::<F>, values, bias, residual, slopes });
            },
        }
    }
}

struct Values<'a, F> {
    function: PhantomData<F>,
    values: &'a mut [f32],
    bias: &'a [f32],
    residual: &'a [f32],
}

impl<F: Nonlinearity> LaneLoop for Values<'_, F> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        for (value, bias) in self.values.iter_mut().zip(self.bias) {
            *value = F::value::<W>(*value + bias);
        }
        for (value, residual) in self.values.iter_mut().zip(self.residual) {
            *value += residual;
        }
    }
}

struct Tangents<'a, F> {
    function: PhantomData<F>,
    values: &'a mut [f32],
    bias: &'a [f32],
    residual: &'a [f32],
    slopes: &'a mut [f32],
}

impl<F: Nonlinearity> LaneLoop for Tangents<'_, F> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        for ((value, bias), cell) in self.values.iter_mut().zip(self.bias).zip(self.slopes) {
            let Tangent { value: found, slope } = F::tangent::<W>(*value + bias);
            *value = found;
            *cell = slope;
        }
        for (value, residual) in self.values.iter_mut().zip(self.residual) {
            *value += residual;
        }
    }
}

/// The operation behind [`biased_nonlinear`] and [`biased_residual`].
#[backend_extension(Flex, Autodiff)]
trait Biased: Backend {
    /// f(x + b).
    fn biased(
        input: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        sizes: Sizes,
        passes: Passes,
    ) -> FloatTensor<Self>;

    /// h + f(x + b).
    fn residual(
        residual: FloatTensor<Self>,
        input: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        sizes: Sizes,
        passes: Passes,
    ) -> FloatTensor<Self>;
}

impl Biased for Flex {
    fn biased(
        input: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        sizes: Sizes,
        passes: Passes,
    ) -> FloatTensor<Self> {
        run(None, input, bias, sizes, passes)
    }

    fn residual(
        residual: FloatTensor<Self>,
        input: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        sizes: Sizes,
        passes: Passes,
    ) -> FloatTensor<Self> {
        run(Some(residual), input, bias, sizes, passes)
    }
}

/// The rows of the residual connection from `row` on; none where there is none.
fn part(residual: Option<&FloatTensor<Flex>>, row: usize, width: usize) -> &[f32] {
    residual.map_or(&[], |residual| &values(residual)[row * width..(row + 1) * width])
}

fn run(
    residual: Option<FloatTensor<Flex>>,
    input: FloatTensor<Flex>,
    bias: FloatTensor<Flex>,
    sizes: Sizes,
    passes: Passes,
) -> FloatTensor<Flex> {
    let (lanes, rows, width) = (Lanes::detect(), sizes.rows_at_once(), sizes.width);
    let (bias, residual) = (contiguous(bias), residual.map(contiguous));
    let (bias, residual) = (values(&bias), residual.as_ref());
    let mut sums = owned(input);
    values_mut(&mut sums).par_chunks_mut(rows * width).enumerate().for_each(|(index, values)| {
        for (row, values) in (index * rows..).zip(values.chunks_exact_mut(width)) {
            (passes.value)(lanes, values, &bias[sizes.bias_start(row)..], part(residual, row, width));
        }
    });
    FloatTensor::<Flex>::from_data(sums)
}

/// Values and slopes.
fn run_with_slopes(
    residual: Option<FloatTensor<Flex>>,
    input: FloatTensor<Flex>,
    bias: FloatTensor<Flex>,
    sizes: Sizes,
    passes: Passes,
) -> [FloatTensor<Flex>; 2] {
    let (lanes, rows, width) = (Lanes::detect(), sizes.rows_at_once(), sizes.width);
    let (bias, residual) = (contiguous(bias), residual.map(contiguous));
    let (bias, residual) = (values(&bias), residual.as_ref());
    let mut sums = owned(input);
    let mut slopes = vec![0.0; sums.num_elements()];
    let parts = values_mut(&mut sums).par_chunks_mut(rows * width).zip(slopes.par_chunks_mut(rows * width));
    parts.enumerate().for_each(|(index, (values, slopes))| {
        let parts = values.chunks_exact_mut(width).zip(slopes.chunks_exact_mut(width));
        for (row, (values, slopes)) in (index * rows..).zip(parts) {
            let residual = part(residual, row, width);
            (passes.tangent)(lanes, values, &bias[sizes.bias_start(row)..], residual, slopes);
        }
    });
    let shape = [sizes.groups, sizes.rows, width];
    [FloatTensor::<Flex>::from_data(sums), tensor(slopes, shape)]
}

/// What the backward pass needs.
#[derive(Clone, Debug)]
struct State {
    slopes: FloatTensor<Flex>,
    sizes: Sizes,
}

impl State {
    /// The gradients of the sum and of the bias, of which the second is left out where it is not wanted.
    fn gradients(
        self,
        gradient: FloatTensor<Flex>,
        of_bias: bool,
    ) -> (FloatTensor<Flex>, Option<FloatTensor<Flex>>) {
        let sizes = self.sizes;
        let gradient = contiguous(gradient);
        // The slopes are not wanted after this.
        let mut of_sum: TensorData = owned(self.slopes);
        let scaled = values_mut(&mut of_sum);
        let parts = scaled.par_chunks_mut(AT_ONCE).zip(values(&gradient).par_chunks(AT_ONCE));
        let lanes = Lanes::detect();
        parts.for_each(|(values, factors)| lanes.run(Scale { values, factors }));
        let shape = [sizes.bias_groups, sizes.period, sizes.width];
        let of_bias = of_bias.then(|| tensor(sizes.summed(scaled), shape));
        (FloatTensor::<Flex>::from_data(of_sum), of_bias)
    }
}

struct Scale<'a> {
    values: &'a mut [f32],
    factors: &'a [f32],
}

impl LaneLoop for Scale<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        for (value, factor) in self.values.iter_mut().zip(self.factors) {
            *value *= factor;
        }
    }
}

#[derive(Debug)]
struct BiasedBackward;

impl Backward<Flex, 2> for BiasedBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node);
        let [input, bias] = ops.parents;
        let (of_sum, of_bias) = ops.state.gradients(gradient, bias.is_some());
        if let Some(input) = input {
            gradients.register::<Flex>(input.id, of_sum);
        }
        if let Some((bias, of_bias)) = bias.zip(of_bias) {
            gradients.register::<Flex>(bias.id, of_bias);
        }
    }
}

#[derive(Debug)]
struct ResidualBackward;

impl Backward<Flex, 3> for ResidualBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node);
        let [residual, input, bias] = ops.parents;
        if let Some(residual) = residual {
            gradients.register::<Flex>(residual.id, gradient.clone());
        }
        let (of_sum, of_bias) = ops.state.gradients(gradient, bias.is_some());
        if let Some(input) = input {
            gradients.register::<Flex>(input.id, of_sum);
        }
        if let Some((bias, of_bias)) = bias.zip(of_bias) {
            gradients.register::<Flex>(bias.id, of_bias);
        }
    }
}

impl<C: CheckpointStrategy> Biased for Autodiff<Flex, C> {
    fn biased(
        input: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        sizes: Sizes,
        passes: Passes,
    ) -> FloatTensor<Self> {
        let nodes = [input.node(), bias.node()];
        let (input, bias) = (input.into_primitive(), bias.into_primitive());
        match BiasedBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let [output, slopes] = run_with_slopes(None, input, bias, sizes, passes);
                prepared.finish(State { slopes, sizes }, output)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(run(None, input, bias, sizes, passes)),
        }
    }

    fn residual(
        residual: FloatTensor<Self>,
        input: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        sizes: Sizes,
        passes: Passes,
    ) -> FloatTensor<Self> {
        let nodes = [residual.node(), input.node(), bias.node()];
        let (residual, input, bias) =
            (residual.into_primitive(), input.into_primitive(), bias.into_primitive());
        match ResidualBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let [output, slopes] = run_with_slopes(Some(residual), input, bias, sizes, passes);
                prepared.finish(State { slopes, sizes }, output)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(run(Some(residual), input, bias, sizes, passes)),
        }
    }
}
