//! Dense layers as one frame at a time reads them.

use crate::{LaneLoop, Lanes, SIXTEEN, Wide, Work, short};

/// Panels that a single-row product walks at once, to have enough independent sums in flight.
const PANELS_AT_ONCE: usize = 4;
/// The same where there are registers for more.
const MORE_PANELS: usize = 8;
/// Inputs of a panel that are widened at once: with sixteen outputs 16 kB, half of the smallest first-level cache.
pub const BLOCK_INPUTS: usize = 256;
/// Rows that take turns at a panel's block: few enough that they stay in the second-level cache from panel to panel.
const MOST_ROWS: usize = 96;

/// A dense layer as the fast path reads it: panels of 16 output columns, each contiguous over the inputs.
///
/// Outputs are padded with zero weights to a multiple of 64, so no loop has a remainder. Weights that lose nothing by it,
/// which are those of a model's file, are held in sixteen bits: a frame reads every weight of a large network from memory,
/// and waits for it. Results are the same bytes either way, for inputs below 2²⁶; beyond, sixteen bits make them infinite.
#[derive(Clone, Debug)]
pub struct PackedLinear {
    inputs: usize,
    padded: usize,
    panels: Panels,
    bias: Vec<f32>,
}

#[derive(Clone, Debug)]
enum Panels {
    Single(Vec<f32>),
    Short(Vec<u16>),
}

/// A weight as it lies in memory.
trait Stored: Copy {
    /// What the other factor of a product is multiplied by.
    fn scale<W: Wide>() -> f32;
    /// Sixteen weights, divided by [`Self::scale`].
    fn sixteen<W: Wide>(wide: W, weights: &[Self; SIXTEEN]) -> W::Sixteen;
    /// The weights divided by [`Self::scale`], in `block` where they have to be widened.
    fn widened<'a, W: Wide>(
        wide: W,
        weights: &'a [[Self; SIXTEEN]],
        block: &'a mut [[f32; SIXTEEN]],
    ) -> &'a [[f32; SIXTEEN]];
}

impl Stored for f32 {
    #[inline(always)]
    fn scale<W: Wide>() -> f32 {
        1.0
    }

    #[inline(always)]
    fn sixteen<W: Wide>(wide: W, weights: &[Self; SIXTEEN]) -> W::Sixteen {
        wide.load_sixteen(weights)
    }

    #[inline(always)]
    fn widened<'a, W: Wide>(
        _: W,
        weights: &'a [[Self; SIXTEEN]],
        _: &'a mut [[f32; SIXTEEN]],
    ) -> &'a [[f32; SIXTEEN]] {
        weights
    }
}

impl Stored for u16 {
    #[inline(always)]
    fn scale<W: Wide>() -> f32 {
        W::SHORT_SCALE
    }

    #[inline(always)]
    fn sixteen<W: Wide>(wide: W, weights: &[Self; SIXTEEN]) -> W::Sixteen {
        wide.widen(weights)
    }

    #[inline(always)]
    fn widened<'a, W: Wide>(
        wide: W,
        weights: &'a [[Self; SIXTEEN]],
        block: &'a mut [[f32; SIXTEEN]],
    ) -> &'a [[f32; SIXTEEN]] {
        let block = &mut block[..weights.len()];
        for (cells, codes) in block.iter_mut().zip(weights) {
            *cells = wide.store_sixteen(wide.widen(codes));
        }
        block
    }
}

/// A number of a layer that is NaN or infinite, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite {
    /// Which part of the layer.
    pub part: NotFinitePart,
    /// Row (input), from 0.
    pub row: usize,
    /// Column (output), from 0.
    pub column: usize,
}

/// A part of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFinitePart {
    /// Its weights.
    Weights,
    /// Its bias.
    Bias,
}

fn check(part: NotFinitePart, columns: usize, values: &[f32]) -> Result<(), NotFinite> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(NotFinite { part, row: index / columns.max(1), column: index % columns.max(1) }),
    }
}

/// Round up to what [`PackedLinear`] writes.
pub fn padded(outputs: usize) -> usize {
    outputs.next_multiple_of(SIXTEEN * PANELS_AT_ONCE)
}

/// Values from one row to the next where many are computed: no multiple of a page, whose rows would share few cache sets.
pub fn row_stride(width: usize) -> usize {
    padded(width) + SIXTEEN
}

/// What [`PackedLinear::apply_rows`] works in.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// A block of widened weights.
    block: Vec<[f32; SIXTEEN]>,
    /// Inputs of up to [`MOST_ROWS`] rows in the order in which they are read: `[group of rows][input][row of the group]`.
    rows: Vec<f32>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Without rows yet.
    pub fn new() -> Self {
        Self { block: vec![[0.0; SIXTEEN]; BLOCK_INPUTS], rows: Vec::new() }
    }
}

impl PackedLinear {
    /// Packs `[in, out]` weights, row-major, and a bias.
    ///
    /// # Errors
    /// A weight, or a number of the bias, that is not finite.
    ///
    /// # Panics
    /// When there are fewer weights, or numbers in the bias, than the layer has.
    pub fn pack(
        weight: &[f32],
        [inputs, outputs]: [usize; 2],
        bias: Option<&[f32]>,
    ) -> Result<Self, NotFinite> {
        check(NotFinitePart::Weights, outputs, weight)?;
        let padded = padded(outputs);
        let mut panels = vec![0.0; inputs * padded];
        let filled = outputs.div_ceil(SIXTEEN);
        for (panel, cells) in panels.chunks_exact_mut(inputs * SIXTEEN).take(filled).enumerate() {
            let columns = (outputs - panel * SIXTEEN).min(SIXTEEN);
            for (row, lane) in cells.chunks_exact_mut(SIXTEEN).enumerate() {
                let first = row * outputs + panel * SIXTEEN;
                lane[..columns].copy_from_slice(&weight[first..first + columns]);
            }
        }
        let codes: Option<Vec<u16>> = panels.iter().map(|&weight| short(weight)).collect();
        let panels = codes.map_or(Panels::Single(panels), Panels::Short);
        let mut padded_bias = vec![0.0; padded];
        if let Some(bias) = bias {
            check(NotFinitePart::Bias, outputs, bias)?;
            padded_bias[..outputs].copy_from_slice(bias);
        }
        Ok(Self { inputs, padded, panels, bias: padded_bias })
    }

    /// Length of an input row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Length of an output row, padding included.
    pub fn padded(&self) -> usize {
        self.padded
    }

    /// What [`Self::apply_rows`] costs for so many rows.
    pub fn work(&self, rows: usize) -> Work {
        let weights = (self.inputs * self.padded) as u64;
        let bytes = match self.panels {
            Panels::Single(_) => size_of::<f32>(),
            Panels::Short(_) => size_of::<u16>(),
        };
        let reads = rows.div_ceil(MOST_ROWS) as u64;
        Work { multiply_adds: rows as u64 * weights, weight_bytes: reads * weights * bytes as u64 }
    }

    /// out = x W + b for one row. Columns past the layer's outputs are written as zeros.
    pub fn apply(&self, lanes: Lanes, x: &[f32], out: &mut [f32]) {
        let x = &x[..self.inputs];
        let (out, bias) = (&mut out[..self.padded], self.bias.as_slice());
        match &self.panels {
            Panels::Single(panels) => lanes.run(OneRow { panels, bias, x, out }),
            Panels::Short(panels) => lanes.run(OneRow { panels, bias, x, out }),
        }
    }

    /// As [`Self::apply`] for `rows` rows that lie `x_stride` and `out_stride` apart, with the same bytes. Every weight is
    /// read, and widened, once for up to 96 rows.
    pub fn apply_rows(
        &self,
        lanes: Lanes,
        rows: usize,
        (x, x_stride): (&[f32], usize),
        (out, out_stride): (&mut [f32], usize),
        scratch: &mut Scratch,
    ) {
        if rows == 1 {
            return self.apply(lanes, x, out);
        }
        let (inputs, bias) = (self.inputs, self.bias.as_slice());
        let Scratch { block, rows: packed } = scratch;
        if packed.len() < rows.min(MOST_ROWS) * inputs {
            packed.resize(rows.min(MOST_ROWS) * inputs, 0.0);
        }
        for first in (0..rows).step_by(MOST_ROWS) {
            let rows = (rows - first).min(MOST_ROWS);
            let (x, out) = (&x[first * x_stride..], &mut out[first * out_stride..]);
            match &self.panels {
                Panels::Single(panels) => {
                    lanes.run(ManyRows {
                        panels,
                        bias,
                        inputs,
                        rows,
                        x,
                        x_stride,
                        packed,
                        out,
                        out_stride,
                        block,
                    });
                }
                Panels::Short(panels) => {
                    lanes.run(ManyRows {
                        panels,
                        bias,
                        inputs,
                        rows,
                        x,
                        x_stride,
                        packed,
                        out,
                        out_stride,
                        block,
                    });
                }
            }
        }
    }
}

struct OneRow<'a, T> {
    panels: &'a [T],
    bias: &'a [f32],
    x: &'a [f32],
    out: &'a mut [f32],
}

impl<T: Stored> LaneLoop for OneRow<'_, T> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let (wide, mut rest) = (wide.once(), self);
        if W::Once::SUMS >= MORE_PANELS {
            rest = rest.walk::<W::Once, MORE_PANELS>(wide);
        }
        rest.walk::<W::Once, PANELS_AT_ONCE>(wide);
    }
}

impl<T: Stored> OneRow<'_, T> {
    /// Computes as many outputs as come in groups of so many panels; what is left comes back.
    #[inline(always)]
    fn walk<W: Wide, const GROUP: usize>(self, wide: W) -> Self {
        let Self { panels, bias, x, out } = self;
        let panel = x.len() * SIXTEEN;
        let walked = out.len() / (GROUP * SIXTEEN);
        let (walked_panels, panels) = panels.split_at(walked * GROUP * panel);
        let (walked_out, out) = out.split_at_mut(walked * GROUP * SIXTEEN);
        let (walked_bias, bias) = bias.split_at(walked * GROUP * SIXTEEN);
        let groups = walked_panels.chunks_exact(panel * GROUP);
        let outs = walked_out.as_chunks_mut::<SIXTEEN>().0.as_chunks_mut::<GROUP>().0;
        let biases = walked_bias.as_chunks::<SIXTEEN>().0.as_chunks::<GROUP>().0;
        for ((group, out), bias) in groups.zip(outs).zip(biases) {
            let weights: [&[[T; SIXTEEN]]; GROUP] =
                std::array::from_fn(|index| &group[index * panel..][..panel].as_chunks().0[..x.len()]);
            let mut sums = [wide.splat_sixteen(0.0); GROUP];
            for (input, &x) in x.iter().enumerate() {
                let x = wide.splat_sixteen(x * T::scale::<W>());
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = wide.multiply_add_sixteen(T::sixteen(wide, &weights[input]), x, *sum);
                }
            }
            for ((out, bias), sum) in out.iter_mut().zip(bias).zip(sums) {
                finish(wide, out, bias, sum);
            }
        }
        Self { panels, bias, x, out }
    }
}

#[inline(always)]
fn finish<W: Wide>(wide: W, out: &mut [f32; SIXTEEN], bias: &[f32; SIXTEEN], sum: W::Sixteen) {
    let one = wide.splat_sixteen(1.0);
    *out = wide.store_sixteen(wide.multiply_add_sixteen(sum, one, wide.load_sixteen(bias)));
}

struct ManyRows<'a, T> {
    panels: &'a [T],
    bias: &'a [f32],
    inputs: usize,
    rows: usize,
    x: &'a [f32],
    x_stride: usize,
    packed: &'a mut [f32],
    out: &'a mut [f32],
    out_stride: usize,
    block: &'a mut [[f32; SIXTEEN]],
}

impl<T: Stored> LaneLoop for ManyRows<'_, T> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self { panels, bias, inputs, rows, x, x_stride, packed, out, out_stride, block } = self;
        // Groups of one size but for one row: none is left with too few sums in flight.
        let groups = || {
            let mut first = 0;
            std::iter::from_fn(move || {
                let left = rows - first;
                let group = (left > 0).then(|| (first, left.div_ceil(left.div_ceil(W::ROWS))));
                first += group.map_or(0, |(_, rows)| rows);
                group
            })
        };
        let scale = T::scale::<W>();
        for (first, group) in groups() {
            let cells = &mut packed[first * inputs..][..group * inputs];
            for row in 0..group {
                let x = &x[(first + row) * x_stride..][..inputs];
                cells[row..].iter_mut().step_by(group).zip(x).for_each(|(cell, x)| *cell = scale * *x);
            }
        }
        let panels = panels.chunks_exact(inputs * SIXTEEN);
        // A single group uses each weight once, so that it is widened where it is used.
        if rows <= W::ROWS {
            let x = &packed[..rows * inputs];
            for (column, (panel, bias)) in panels.zip(bias.as_chunks().0).enumerate() {
                let out = (&mut out[column * SIXTEEN..], out_stride);
                let weights = panel.as_chunks().0;
                Product { weights, bias: Some(bias), begins: true, x, out }.run(wide, rows);
            }
            return;
        }
        for (column, (panel, bias)) in panels.zip(bias.as_chunks().0).enumerate() {
            let blocks = panel.as_chunks::<SIXTEEN>().0.chunks(BLOCK_INPUTS);
            for (index, weights) in blocks.enumerate() {
                let input = index * BLOCK_INPUTS;
                let begins = input == 0;
                let bias = (input + weights.len() == inputs).then_some(bias);
                let weights = T::widened(wide.once(), weights, block);
                for (first, group) in groups() {
                    let x = &packed[first * inputs + input * group..][..weights.len() * group];
                    let out = (&mut out[first * out_stride + column * SIXTEEN..], out_stride);
                    Product { weights, bias, begins, x, out }.run(wide, group);
                }
            }
        }
    }
}

/// Sixteen outputs of a group of rows, over a block of the inputs.
struct Product<'a, T> {
    weights: &'a [[T; SIXTEEN]],
    /// Of the last block alone.
    bias: Option<&'a [f32; SIXTEEN]>,
    /// Whether this is the first block; others go on with the sums that lie in `out`.
    begins: bool,
    /// `[input][row]`, times the scale of the weights.
    x: &'a [f32],
    /// From the first row's first output on, and the distance of rows.
    out: (&'a mut [f32], usize),
}

impl<T: Stored> Product<'_, T> {
    /// For a group of so many rows, at most eight.
    #[inline(always)]
    fn run<W: Wide>(self, wide: W, rows: usize) {
        match rows {
            1 => self.rows::<W, 1>(wide),
            2 => self.rows::<W, 2>(wide),
            3 => self.rows::<W, 3>(wide),
            4 => self.rows::<W, 4>(wide),
            5 => self.rows::<W, 5>(wide),
            6 => self.rows::<W, 6>(wide),
            7 => self.rows::<W, 7>(wide),
            _ => self.rows::<W, 8>(wide),
        }
    }

    #[inline(always)]
    fn rows<W: Wide, const ROWS: usize>(self, wide: W) {
        let Self { weights, bias, begins, x, out: (out, out_stride) } = self;
        let mut sums: [W::Sixteen; ROWS] = if begins {
            [wide.splat_sixteen(0.0); ROWS]
        } else {
            std::array::from_fn(|row| wide.load_sixteen(&out[row * out_stride..].as_chunks().0[0]))
        };
        for (weights, x) in weights.iter().zip(x.as_chunks::<ROWS>().0) {
            let weights = T::sixteen(wide, weights);
            for (sum, x) in sums.iter_mut().zip(x) {
                *sum = wide.multiply_add_sixteen(weights, wide.splat_sixteen(*x), *sum);
            }
        }
        for (row, sum) in sums.into_iter().enumerate() {
            let out = &mut out[row * out_stride..].as_chunks_mut().0[0];
            match bias {
                Some(bias) => finish(wide, out, bias, sum),
                None => *out = wide.store_sixteen(sum),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Portable;

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
        for lanes in Lanes::all() {
            for shape in [[1, 1], [3, 17], [130, 64], [67, 100], [600, 129]] {
                let [inputs, outputs] = shape;
                let (weight, bias) = (ramp(inputs * outputs, 0.3), ramp(outputs, 1.7));
                let layer = PackedLinear::pack(&weight, shape, Some(&bias)).unwrap();
                for rows in [1, 2, 4, 7, 8, MOST_ROWS + 3] {
                    let (x_stride, stride) = (inputs + 3, row_stride(outputs));
                    let x = ramp(rows * x_stride, 0.9);
                    let mut out = vec![f32::NAN; rows * stride];
                    let (rows_of_x, rows_of_out) = ((&x[..], x_stride), (&mut out[..], stride));
                    layer.apply_rows(lanes, rows, rows_of_x, rows_of_out, &mut Scratch::new());
                    let mut single = vec![f32::NAN; layer.padded()];
                    for row in 0..rows {
                        let x = &x[row * x_stride..][..inputs];
                        layer.apply(lanes, x, &mut single);
                        assert_eq!(out[row * stride..][..single.len()], single, "{lanes:?} {shape:?} {row}");
                        for (one, expected) in single.iter().zip(reference(&weight, shape, &bias, x)) {
                            assert!((f64::from(*one) - expected).abs() < 4e-5, "{shape:?} {row}");
                        }
                        assert!(single[outputs..].iter().all(|padding| *padding == 0.0));
                    }
                }
            }
        }
    }

    #[test]
    fn weights_held_in_sixteen_bits_give_the_same_bytes_on_every_instruction_set() {
        for lanes in Lanes::all() {
            for [inputs, outputs] in [[1, 1], [67, 100], [600, 513]] {
                // Some of them zero, some so small that half precision has no normal number for them.
                let sizes = [0.0, 1.0, 63.0, 1e-5];
                let weight: Vec<f32> = ramp(inputs * outputs, 0.3)
                    .iter()
                    .zip(sizes.iter().cycle())
                    .map(|(value, size)| f32::from_bits((value * size).to_bits() & 0xFFFF_E000))
                    .map(|value| if value.abs() < 1e-7 { 0.0 } else { value })
                    .collect();
                let short = PackedLinear::pack(&weight, [inputs, outputs], None).unwrap();
                let Panels::Short(codes) = &short.panels else { panic!("no weight has too many digits") };
                let mut single = short.clone();
                single.panels = Panels::Single(
                    codes
                        .iter()
                        .map(|&code| Portable.widen(&[code; 16])[0] * Portable::SHORT_SCALE)
                        .collect(),
                );
                let stride = short.padded();
                for rows in [1usize, 4, 5, 8] {
                    let x = ramp(rows * inputs, 0.9);
                    let run = |layer: &PackedLinear| {
                        let mut out = vec![0.0; rows * stride];
                        layer.apply_rows(lanes, rows, (&x, inputs), (&mut out, stride), &mut Scratch::new());
                        let mut one = vec![0.0; stride];
                        layer.apply(lanes, &x, &mut one);
                        assert_eq!(out[..stride], one);
                        out
                    };
                    assert_eq!(run(&short), run(&single), "{lanes:?} {inputs} {outputs} {rows}");
                }
            }
        }
    }

    #[test]
    fn more_panels_and_rows_at_once_give_the_same_bytes_also_where_no_instruction_set_takes_them() {
        let (inputs, outputs, rows) = (BLOCK_INPUTS + 11, 513, 8);
        let (weight, bias) = (ramp(inputs * outputs, 0.3), ramp(outputs, 1.7));
        let layer = PackedLinear::pack(&weight, [inputs, outputs], Some(&bias)).unwrap();
        let Panels::Single(panels) = &layer.panels else { panic!("the weights have many digits") };
        let (x, bias, stride) = (ramp(rows * inputs, 0.9), layer.bias.as_slice(), layer.padded());
        let mut expected = vec![0.0; rows * stride];
        for (x, out) in x.chunks_exact(inputs).zip(expected.chunks_exact_mut(stride)) {
            layer.apply(Lanes::Baseline, x, out);
            let mut found = vec![f32::NAN; stride];
            let one = OneRow { panels, bias, x, out: &mut found };
            let rest = one.walk::<Portable, MORE_PANELS>(Portable);
            assert_eq!(rest.out.len(), SIXTEEN * PANELS_AT_ONCE);
            rest.walk::<Portable, PANELS_AT_ONCE>(Portable);
            assert_eq!(found, out);
        }
        let mut found = vec![f32::NAN; rows * stride];
        let packed: Vec<f32> = (0..inputs * rows).map(|at| x[at % rows * inputs + at / rows]).collect();
        for (column, bias) in bias.as_chunks().0.iter().enumerate() {
            let panel = &panels.as_chunks::<SIXTEEN>().0[column * inputs..][..inputs];
            let (begun, rest) = panel.split_at(BLOCK_INPUTS);
            for (weights, bias, begins, input) in
                [(begun, None, true, 0), (rest, Some(bias), false, BLOCK_INPUTS)]
            {
                let out = (&mut found[column * SIXTEEN..], stride);
                Product { weights, bias, begins, x: &packed[input * rows..], out }.rows::<_, 8>(Portable);
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn rejects_a_weight_that_is_not_finite() {
        let found = PackedLinear::pack(&[0.0, f32::NAN, 0.0, 0.0], [2, 2], None);
        assert!(matches!(found, Err(NotFinite { part: NotFinitePart::Weights, row: 0, column: 1 })));
    }
}
