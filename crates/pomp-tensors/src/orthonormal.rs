//! Gram-Schmidt over groups.

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
use crate::host::{contiguous, is_on_host, tensor, values};

/// Where lengths are no longer divided out.
#[derive(Clone, Copy, Debug)]
pub struct OrthonormalFloors {
    /// Floor of the root mean square of a row.
    pub length: f32,
    /// Floor of the independent share of a row, relative to its length.
    pub independence: f32,
}

/// Gram-Schmidt over the K rows of each of B samples: `[K, B, D]` in, `[K, B, D]` out, orthogonal and √D long; differentiable.
///
/// Row k of a sample is divided by its length, √(|x|² + D `length`²); its shares along the earlier rows are then removed, and the
/// rest is divided by max(its length, `independence`). The shares of one row are removed from all later rows at once, which is the
/// modified, numerically stable order of the same projection.
pub fn orthonormalise(outputs: Tensor<3>, floors: OrthonormalFloors) -> Tensor<3> {
    if !is_on_host(&outputs) {
        return by_operations(outputs, floors);
    }
    let [rows, batch, size] = outputs.dims();
    let shape = Shape { rows, batch, size };
    Tensor::from_dispatch(<Dispatch as Orthonormal>::orthonormal(outputs.into_dispatch(), shape, floors))
}

fn by_operations(outputs: Tensor<3>, floors: OrthonormalFloors) -> Tensor<3> {
    let [experts, batch, size] = outputs.dims();
    let scale = (size as f32).sqrt();
    let mean_square = outputs.clone().square().mean_dim(2);
    let length = mean_square.add_scalar(floors.length * floors.length).sqrt().mul_scalar(scale);
    let mut rest = outputs.div(length);
    let mut rows = Vec::with_capacity(experts);
    for k in 0..experts {
        let first = rest.clone().slice([0..1, 0..batch, 0..size]);
        let floor = floors.independence * floors.independence;
        let length = first.clone().square().sum_dim(2).clamp_min(floor).sqrt();
        let row = first.div(length);
        if k + 1 < experts {
            let later = rest.slice([1..experts - k, 0..batch, 0..size]);
            let shares = (later.clone() * row.clone()).sum_dim(2);
            rest = later - shares * row.clone();
        } else {
            rest = row.clone();
        }
        rows.push(row);
    }
    Tensor::cat(rows, 0).mul_scalar(scale)
}

/// K, B and D.
#[derive(Clone, Copy, Debug)]
struct Shape {
    rows: usize,
    batch: usize,
    size: usize,
}

impl Shape {
    /// The rows of every sample.
    fn samples(self, values: &mut [f32]) -> Vec<Vec<&mut [f32]>> {
        let mut samples: Vec<_> = (0..self.batch).map(|_| Vec::with_capacity(self.rows)).collect();
        for (index, row) in values.chunks_exact_mut(self.size).enumerate() {
            samples[index % self.batch].push(row);
        }
        samples
    }

    /// Row `row` of a sample.
    fn row(self, values: &[f32], row: usize, sample: usize) -> &[f32] {
        &values[(row * self.batch + sample) * self.size..][..self.size]
    }
}

/// The operation behind [`orthonormalise`].
#[backend_extension(Flex, Autodiff)]
trait Orthonormal: Backend {
    /// Gram-Schmidt.
    fn orthonormal(outputs: FloatTensor<Self>, shape: Shape, floors: OrthonormalFloors) -> FloatTensor<Self>;
}

/// Gram-Schmidt of one sample.
struct Sample<'a> {
    /// Row k as it is before its own division, after row i has been taken out: `[i][k]`, D values each.
    stages: &'a mut [f32],
    /// The rows of the result, without √D.
    directions: &'a mut [f32],
    /// What the rows of the input, and the independent rest of each, are divided by.
    lengths: &'a mut [[f32; 2]],
    shape: Shape,
    floors: OrthonormalFloors,
}

/// What one thread works in.
struct Scratch {
    stages: Vec<f32>,
    directions: Vec<f32>,
    gradients: Vec<f32>,
    lengths: Vec<[f32; 2]>,
}

impl Scratch {
    fn new(shape: Shape) -> Self {
        let size = shape.rows * shape.size;
        Self {
            stages: vec![0.0; shape.rows * size],
            directions: vec![0.0; size],
            gradients: vec![0.0; size],
            lengths: vec![[0.0; 2]; shape.rows],
        }
    }
}

impl Sample<'_> {
    /// The first stage holds the rows of the input, which come back divided by their lengths.
    #[inline(always)]
    fn project<W: Wide>(self, wide: W) {
        let (count, size) = (self.shape.rows, self.shape.size);
        let squared_floor = size as f32 * self.floors.length * self.floors.length;
        for (row, lengths) in self.stages.chunks_exact_mut(size).zip(self.lengths.iter_mut()) {
            let length = (dot(wide, row, row) + squared_floor).sqrt();
            row.iter_mut().for_each(|value| *value /= length);
            lengths[0] = length;
        }
        for k in 0..count {
            let (stage, next) = self.stages[k * count * size..].split_at_mut(count * size);
            let first = &stage[k * size..][..size];
            let length = dot(wide, first, first).sqrt().max(self.floors.independence);
            self.lengths[k][1] = length;
            let direction = &mut self.directions[k * size..][..size];
            for (cell, value) in direction.iter_mut().zip(first) {
                *cell = value / length;
            }
            for j in k + 1..count {
                let later = &stage[j * size..][..size];
                let share = dot(wide, later, direction);
                for ((cell, value), along) in next[j * size..][..size].iter_mut().zip(later).zip(&*direction)
                {
                    *cell = value - share * along;
                }
            }
        }
    }
}

/// One sample forwards.
struct Forwards<'a>(Sample<'a>);

impl LaneLoop for Forwards<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        self.0.project(wide);
    }
}

/// One sample forwards, then backwards.
struct Backwards<'a> {
    sample: Sample<'a>,
    /// The gradient of the rows of the result, without √D; then that of the rows of the input.
    gradients: &'a mut [f32],
}

impl LaneLoop for Backwards<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self { sample: Sample { stages, directions, lengths, shape, floors }, gradients } = self;
        let (count, size) = (shape.rows, shape.size);
        Sample { stages: &mut *stages, directions: &mut *directions, lengths: &mut *lengths, shape, floors }
            .project(wide);
        for k in (0..count).rev() {
            let stage = &stages[k * count * size..][..count * size];
            let direction = &directions[k * size..][..size];
            let (gradient, of_later) = gradients[k * size..].split_at_mut(size);
            for (index, of_later) in of_later.chunks_exact_mut(size).enumerate() {
                let later = &stage[(k + 1 + index) * size..][..size];
                let share = dot(wide, later, direction);
                let along = dot(wide, of_later, direction);
                for (((cell, of_later), later), direction) in
                    gradient.iter_mut().zip(&mut *of_later).zip(later).zip(direction)
                {
                    *cell -= share * *of_later + along * later;
                    *of_later -= along * direction;
                }
            }
            // Below its floor the length is a constant.
            let length = lengths[k][1];
            let is_free = length > floors.independence;
            let radial = if is_free { dot(wide, gradient, direction) } else { 0.0 };
            divide(gradient, direction, radial, length);
        }
        for ((row, gradient), lengths) in
            stages.chunks_exact(size).zip(gradients.chunks_exact_mut(size)).zip(&*lengths)
        {
            let radial = dot(wide, gradient, row);
            divide(gradient, row, radial, lengths[0]);
        }
    }
}

/// The gradient of x from that of x / |x|, with x / |x|, the product of the two, and |x|.
#[inline(always)]
fn divide(gradient: &mut [f32], direction: &[f32], radial: f32, length: f32) {
    for (cell, along) in gradient.iter_mut().zip(direction) {
        *cell = (*cell - radial * along) / length;
    }
}

impl Orthonormal for Flex {
    fn orthonormal(outputs: FloatTensor<Self>, shape: Shape, floors: OrthonormalFloors) -> FloatTensor<Self> {
        let outputs = contiguous(outputs);
        let outputs = values(&outputs);
        let scale = (shape.size as f32).sqrt();
        let mut results = vec![0.0; outputs.len()];
        let lanes = Lanes::detect();
        let samples = shape.samples(&mut results).into_par_iter().enumerate();
        samples.for_each_init(
            || Scratch::new(shape),
            |scratch, (index, rows)| {
                let Scratch { stages, directions, lengths, .. } = scratch;
                for (k, stage) in stages.chunks_exact_mut(shape.size).take(shape.rows).enumerate() {
                    stage.copy_from_slice(shape.row(outputs, k, index));
                }
                lanes.run(Forwards(Sample { stages, directions, lengths, shape, floors }));
                for (row, direction) in rows.into_iter().zip(directions.chunks_exact(shape.size)) {
                    row.iter_mut().zip(direction).for_each(|(cell, value)| *cell = value * scale);
                }
            },
        );
        tensor(results, [shape.rows, shape.batch, shape.size])
    }
}

#[derive(Debug)]
struct OrthonormalBackward;

/// The input.
#[derive(Clone, Debug)]
struct State {
    outputs: FloatTensor<Flex>,
    shape: Shape,
    floors: OrthonormalFloors,
}

impl State {
    fn gradient(&self, of_results: FloatTensor<Flex>) -> FloatTensor<Flex> {
        let Self { outputs, shape, floors } = self;
        let (shape, floors) = (*shape, *floors);
        let of_results = contiguous(of_results);
        let (outputs, of_results) = (values(outputs), values(&of_results));
        let scale = (shape.size as f32).sqrt();
        let mut found = vec![0.0; outputs.len()];
        let lanes = Lanes::detect();
        let samples = shape.samples(&mut found).into_par_iter().enumerate();
        samples.for_each_init(
            || Scratch::new(shape),
            |scratch, (index, rows)| {
                let Scratch { stages, directions, gradients, lengths } = scratch;
                let inner = stages.chunks_exact_mut(shape.size).zip(gradients.chunks_exact_mut(shape.size));
                for (k, (stage, gradient)) in inner.enumerate() {
                    stage.copy_from_slice(shape.row(outputs, k, index));
                    let of_result = shape.row(of_results, k, index);
                    gradient.iter_mut().zip(of_result).for_each(|(cell, value)| *cell = value * scale);
                }
                let sample = Sample { stages, directions, lengths, shape, floors };
                lanes.run(Backwards { sample, gradients: &mut *gradients });
                for (row, gradient) in rows.into_iter().zip(gradients.chunks_exact(shape.size)) {
                    row.copy_from_slice(gradient);
                }
            },
        );
        tensor(found, [shape.rows, shape.batch, shape.size])
    }
}

impl Backward<Flex, 1> for OrthonormalBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node);
        let [outputs] = ops.parents;
        if let Some(outputs) = outputs {
            gradients.register::<Flex>(outputs.id, ops.state.gradient(gradient));
        }
    }
}

impl<C: CheckpointStrategy> Orthonormal for Autodiff<Flex, C> {
    fn orthonormal(outputs: FloatTensor<Self>, shape: Shape, floors: OrthonormalFloors) -> FloatTensor<Self> {
        let nodes = [outputs.node()];
        let outputs = contiguous(outputs.into_primitive());
        match OrthonormalBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let state = State { outputs: outputs.clone(), shape, floors };
                prepared.finish(state, Flex::orthonormal(outputs, shape, floors))
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::orthonormal(outputs, shape, floors)),
        }
    }
}
