use burn::nn::Linear;
use burn::tensor::Tensor;

use crate::config::Activation;
use crate::error::{KinematicError, check_finite};
use pomp_lanes::{LANES, LaneLoop, Lanes, Wide, exponential};

/// Columns that one accumulator block covers.
const PANEL: usize = 16;
/// Vectors in a panel.
const VECTORS: usize = PANEL / LANES;
/// Panels that a single-row product walks at once, to have enough independent sums in flight.
const PANELS_AT_ONCE: usize = 4;
/// Rows that a multi-row product walks at once, so that each weight read serves four rows.
const ROWS_AT_ONCE: usize = 4;

/// A dense layer as the fast path reads it: panels of 16 output columns, each contiguous over the inputs.
///
/// Outputs are padded with zero weights to a multiple of 64, so no loop has a remainder.
#[derive(Clone, Debug)]
pub(crate) struct PackedLinear {
    inputs: usize,
    padded: usize,
    panels: Vec<f32>,
    bias: Vec<f32>,
}

/// Round up to what [`PackedLinear`] writes.
pub(crate) fn padded(outputs: usize) -> usize {
    outputs.next_multiple_of(PANEL * PANELS_AT_ONCE)
}

/// Round up to the rows that [`PackedLinear::apply_rows`] writes.
pub(crate) fn padded_rows(rows: usize) -> usize {
    rows.next_multiple_of(ROWS_AT_ONCE)
}

impl PackedLinear {
    /// Packs `[in, out]` weights, row-major, and a bias.
    pub(crate) fn pack(
        what: &str,
        weight: &[f32],
        [inputs, outputs]: [usize; 2],
        bias: Option<&[f32]>,
    ) -> Result<Self, KinematicError> {
        check_finite(what, outputs, weight)?;
        let padded = padded(outputs);
        let mut panels = vec![0.0; inputs * padded];
        let filled = outputs.div_ceil(PANEL);
        for (panel, cells) in panels.chunks_exact_mut(inputs * PANEL).take(filled).enumerate() {
            let columns = (outputs - panel * PANEL).min(PANEL);
            for (row, lane) in cells.chunks_exact_mut(PANEL).enumerate() {
                let first = row * outputs + panel * PANEL;
                lane[..columns].copy_from_slice(&weight[first..first + columns]);
            }
        }
        let mut padded_bias = vec![0.0; padded];
        if let Some(bias) = bias {
            check_finite(&format!("the bias of {what}"), outputs, bias)?;
            padded_bias[..outputs].copy_from_slice(bias);
        }
        Ok(Self { inputs, padded, panels, bias: padded_bias })
    }

    /// Packs a layer of a burn module.
    pub(crate) fn from_linear(what: &str, layer: &Linear) -> Result<Self, KinematicError> {
        let weight = layer.weight.val();
        let bias = layer.bias.as_ref().map(|bias| values(bias.val()));
        Self::pack(what, &values(weight.clone()), weight.dims(), bias.as_deref())
    }

    /// Length of an input row.
    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Length of an output row, padding included.
    pub(crate) fn padded(&self) -> usize {
        self.padded
    }

    /// out = x W + b for one row. Columns past the layer's outputs are written as zeros.
    pub(crate) fn apply(&self, lanes: Lanes, x: &[f32], out: &mut [f32]) {
        let x = &x[..self.inputs];
        let out = &mut out[..self.padded];
        lanes.run(OneRow { layer: self, x, out });
    }

    /// As [`Self::apply`] for `rows` rows that lie `x_stride` and `out_stride` apart. Rows are computed in
    /// fours: up to the next multiple of four is read and written.
    pub(crate) fn apply_rows(
        &self,
        lanes: Lanes,
        rows: usize,
        (x, x_stride): (&[f32], usize),
        (out, out_stride): (&mut [f32], usize),
    ) {
        lanes.run(ManyRows { layer: self, rows, x, x_stride, out, out_stride });
    }
}

/// The values of a tensor on the host.
pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

struct OneRow<'a> {
    layer: &'a PackedLinear,
    x: &'a [f32],
    out: &'a mut [f32],
}

impl LaneLoop for OneRow<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self { layer, x, out } = self;
        let panel = layer.inputs * PANEL;
        let groups = layer.panels.chunks_exact(panel * PANELS_AT_ONCE);
        let outs = out.chunks_exact_mut(PANEL * PANELS_AT_ONCE);
        let biases = layer.bias.chunks_exact(PANEL * PANELS_AT_ONCE);
        for ((group, out), bias) in groups.zip(outs).zip(biases) {
            let (first, second) = group.split_at(panel * 2);
            let ((w0, w1), (w2, w3)) = (first.split_at(panel), second.split_at(panel));
            let mut sums = [[wide.splat(0.0); VECTORS]; PANELS_AT_ONCE];
            let weights = lanes(w0).iter().zip(lanes(w1)).zip(lanes(w2).iter().zip(lanes(w3)));
            for (((w0, w1), (w2, w3)), &x) in weights.zip(x) {
                let x = wide.splat(x);
                for (sums, w) in sums.iter_mut().zip([w0, w1, w2, w3]) {
                    let w = load(wide, w);
                    for (sum, w) in sums.iter_mut().zip(w) {
                        *sum = wide.multiply_add(w, x, *sum);
                    }
                }
            }
            for ((out, bias), sums) in lanes_mut(out).iter_mut().zip(lanes(bias)).zip(sums) {
                finish(wide, out, bias, sums);
            }
        }
    }
}

/// The panels of a slice, as vectors.
#[inline(always)]
fn lanes(values: &[f32]) -> &[[[f32; LANES]; VECTORS]] {
    values.as_chunks().0.as_chunks().0
}

/// The panels of a slice, as vectors.
#[inline(always)]
fn lanes_mut(values: &mut [f32]) -> &mut [[[f32; LANES]; VECTORS]] {
    values.as_chunks_mut().0.as_chunks_mut().0
}

#[inline(always)]
fn load<W: Wide>(wide: W, panel: &[[f32; LANES]; VECTORS]) -> [W::Vector; VECTORS] {
    panel.each_ref().map(|vector| wide.load(vector))
}

#[inline(always)]
fn finish<W: Wide>(
    wide: W,
    out: &mut [[f32; LANES]; VECTORS],
    bias: &[[f32; LANES]; VECTORS],
    sums: [W::Vector; VECTORS],
) {
    let sums = sums.map(|sum| wide.store(sum));
    for ((out, bias), sum) in
        out.as_flattened_mut().iter_mut().zip(bias.as_flattened()).zip(sums.as_flattened())
    {
        *out = bias + sum;
    }
}

struct ManyRows<'a> {
    layer: &'a PackedLinear,
    rows: usize,
    x: &'a [f32],
    x_stride: usize,
    out: &'a mut [f32],
    out_stride: usize,
}

impl LaneLoop for ManyRows<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self { layer, rows, x, x_stride, out, out_stride } = self;
        let panels = layer.panels.chunks_exact(layer.inputs * PANEL);
        for ((index, panel), bias) in panels.enumerate().zip(lanes(&layer.bias)) {
            for first in (0..rows).step_by(ROWS_AT_ONCE) {
                let row = |row: usize| &x[(first + row) * x_stride..][..layer.inputs];
                let inputs = row(0).iter().zip(row(1)).zip(row(2).iter().zip(row(3)));
                let mut sums = [[wide.splat(0.0); VECTORS]; ROWS_AT_ONCE];
                for (w, ((&x0, &x1), (&x2, &x3))) in lanes(panel).iter().zip(inputs) {
                    let w = load(wide, w);
                    for (sums, x) in sums.iter_mut().zip([x0, x1, x2, x3]) {
                        let x = wide.splat(x);
                        for (sum, w) in sums.iter_mut().zip(w) {
                            *sum = wide.multiply_add(w, x, *sum);
                        }
                    }
                }
                for (row, sums) in sums.into_iter().enumerate() {
                    let out = &mut out[(first + row) * out_stride + index * PANEL..][..PANEL];
                    for out in lanes_mut(out) {
                        finish(wide, out, bias, sums);
                    }
                }
            }
        }
    }
}

/// Applies a nonlinearity in place.
pub(crate) fn activate(lanes: Lanes, activation: Activation, values: &mut [f32]) {
    lanes.run(Activate { activation, values });
}

struct Activate<'a> {
    activation: Activation,
    values: &'a mut [f32],
}

impl LaneLoop for Activate<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        match self.activation {
            Activation::Elu => {
                for value in self.values {
                    let below = exponential::<W>(value.min(0.0)) - 1.0;
                    *value = if *value > 0.0 { *value } else { below };
                }
            }
            Activation::Silu => {
                for value in self.values {
                    *value /= 1.0 + exponential::<W>(-*value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(weight: &[f32], [inputs, outputs]: [usize; 2], bias: &[f32], x: &[f32]) -> Vec<f64> {
        let column = |c: usize| {
            let products = (0..inputs).map(|i| f64::from(x[i]) * f64::from(weight[i * outputs + c]));
            products.sum::<f64>() + f64::from(bias[c])
        };
        (0..outputs).map(column).collect()
    }

    fn ramp(count: usize, seed: f32) -> Vec<f32> {
        (0..count).map(|i| ((i as f32 + seed) * 0.731).sin()).collect()
    }

    #[test]
    fn packed_products_match_the_definition_at_awkward_sizes_on_every_instruction_set() {
        for lanes in [Lanes::detect(), Lanes::Baseline] {
            for shape in [[1, 1], [3, 17], [130, 64], [67, 100], [200, 129]] {
                let [inputs, outputs] = shape;
                let (weight, bias) = (ramp(inputs * outputs, 0.3), ramp(outputs, 1.7));
                let layer = PackedLinear::pack("test", &weight, shape, Some(&bias)).unwrap();
                for rows in [1usize, 2, 4, 7, 8] {
                    let x = ramp(padded_rows(rows) * inputs, 0.9);
                    let mut out = vec![f32::NAN; padded_rows(rows) * layer.padded()];
                    let stride = layer.padded();
                    layer.apply_rows(lanes, rows, (&x, inputs), (&mut out, stride));
                    let mut single = vec![f32::NAN; layer.padded()];
                    for row in 0..rows {
                        let x = &x[row * inputs..(row + 1) * inputs];
                        layer.apply(lanes, x, &mut single);
                        for (column, expected) in reference(&weight, shape, &bias, x).iter().enumerate() {
                            let many = f64::from(out[row * stride + column]);
                            let one = f64::from(single[column]);
                            assert!((many - expected).abs() < 2e-5, "{shape:?} {row} {column}");
                            assert!((one - expected).abs() < 2e-5, "{shape:?} {row} {column}");
                        }
                        assert!(single[outputs..].iter().all(|padding| *padding == 0.0));
                    }
                }
            }
        }
    }

    #[test]
    fn rejects_a_weight_that_is_not_finite() {
        let found = PackedLinear::pack("the gate", &[0.0, f32::NAN, 0.0, 0.0], [2, 2], None);
        assert!(matches!(found, Err(KinematicError::NotFinite { row: 0, column: 1, .. })));
    }
}
