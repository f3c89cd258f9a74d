//! Products of rows with the panels of a dense layer.

use crate::stored::Stored;
use crate::{LaneLoop, SIXTEEN, Wide};
use pomp_bfloat16::Tile;

/// Panels that a single-row product walks at once, to have enough independent sums in flight.
pub(crate) const PANELS_AT_ONCE: usize = 4;
/// The same where there are registers for more.
pub(crate) const MORE_PANELS: usize = 8;
/// Panels that a product of many rows takes at once.
const MOST_PANELS: usize = 2;
/// Inputs of a panel that are widened at once: with sixteen outputs 16 kB, half of the smallest first-level cache.
pub const BLOCK_INPUTS: usize = 256;
/// Rows that take turns at a panel's block: few enough that they stay in the second-level cache from panel to panel.
pub(crate) const MOST_ROWS: usize = 96;

/// What [`PackedLinear::apply_rows`](crate::PackedLinear::apply_rows) works in.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// A block of widened weights.
    block: Vec<[f32; SIXTEEN]>,
    /// Inputs of up to [`MOST_ROWS`] rows as products take them, in the order in which they are read:
    /// `[group of rows][input, or pair of inputs][row of the group][cell]`.
    rows: Vec<u32>,
    /// The same in tiles.
    pub(crate) tiles: Vec<Tile>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Without rows yet.
    pub fn new() -> Self {
        Self { block: vec![[0.0; SIXTEEN]; MOST_PANELS * BLOCK_INPUTS], rows: Vec::new(), tiles: Vec::new() }
    }
}

/// out = x W + b for one row.
pub(crate) struct OneRow<'a, T> {
    pub panels: &'a [T],
    pub bias: &'a [f32],
    pub x: &'a [f32],
    pub out: &'a mut [f32],
}

impl<T: Stored> LaneLoop for OneRow<'_, T> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let (wide, mut rest) = (T::once(wide), self);
        if T::Once::<W>::SUMS >= MORE_PANELS {
            rest = rest.walk::<T::Once<W>, MORE_PANELS>(wide);
        }
        rest.walk::<T::Once<W>, PANELS_AT_ONCE>(wide);
    }
}

impl<T: Stored> OneRow<'_, T> {
    /// Computes as many outputs as come in groups of so many panels; what is left comes back.
    #[inline(always)]
    pub fn walk<W: Wide, const GROUP: usize>(self, wide: W) -> Self {
        let Self { panels, bias, x, out } = self;
        let steps = x.len().div_ceil(T::INPUTS);
        let panel = steps * SIXTEEN;
        let walked = out.len() / (GROUP * SIXTEEN);
        let (walked_panels, panels) = panels.split_at(walked * GROUP * panel);
        let (walked_out, out) = out.split_at_mut(walked * GROUP * SIXTEEN);
        let (walked_bias, bias) = bias.split_at(walked * GROUP * SIXTEEN);
        let groups = walked_panels.chunks_exact(panel * GROUP);
        let outs = walked_out.as_chunks_mut::<SIXTEEN>().0.as_chunks_mut::<GROUP>().0;
        let biases = walked_bias.as_chunks::<SIXTEEN>().0.as_chunks::<GROUP>().0;
        for ((group, out), bias) in groups.zip(outs).zip(biases) {
            let weights: [&[[T; SIXTEEN]]; GROUP] =
                std::array::from_fn(|index| &group[index * panel..][..panel].as_chunks().0[..steps]);
            let mut sums = [wide.splat_sixteen(0.0); GROUP];
            for (step, x) in x.chunks(T::INPUTS).enumerate() {
                let mut cells = [0; 2];
                let cells = &mut cells[..T::cells::<W>()];
                T::prepare::<W>(x, cells);
                let x = T::inputs(wide, cells);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = T::multiply_add(wide, T::weights(wide, &weights[step]), x, *sum);
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
pub(crate) fn finish<W: Wide>(wide: W, out: &mut [f32; SIXTEEN], bias: &[f32; SIXTEEN], sum: W::Sixteen) {
    let one = wide.splat_sixteen(1.0);
    *out = wide.store_sixteen(wide.multiply_add_sixteen(sum, one, wide.load_sixteen(bias)));
}

/// The same for at most [`MOST_ROWS`] rows.
pub(crate) struct ManyRows<'a, T> {
    pub panels: &'a [T],
    pub shape: Shape<'a>,
    pub x: &'a [f32],
    pub out: &'a mut [f32],
    pub scratch: &'a mut Scratch,
}

/// What [`ManyRows`] has beside weights and rows.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a> {
    pub bias: &'a [f32],
    pub inputs: usize,
    pub rows: usize,
    /// From one row to the next, of x and of the outputs.
    pub x_stride: usize,
    pub out_stride: usize,
}

impl<T: Stored> LaneLoop for ManyRows<'_, T> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        if T::sums::<W>()[1] == 2 { self.take::<W, 2>(wide) } else { self.take::<W, 1>(wide) }
    }
}

impl<T: Stored> ManyRows<'_, T> {
    /// With so many panels at once.
    #[inline(always)]
    fn take<W: Wide, const PANELS: usize>(self, wide: W) {
        let Self { panels, shape: Shape { bias, inputs, rows, x_stride, out_stride }, x, out, scratch } =
            self;
        let most = T::sums::<W>()[0];
        // Groups of one size but for one row: none is left with too few sums in flight.
        let groups = || {
            let mut first = 0;
            std::iter::from_fn(move || {
                let left = rows - first;
                let group = (left > 0).then(|| (first, left.div_ceil(left.div_ceil(most))));
                first += group.map_or(0, |(_, rows)| rows);
                group
            })
        };
        let steps = inputs.div_ceil(T::INPUTS);
        let Scratch { block, rows: packed, .. } = scratch;
        // Cells of a row.
        let width = steps * T::cells::<W>();
        if packed.len() < rows * width {
            packed.resize(rows * width, 0);
        }
        for (first, group) in groups() {
            let cells = &mut packed[first * width..][..group * width];
            for row in 0..group {
                let x = x[(first + row) * x_stride..][..inputs].chunks(T::INPUTS);
                let cells = cells.chunks_exact_mut(T::cells::<W>()).skip(row).step_by(group);
                for (cells, x) in cells.zip(x) {
                    T::prepare::<W>(x, cells);
                }
            }
        }
        let panel = steps * SIXTEEN;
        let groups_of_panels =
            panels.chunks_exact(panel * PANELS).zip(bias.as_chunks::<SIXTEEN>().0.as_chunks::<PANELS>().0);
        // A single group uses each weight once, so that it is widened where it is used.
        if rows <= most {
            let x = &packed[..rows * width];
            for (column, (group, bias)) in groups_of_panels.enumerate() {
                let out = (&mut out[column * PANELS * SIXTEEN..], out_stride);
                let weights: [&[[T; SIXTEEN]]; PANELS] =
                    std::array::from_fn(|index| group[index * panel..][..panel].as_chunks().0);
                Product { weights, bias: Some(bias), begins: true, x, out }.run(wide, rows);
            }
            return;
        }
        let length = BLOCK_INPUTS / T::INPUTS;
        for (column, (group, bias)) in groups_of_panels.enumerate() {
            for begin in (0..steps).step_by(length) {
                let end = (begin + length).min(steps);
                // Without closures, which would be compiled for the target alone.
                let mut weights: [&[[T::Widened; SIXTEEN]]; PANELS] = [&[]; PANELS];
                for ((weights, panel), block) in weights
                    .iter_mut()
                    .zip(group.chunks_exact(panel))
                    .zip(block.chunks_exact_mut(BLOCK_INPUTS))
                {
                    *weights = T::widened(T::once(wide), &panel.as_chunks().0[begin..end], block);
                }
                let (begins, bias) = (begin == 0, (end == steps).then_some(bias));
                for (first, rows) in groups() {
                    let cells = T::cells::<W>() * rows;
                    let x = &packed[first * width + begin * cells..][..(end - begin) * cells];
                    let out = (&mut out[first * out_stride + column * PANELS * SIXTEEN..], out_stride);
                    Product { weights, bias, begins, x, out }.run(wide, rows);
                }
            }
        }
    }
}

/// Outputs of some panels for a group of rows, over a block of the inputs.
pub(crate) struct Product<'a, T, const PANELS: usize> {
    pub weights: [&'a [[T; SIXTEEN]]; PANELS],
    /// Of the last block alone.
    pub bias: Option<&'a [[f32; SIXTEEN]; PANELS]>,
    /// Whether this is the first block; others go on with the sums that lie in `out`.
    pub begins: bool,
    /// `[input, or pair of inputs][row][cell]`, as [`Stored::prepare`] writes them.
    pub x: &'a [u32],
    /// From the first row's first output on, and the distance of rows.
    pub out: (&'a mut [f32], usize),
}

impl<T: Stored, const PANELS: usize> Product<'_, T, PANELS> {
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
    pub fn rows<W: Wide, const ROWS: usize>(self, wide: W) {
        let Self { weights, bias, begins, x, out: (out, out_stride) } = self;
        let mut sums: [[W::Sixteen; ROWS]; PANELS] = if begins {
            [[wide.splat_sixteen(0.0); ROWS]; PANELS]
        } else {
            std::array::from_fn(|panel| {
                std::array::from_fn(|row| {
                    wide.load_sixteen(&out[row * out_stride + panel * SIXTEEN..].as_chunks().0[0])
                })
            })
        };
        let cells = T::cells::<W>();
        let weights = weights.map(|weights| &weights[..x.len() / (cells * ROWS)]);
        for (step, x) in x.chunks_exact(cells * ROWS).enumerate() {
            for (sums, weights) in sums.iter_mut().zip(&weights) {
                let weights = T::weights(wide, &weights[step]);
                for (sum, x) in sums.iter_mut().zip(x.chunks_exact(cells)) {
                    *sum = T::multiply_add(wide, weights, T::inputs(wide, x), *sum);
                }
            }
        }
        for (panel, sums) in sums.into_iter().enumerate() {
            for (row, sum) in sums.into_iter().enumerate() {
                let out = &mut out[row * out_stride + panel * SIXTEEN..].as_chunks_mut().0[0];
                match bias {
                    Some(bias) => finish(wide, out, &bias[panel], sum),
                    None => *out = wide.store_sixteen(sum),
                }
            }
        }
    }
}
