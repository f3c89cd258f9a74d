//! Products of rows and weights.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;

use crate::host::{Matrices, is_on_host, readable, tensor, values};
use crate::matrices::{Matrix, products};

/// x · W for each of G groups: `[G, R, O]` from x, `[G or 1, R, I]`, and W, `[G, I, O]`; differentiable in both.
///
/// `Tensor::matmul` of burn's processor backend does the same, but fills each result with zeros and copies it once before it begins, and
/// takes one group after the other. Neither copies its operands, in whatever order of dimensions they lie.
///
/// # Panics
/// When the shapes are none of these.
pub fn product(input: Tensor<3>, weight: Tensor<3>) -> Tensor<3> {
    if !is_on_host(&input) {
        return input.matmul(weight);
    }
    let sizes = Sizes::of(input.dims(), weight.dims());
    let (input, weight) = (input.into_dispatch(), weight.into_dispatch());
    Tensor::from_dispatch(<Dispatch as Product>::product(input, weight, sizes))
}

/// The sizes of x and W.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    groups: usize,
    /// G, or 1 where all groups have the same x.
    input_groups: usize,
    rows: usize,
    inputs: usize,
    outputs: usize,
}

impl Sizes {
    fn of([input_groups, rows, inputs]: [usize; 3], [groups, weight_inputs, outputs]: [usize; 3]) -> Self {
        assert_eq!(inputs, weight_inputs, "a row of weights for every column of the input");
        assert!(input_groups == groups || input_groups == 1, "{input_groups} inputs for {groups} groups");
        Self { groups, input_groups, rows, inputs, outputs }
    }

    /// Products of the matrices that `factors` gives for each group.
    fn products<'a>(
        self,
        [rows, columns]: [usize; 2],
        factors: impl Fn(usize) -> [Matrix<'a>; 2] + Sync,
    ) -> FloatTensor<Flex> {
        tensor(products(self.groups, [rows, columns], factors), [self.groups, rows, columns])
    }

    fn forward(self, input: &FloatTensor<Flex>, weight: &FloatTensor<Flex>) -> FloatTensor<Flex> {
        let (input, weight) = (Matrices::of(input), Matrices::of(weight));
        self.products([self.rows, self.outputs], |group| [input.group(group), weight.group(group)])
    }

    fn of_weight(self, input: &FloatTensor<Flex>, gradient: &FloatTensor<Flex>) -> FloatTensor<Flex> {
        let (input, gradient) = (Matrices::of(input), Matrices::of(gradient));
        self.products([self.inputs, self.outputs], |group| {
            [input.group(group).transposed(), gradient.group(group)]
        })
    }

    fn of_input(self, weight: &FloatTensor<Flex>, gradient: &FloatTensor<Flex>) -> FloatTensor<Flex> {
        let (weight, gradient) = (Matrices::of(weight), Matrices::of(gradient));
        let each = self.products([self.rows, self.inputs], |group| {
            [gradient.group(group), weight.group(group).transposed()]
        });
        if self.input_groups == self.groups {
            return each;
        }
        let size = self.rows * self.inputs;
        let each = values(&each);
        let mut sum = each[..size].to_vec();
        for part in each.chunks_exact(size).skip(1) {
            sum.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
        }
        tensor(sum, [1, self.rows, self.inputs])
    }
}

/// The operation behind [`product`].
#[backend_extension(Flex, Autodiff)]
trait Product: Backend {
    /// x · W.
    fn product(input: FloatTensor<Self>, weight: FloatTensor<Self>, sizes: Sizes) -> FloatTensor<Self>;
}

impl Product for Flex {
    fn product(input: FloatTensor<Self>, weight: FloatTensor<Self>, sizes: Sizes) -> FloatTensor<Self> {
        sizes.forward(&readable(input), &readable(weight))
    }
}

#[derive(Debug)]
struct ProductBackward;

/// What the backward pass needs: the input for the weights' gradient, and the other way round.
#[derive(Clone, Debug)]
struct State {
    input: Option<FloatTensor<Flex>>,
    weight: Option<FloatTensor<Flex>>,
    sizes: Sizes,
}

impl Backward<Flex, 2> for ProductBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = readable(gradients.consume::<Flex>(&ops.node));
        let State { input, weight, sizes } = ops.state;
        let [input_node, weight_node] = ops.parents;
        if let Some((node, input)) = weight_node.zip(input) {
            gradients.register::<Flex>(node.id, sizes.of_weight(&input, &gradient));
        }
        if let Some((node, weight)) = input_node.zip(weight) {
            gradients.register::<Flex>(node.id, sizes.of_input(&weight, &gradient));
        }
    }
}

impl<C: CheckpointStrategy> Product for Autodiff<Flex, C> {
    fn product(input: FloatTensor<Self>, weight: FloatTensor<Self>, sizes: Sizes) -> FloatTensor<Self> {
        let nodes = [input.node(), weight.node()];
        let (for_input, for_weight) = (input.is_tracked(), weight.is_tracked());
        let [input, weight] = [input, weight].map(|tensor| readable(tensor.into_primitive()));
        match ProductBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let state = State {
                    input: for_weight.then(|| input.clone()),
                    weight: for_input.then(|| weight.clone()),
                    sizes,
                };
                prepared.finish(state, sizes.forward(&input, &weight))
            }
            OpsKind::UnTracked(prepared) => prepared.finish(sizes.forward(&input, &weight)),
        }
    }
}
