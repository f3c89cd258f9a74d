use super::store;
use crate::spectral_tables::Table;
use pomp_lanes::{LANES, LaneLoop, Lanes, Wide, Work};

/// Rows that are computed together, so that each value read serves three sums: with strips of three vectors nine sums, three
/// values and a factor, which sixteen registers hold. A fourth row would go through memory.
const BLOCK: usize = 3;

/// A constant matrix that signals are multiplied by, `[rows, columns]` in blocks of three rows.
#[derive(Clone, Debug)]
pub(super) struct PackedTable {
    rows: usize,
    columns: usize,
    /// `[block][column][3]`.
    blocks: Vec<f32>,
}

impl PackedTable {
    pub(super) fn pack(table: &Table) -> Self {
        let Table { rows, columns, values } = table;
        let padded_rows = rows.next_multiple_of(BLOCK);
        let mut blocks = vec![0.0; padded_rows * columns];
        for (at, value) in values.iter().enumerate() {
            let (row, column) = (at / columns, at % columns);
            blocks[(row / BLOCK * columns + column) * BLOCK + row % BLOCK] = *value;
        }
        Self { rows: padded_rows, columns: *columns, blocks }
    }

    /// Rows of a result, zero rows that fill the last block included.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// What [`Self::apply`] costs for rows of `width` values.
    pub(super) fn work(&self, width: usize) -> Work {
        let cells = self.blocks.len() as u64;
        Work { multiply_adds: cells * width as u64, weight_bytes: cells * size_of::<f32>() as u64 }
    }

    /// out = table · input, with rows of `width` values, a whole number of vectors, without gaps.
    pub(super) fn apply(&self, lanes: Lanes, input: &[f32], width: usize, out: &mut [f32]) {
        lanes.run(Product { table: self, input: &input[..self.columns * width], width, out });
    }
}

struct Product<'a> {
    table: &'a PackedTable,
    input: &'a [f32],
    width: usize,
    out: &'a mut [f32],
}

impl LaneLoop for Product<'_> {
    #[inline(always)]
    fn run<W: Wide>(mut self, wide: W) {
        let mut column = 0;
        while column < self.width {
            let vectors = match (self.width - column) / LANES {
                0 | 1 => self.strip::<W, 1>(wide, column),
                2 => self.strip::<W, 2>(wide, column),
                _ => self.strip::<W, 3>(wide, column),
            };
            column += vectors * LANES;
        }
    }
}

impl Product<'_> {
    /// `V` vectors of every row of the result; gives V.
    #[inline(always)]
    fn strip<W: Wide, const V: usize>(&mut self, wide: W, column: usize) -> usize {
        let blocks = self.table.blocks.chunks_exact(BLOCK * self.table.columns);
        let outs = self.out.chunks_exact_mut(BLOCK * self.width);
        let stride = self.width / LANES;
        let input = &self.input.as_chunks::<LANES>().0[column / LANES..];
        // The last row ends with the input, and is shorter than the others are apart.
        let (rows, last_row) = input.split_at((self.table.columns - 1) * stride);
        for (block, out) in blocks.zip(outs) {
            let mut sums = [[wide.splat(0.0); V]; BLOCK];
            let mut add = |cells: &[f32; BLOCK], row: &[[f32; LANES]]| {
                let row: &[[f32; LANES]; V] = row.first_chunk().expect("a strip ends with its row");
                let values = row.each_ref().map(|value| wide.load(value));
                for (sums, &cell) in sums.iter_mut().zip(cells) {
                    let cell = wide.splat(cell);
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum = wide.multiply_add(value, cell, *sum);
                    }
                }
            };
            let (last_cells, cells) = block.as_chunks::<BLOCK>().0.split_last().expect("a table has columns");
            for (cells, row) in cells.iter().zip(rows.chunks_exact(stride)) {
                add(cells, row);
            }
            add(last_cells, last_row);
            for (out, sums) in out.chunks_exact_mut(self.width).zip(sums) {
                store(wide, sums, &mut out[column..]);
            }
        }
        V
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_matches_the_definition_at_awkward_sizes_on_every_instruction_set() {
        let wave = |at: usize| (at as f32 * 0.731).sin();
        for lanes in Lanes::all() {
            for (rows, columns, width) in [(1, 1, 8), (3, 7, 16), (66, 61, 72), (5, 9, 40)] {
                let table =
                    Table { rows, columns, values: (0..rows * columns).map(|at| wave(at + 5)).collect() };
                let packed = PackedTable::pack(&table);
                let input: Vec<f32> = (0..columns * width).map(wave).collect();
                let mut out = vec![f32::NAN; packed.rows() * width];
                packed.apply(lanes, &input, width, &mut out);
                for row in 0..rows {
                    for column in 0..width {
                        let term = |n: usize| {
                            f64::from(table.values[row * columns + n]) * f64::from(input[n * width + column])
                        };
                        let expected: f64 = (0..columns).map(term).sum();
                        let found = f64::from(out[row * width + column]);
                        assert!((found - expected).abs() < 2e-5, "row {row}, column {column}: {found}");
                    }
                }
                assert!(out[rows * width..].iter().all(|padding| *padding == 0.0));
            }
        }
    }
}
