//! Weighted sums over groups.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use pomp_lanes::{LaneLoop, Lanes, Wide};
use rayon::prelude::*;

use crate::dot::dot;
use crate::host::{contiguous, is_on_host, owned, tensor, values, values_mut};

/// Σ_k α_k h_k: `[B, W]` from h, `[K, B, W]`, and α, `[K, B, 1]`; differentiable in both.
///
/// # Panics
/// When the shapes are none of these.
pub fn blend(hidden: Tensor<3>, gates: Tensor<3>) -> Tensor<2> {
    let shape = hidden.dims();
    let [groups, batch, width] = shape;
    assert_eq!(gates.dims(), [groups, batch, 1], "a weight for every row");
    if !is_on_host(&hidden) {
        return (hidden * gates).sum_dim(0).reshape([batch, width]);
    }
    let (hidden, gates) = (hidden.into_dispatch(), gates.into_dispatch());
    Tensor::from_dispatch(<Dispatch as Blended>::blended(hidden, gates, shape))
}

/// The operation behind [`blend`].
#[backend_extension(Flex, Autodiff)]
trait Blended: Backend {
    /// The weighted sum; K, B and W are `shape`.
    fn blended(hidden: FloatTensor<Self>, gates: FloatTensor<Self>, shape: [usize; 3]) -> FloatTensor<Self>;
}

impl Blended for Flex {
    fn blended(
        hidden: FloatTensor<Self>,
        gates: FloatTensor<Self>,
        [groups, batch, width]: [usize; 3],
    ) -> FloatTensor<Self> {
        let (hidden, gates) = (contiguous(hidden), contiguous(gates));
        let (hidden, gates) = (values(&hidden), values(&gates));
        let mut sums = vec![0.0; batch * width];
        let lanes = Lanes::detect();
        sums.par_chunks_mut(width.max(1)).enumerate().for_each(|(row, sums)| {
            for row in (0..groups).map(|group| group * batch + row) {
                lanes.run(AddScaled { sums, values: &hidden[row * width..][..width], factor: gates[row] });
            }
        });
        tensor(sums, [batch, width])
    }
}

/// A multiple of some values is added to others.
struct AddScaled<'a> {
    sums: &'a mut [f32],
    values: &'a [f32],
    factor: f32,
}

impl LaneLoop for AddScaled<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        for (sum, value) in self.sums.iter_mut().zip(self.values) {
            *sum += self.factor * value;
        }
    }
}

#[derive(Debug)]
struct BlendBackward;

/// The factors, and their shape.
#[derive(Clone, Debug)]
struct State {
    hidden: FloatTensor<Flex>,
    gates: FloatTensor<Flex>,
    shape: [usize; 3],
}

/// The gradients of one row of h, which takes its place, and of its weight.
struct RowGradients<'a> {
    gradient: &'a [f32],
    hidden: &'a mut [f32],
    gate: f32,
    of_gate: &'a mut f32,
}

impl LaneLoop for RowGradients<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        *self.of_gate = dot(wide, self.gradient, self.hidden);
        for (cell, gradient) in self.hidden.iter_mut().zip(self.gradient) {
            *cell = self.gate * gradient;
        }
    }
}

impl Backward<Flex, 2> for BlendBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = contiguous(gradients.consume::<Flex>(&ops.node));
        let State { hidden, gates, shape } = ops.state;
        let [groups, batch, width] = shape;
        let (from, weights) = (values(&gradient), values(&gates));
        // h is not wanted after this.
        let mut of_hidden = owned(hidden);
        let mut of_gates = vec![0.0; groups * batch];
        let lanes = Lanes::detect();
        let rows = values_mut(&mut of_hidden).par_chunks_mut(width.max(1)).zip(&mut of_gates);
        rows.enumerate().for_each(|(row, (hidden, of_gate))| {
            let gradient = &from[row % batch * width..][..width];
            lanes.run(RowGradients { gradient, hidden, gate: weights[row], of_gate });
        });
        let [hidden_node, gates_node] = ops.parents;
        if let Some(node) = hidden_node {
            gradients.register::<Flex>(node.id, FloatTensor::<Flex>::from_data(of_hidden));
        }
        if let Some(node) = gates_node {
            gradients.register::<Flex>(node.id, tensor(of_gates, [groups, batch, 1]));
        }
    }
}

impl<C: CheckpointStrategy> Blended for Autodiff<Flex, C> {
    fn blended(hidden: FloatTensor<Self>, gates: FloatTensor<Self>, shape: [usize; 3]) -> FloatTensor<Self> {
        let nodes = [hidden.node(), gates.node()];
        let [hidden, gates] = [hidden, gates].map(|tensor| contiguous(tensor.into_primitive()));
        match BlendBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let state = State { hidden: hidden.clone(), gates: gates.clone(), shape };
                prepared.finish(state, Flex::blended(hidden, gates, shape))
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::blended(hidden, gates, shape)),
        }
    }
}
