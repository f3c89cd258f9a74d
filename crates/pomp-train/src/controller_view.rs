//! How the network of a controller sees rows of x and y.

use crate::TrainConfig;
use crate::rows::{Batch, matrix};
use burn::tensor::{Device, Tensor};
use pomp_controllers::ControllerKind;
use pomp_controllers::gated::{
    CONTROL_POINTS, Columns, GatedDescription, GatedNetwork, cubic_blend, within_reach,
};
use pomp_motion::features::{BlockName, FeatureLayout, PAST_KEYS};

/// How a network sees rows of x and y.
pub(crate) struct View {
    pub columns: Columns,
    /// Weight of each of its outputs in the loss.
    weights: Vec<f32>,
    /// Normalised y of a frame in which nothing changes.
    held: Vec<f32>,
    /// Of the code of the present in x, where the phase itself is the gate.
    phase: Option<usize>,
}

impl View {
    pub fn new(kind: ControllerKind, description: &GatedDescription, reading: &TrainConfig) -> Self {
        let columns = description.columns();
        let layout = &description.layout;
        let all = reading.kinematic.loss.per_feature(layout);
        let codes = layout.x_range(BlockName::PhaseCodes).start;
        let y = &description.y;
        Self {
            weights: columns.outputs.iter().map(|&column| all[column]).collect(),
            held: y.mean().iter().zip(y.deviation()).map(|(mean, deviation)| -mean / deviation).collect(),
            phase: (kind == ControllerKind::Pfnn).then_some(codes + PAST_KEYS * 2 * layout.channels()),
            columns,
        }
    }

    /// What goes into the experts.
    pub fn experts(&self, batch: &Batch, layout: &FeatureLayout, device: &Device) -> Tensor<2> {
        matrix(seen(batch, layout, &self.columns.inputs), self.columns.inputs.len(), device)
    }

    /// What the gate reads.
    pub fn gate(&self, batch: &Batch, layout: &FeatureLayout, device: &Device) -> Tensor<2> {
        let Some(code) = self.phase else {
            return matrix(seen(batch, layout, &self.columns.gate), self.columns.gate.len(), device);
        };
        let rows = batch.raw_x.chunks_exact(layout.x_len());
        let blends = rows.flat_map(|x| cubic_blend(&x[code..code + 2])).collect();
        matrix(blends, CONTROL_POINTS, device)
    }

    pub fn wanted(&self, batch: &Batch, layout: &FeatureLayout, device: &Device) -> Tensor<2> {
        matrix(chosen(&batch.y, layout.y_len(), &self.columns.outputs), self.columns.outputs.len(), device)
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
        self.rows(&found)
    }

    /// Normalised y of rows of outputs.
    pub fn rows(&self, found: &[f32]) -> Vec<f32> {
        let rows = found.len() / self.columns.outputs.len();
        let mut y = Vec::with_capacity(rows * self.held.len());
        for row in found.chunks_exact(self.columns.outputs.len()) {
            let start = y.len();
            y.extend_from_slice(&self.held);
            for (&column, value) in self.columns.outputs.iter().zip(row) {
                y[start + column] = *value;
            }
        }
        y
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
