//! Dense layers as one frame at a time reads them.

use crate::bfloat16::pair;
use crate::products::{MOST_ROWS, ManyRows, OneRow, PANELS_AT_ONCE, Scratch, Shape};
use crate::tiled;
use crate::{Lanes, SIXTEEN, Work, short};
use pomp_bfloat16::Tile;

/// With which numbers a layer multiplies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Weights and inputs as they are, of 32 bits.
    #[default]
    Float32,
    /// Weights and inputs rounded to bfloat16, eight binary digits; products are added up in 32 bits. A processor with instructions for
    /// pairs of them makes twice as many products at a time.
    Bfloat16,
    /// As [`Self::Bfloat16`], added up in the order of AMX, which multiplies sixteen rows at a time.
    Bfloat16Tiles,
}

/// A dense layer as the fast path reads it: panels of 16 output columns, each contiguous over the inputs.
///
/// Outputs are padded with zero weights to a multiple of 64, so no loop has a remainder. Weights that lose nothing by it,
/// which are those of a model's file, are held in sixteen bits: a frame reads every weight of a large network from memory,
/// and waits for it. Results are the same bytes either way, for inputs below 2²⁶; beyond, sixteen bits make them infinite.
///
/// In [`Precision::Bfloat16`] and [`Precision::Bfloat16Tiles`] weights and inputs are rounded. Results are the same bytes on all sets of
/// instructions that fuse products with sums, except for sums below 2⁻¹²⁶ in size, which some of them make zero.
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
    /// Weights of two inputs that follow each other.
    Pairs(Vec<u32>),
    /// The same of sixteen such pairs for sixteen outputs.
    Tiles(Vec<Tile>),
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

impl PackedLinear {
    /// Packs `[in, out]` weights, row-major, and a bias for products in `precision`.
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
        precision: Precision,
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
        let panels = match precision {
            Precision::Float32 => {
                let codes: Option<Vec<u16>> = panels.iter().map(|&weight| short(weight)).collect();
                codes.map_or(Panels::Single(panels), Panels::Short)
            }
            Precision::Bfloat16 => {
                let of_panel = |panel: &[f32]| -> Vec<u32> {
                    let pairs = panel.chunks(2 * SIXTEEN);
                    let lane = |pair: &[f32], at: usize| pair.get(at).copied().unwrap_or(0.0);
                    let pairs = pairs.flat_map(|inputs| {
                        (0..SIXTEEN).map(move |at| pair(lane(inputs, at), lane(inputs, SIXTEEN + at)))
                    });
                    pairs.collect()
                };
                Panels::Pairs(panels.chunks(inputs.max(1) * SIXTEEN).flat_map(of_panel).collect())
            }
            Precision::Bfloat16Tiles => Panels::Tiles(tiled::tiles(&panels, inputs)),
        };
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
            Panels::Short(_) | Panels::Pairs(_) | Panels::Tiles(_) => size_of::<u16>(),
        };
        let reads = rows.div_ceil(MOST_ROWS) as u64;
        Work { multiply_adds: rows as u64 * weights, weight_bytes: reads * weights * bytes as u64 }
    }

    /// out = x W + b for one row. Columns past the layer's outputs are written as zeros.
    ///
    /// In [`Precision::Bfloat16Tiles`] it makes a scratch of its own; [`Self::apply_rows`] takes one.
    pub fn apply(&self, lanes: Lanes, x: &[f32], out: &mut [f32]) {
        let x = &x[..self.inputs];
        let (out, bias) = (&mut out[..self.padded], self.bias.as_slice());
        match &self.panels {
            Panels::Single(panels) => lanes.run(OneRow { panels, bias, x, out }),
            Panels::Short(panels) => lanes.run(OneRow { panels, bias, x, out }),
            Panels::Pairs(panels) => lanes.run(OneRow { panels, bias, x, out }),
            Panels::Tiles(panels) => {
                let shape = self.shape(1, self.inputs, self.padded);
                tiled::apply_rows(lanes, panels, shape, x, out, &mut Scratch::new());
            }
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
        if rows == 1 && !matches!(self.panels, Panels::Tiles(_)) {
            return self.apply(lanes, x, out);
        }
        for first in (0..rows).step_by(MOST_ROWS) {
            let rows = (rows - first).min(MOST_ROWS);
            let (x, out) = (&x[first * x_stride..], &mut out[first * out_stride..]);
            let shape = self.shape(rows, x_stride, out_stride);
            match &self.panels {
                Panels::Single(panels) => lanes.run(ManyRows { panels, shape, x, out, scratch }),
                Panels::Short(panels) => lanes.run(ManyRows { panels, shape, x, out, scratch }),
                Panels::Pairs(panels) => lanes.run(ManyRows { panels, shape, x, out, scratch }),
                Panels::Tiles(panels) => tiled::apply_rows(lanes, panels, shape, x, out, scratch),
            }
        }
    }

    fn shape(&self, rows: usize, x_stride: usize, out_stride: usize) -> Shape<'_> {
        Shape { bias: &self.bias, inputs: self.inputs, rows, x_stride, out_stride }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::products::{BLOCK_INPUTS, MORE_PANELS, Product};
    use crate::{Portable, Wide};

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
                let layer = PackedLinear::pack(&weight, shape, Some(&bias), Precision::Float32).unwrap();
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
    fn in_bfloat16_both_factors_are_rounded_and_all_that_fuse_give_the_same_bytes() {
        let rounded = |value: &f32| crate::bfloat16::halves(pair(*value, 0.0))[0];
        let shapes = [[1, 1], [2, 17], [67, 100], [600, 129], [2 * BLOCK_INPUTS + 1, 64]];
        for (precision, shape) in
            [Precision::Bfloat16, Precision::Bfloat16Tiles].into_iter().flat_map(|p| shapes.map(|s| (p, s)))
        {
            let [inputs, outputs] = shape;
            let (weight, bias) = (ramp(inputs * outputs, 0.3), ramp(outputs, 1.7));
            let layer = PackedLinear::pack(&weight, shape, Some(&bias), precision).unwrap();
            let weight: Vec<f32> = weight.iter().map(rounded).collect();
            let mut fused: Option<Vec<f32>> = None;
            for lanes in Lanes::all() {
                for rows in [1, 2, 4, 7, 8, 19, MOST_ROWS + 3] {
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
                        let x: Vec<f32> = x.iter().map(rounded).collect();
                        for (one, expected) in single.iter().zip(reference(&weight, shape, &bias, &x)) {
                            assert!((f64::from(*one) - expected).abs() < 4e-5, "{shape:?} {row}");
                        }
                        assert!(single[outputs..].iter().all(|padding| *padding == 0.0));
                    }
                    if lanes.fused() && rows == MOST_ROWS + 3 {
                        out.retain(|value| !value.is_nan());
                        assert_eq!(*fused.get_or_insert_with(|| out.clone()), out, "{lanes:?} {shape:?}");
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
                let short = PackedLinear::pack(&weight, [inputs, outputs], None, Precision::Float32).unwrap();
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
        let layer = PackedLinear::pack(&weight, [inputs, outputs], Some(&bias), Precision::Float32).unwrap();
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
        let packed: Vec<u32> =
            (0..inputs * rows).map(|at| x[at % rows * inputs + at / rows].to_bits()).collect();
        for (column, bias) in bias.as_chunks().0.iter().enumerate() {
            let panel = &panels.as_chunks::<SIXTEEN>().0[column * inputs..][..inputs];
            let (begun, rest) = panel.split_at(BLOCK_INPUTS);
            for (weights, bias, begins, input) in
                [(begun, None, true, 0), (rest, Some(&[*bias]), false, BLOCK_INPUTS)]
            {
                let out = (&mut found[column * SIXTEEN..], stride);
                let weights = [weights];
                let x = &packed[input * rows..][..weights[0].len() * rows];
                Product { weights, bias, begins, x, out }.rows::<_, 8>(Portable);
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn rejects_a_weight_that_is_not_finite() {
        let found = PackedLinear::pack(&[0.0, f32::NAN, 0.0, 0.0], [2, 2], None, Precision::Float32);
        assert!(matches!(found, Err(NotFinite { part: NotFinitePart::Weights, row: 0, column: 1 })));
    }
}
