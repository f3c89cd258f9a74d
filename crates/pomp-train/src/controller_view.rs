//! How the network of a controller sees rows of x and y.

use crate::TrainConfig;
use crate::differentiable_body::indices;
use crate::rows::{Batch, matrix};
use crate::unroll::Leader;
use burn::tensor::{Device, Int, Tensor};
use pomp_controllers::ControllerKind;
use pomp_controllers::gated::{
    CONTROL_POINTS, Columns, GatedDescription, GatedNetwork, Goal, REACH, cubic_blend, within_reach,
};
use pomp_motion::features::{BlockName, FeatureLayout, Normaliser, PAST_KEYS};
use rand_chacha::ChaCha8Rng;

/// How a network sees rows of x and y.
pub(crate) struct View {
    pub columns: Columns,
    /// Weight of each of its outputs in the loss.
    weights: Vec<f32>,
    /// Normalised y of a frame in which nothing changes.
    held: Vec<f32>,
    /// Of the code of the present in x, where the phase itself is the gate.
    phase: Option<usize>,
    /// Normalisation of y, less what it would be if nothing changed.
    y: Normaliser,
}

impl View {
    pub fn new(kind: ControllerKind, description: &GatedDescription, reading: &TrainConfig) -> Self {
        let columns = description.columns();
        let layout = &description.layout;
        let all = reading.kinematic.loss.per_feature(layout);
        let codes = layout.x_range(BlockName::PhaseCodes).start;
        let y = &description.y;
        let mut weights: Vec<f32> = columns.outputs.iter().map(|&column| all[column]).collect();
        weights.resize(columns.widths()[2], reading.kinematic.loss.trajectory);
        Self {
            weights,
            held: y.mean().iter().zip(y.deviation()).map(|(mean, deviation)| -mean / deviation).collect(),
            phase: (kind == ControllerKind::Pfnn).then_some(codes + PAST_KEYS * 2 * layout.channels()),
            y: y.clone(),
            columns,
        }
    }

    /// What goes into the experts.
    pub fn experts(&self, batch: &Batch, layout: &FeatureLayout, device: &Device) -> Tensor<2> {
        let columns = matrix(seen(batch, layout, &self.columns.inputs), self.columns.inputs.len(), device);
        self.with_goal(columns, batch, layout, device)
    }

    /// Inputs `columns` of a batch, with those of its goals where the controller has one.
    pub fn with_goal(
        &self,
        columns: Tensor<2>,
        batch: &Batch,
        layout: &FeatureLayout,
        device: &Device,
    ) -> Tensor<2> {
        let width = self.columns.widths()[0] - self.columns.inputs.len();
        if width == 0 {
            return columns;
        }
        let rows = batch.raw_x.chunks_exact(layout.x_len());
        let goals = rows.flat_map(|x| Goal::of(layout, x).inputs().collect::<Vec<_>>()).collect();
        Tensor::cat(vec![columns, matrix(goals, width, device)], 1)
    }

    /// What the gate reads.
    pub fn gate(&self, batch: &Batch, layout: &FeatureLayout, device: &Device) -> Tensor<2> {
        let rows = batch.raw_x.chunks_exact(layout.x_len());
        if self.columns.goal {
            let gates = rows.flat_map(|x| Goal::of(layout, x).gate(layout, x)).collect();
            return matrix(gates, self.columns.widths()[1], device);
        }
        let Some(code) = self.phase else {
            return matrix(seen(batch, layout, &self.columns.gate), self.columns.gate.len(), device);
        };
        let blends = rows.flat_map(|x| cubic_blend(&x[code..code + 2])).collect();
        matrix(blends, CONTROL_POINTS, device)
    }

    pub fn wanted(&self, batch: &Batch, layout: &FeatureLayout, device: &Device) -> Tensor<2> {
        let columns = self.columns.outputs.len();
        let wanted = matrix(chosen(&batch.y, layout.y_len(), &self.columns.outputs), columns, device);
        let width = self.columns.widths()[2] - columns;
        if width == 0 {
            return wanted;
        }
        let rows = batch.raw_x.chunks_exact(layout.x_len()).zip(batch.y.chunks_exact(layout.y_len()));
        let goals = rows.flat_map(|(x, y)| {
            let mut y = y.to_vec();
            self.y.denormalise(&mut y);
            layout.with_base(x, &mut y, |value, base| *value += base);
            Goal::of(layout, x).wanted(layout, &y)
        });
        Tensor::cat(vec![wanted, matrix(goals.collect(), width, device)], 1)
    }

    pub fn weights(&self, device: &Device) -> Tensor<2> {
        matrix(self.weights.clone(), self.weights.len(), device)
    }

    /// Normalised y of every row.
    pub fn predict(
        &self,
        network: &GatedNetwork,
        batch: &Batch,
        layout: &FeatureLayout,
        device: &Device,
    ) -> Vec<f32> {
        let found =
            network.forward(&self.experts(batch, layout, device), &self.gate(batch, layout, device), None);
        let found = found.try_into_vec_as::<f32>().expect("predictions are floating-point numbers");
        self.rows(&found, batch, layout)
    }

    /// Normalised y of rows of outputs, whose inputs are those of `batch`.
    pub fn rows(&self, found: &[f32], batch: &Batch, layout: &FeatureLayout) -> Vec<f32> {
        let width = self.columns.widths()[2];
        let mut rows = Vec::with_capacity(found.len() / width * self.held.len());
        for (row, x) in found.chunks_exact(width).zip(batch.raw_x.chunks_exact(layout.x_len())) {
            let start = rows.len();
            rows.extend_from_slice(&self.held);
            let y = &mut rows[start..];
            for (&column, value) in self.columns.outputs.iter().zip(row) {
                y[column] = *value;
            }
            if self.columns.goal {
                self.y.denormalise(y);
                layout.with_base(x, y, |value, base| *value += base);
                Goal::of(layout, x).blend(layout, &row[self.columns.outputs.len()..], y);
                layout.with_base(x, y, |value, base| *value -= base);
                self.y.normalise(y);
            }
        }
        rows
    }
}

/// A controller that leads characters.
pub(crate) struct LedView<'a> {
    network: &'a GatedNetwork,
    view: &'a View,
    layout: &'a FeatureLayout,
    device: &'a Device,
    inputs: Tensor<1, Int>,
    /// None where the phase itself, or a goal, is the gate.
    gate: Option<Tensor<1, Int>>,
}

impl<'a> LedView<'a> {
    pub fn new(
        network: &'a GatedNetwork,
        view: &'a View,
        layout: &'a FeatureLayout,
        device: &'a Device,
    ) -> Self {
        let gate = &view.columns.gate;
        Self {
            network,
            view,
            layout,
            device,
            inputs: indices(&view.columns.inputs, device),
            gate: (!gate.is_empty()).then(|| indices(gate, device)),
        }
    }
}

impl Leader for LedView<'_> {
    fn outputs(&self, x: &Tensor<2>, batch: &Batch, _: &mut ChaCha8Rng) -> Tensor<2> {
        let Self { network, view, layout, device, .. } = self;
        let seen = |columns: &Tensor<1, Int>| x.clone().select(1, columns.clone()).clamp(-REACH, REACH);
        let gate = match &self.gate {
            Some(columns) => seen(columns),
            None => view.gate(batch, layout, device),
        };
        let inputs = view.with_goal(seen(&self.inputs), batch, layout, device);
        network.forward(&inputs, &gate, None)
    }

    fn wanted(&self, batch: &Batch) -> Tensor<2> {
        self.view.wanted(batch, self.layout, self.device)
    }

    fn y(&self, outputs: Vec<f32>, batch: &Batch) -> Vec<f32> {
        self.view.rows(&outputs, batch, self.layout)
    }
}

/// Columns of x, within the reach of a network.
fn seen(batch: &Batch, layout: &FeatureLayout, columns: &[usize]) -> Vec<f32> {
    chosen(&batch.x, layout.x_len(), columns).into_iter().map(within_reach).collect()
}

/// Columns of rows.
fn chosen(rows: &[f32], width: usize, columns: &[usize]) -> Vec<f32> {
    rows.chunks_exact(width).flat_map(|row| columns.iter().map(|&column| row[column])).collect()
}
