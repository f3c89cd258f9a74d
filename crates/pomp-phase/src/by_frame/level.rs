use super::plain_convolution::PlainConvolution;
use pomp_lanes::{LaneLoop, Lanes, SIXTEEN, Wide, Work, short};

/// Rows of weights that take turns with the characters: with 80 outputs in sixteen bits a quarter of the smallest first-level
/// cache.
const ROWS_AT_ONCE: usize = 48;

/// The weights of a convolution as the rows of a matrix, one per tap and input.
///
/// Those that lose nothing by it, which are those of a model's file, are held in sixteen bits; results are the same bytes.
#[derive(Debug)]
pub(super) struct LevelWeights {
    rows: Rows,
    /// Outputs, padded to whole groups of sixteen.
    width: usize,
    bias: Vec<f32>,
}

#[derive(Debug)]
enum Rows {
    Single(Vec<f32>),
    Short(Vec<u16>),
}

/// A weight as it lies in memory.
trait Stored: Copy {
    /// What the other factor of a product is multiplied by.
    fn scale<W: Wide>() -> f32;
    /// Sixteen weights, divided by [`Self::scale`].
    fn sixteen<W: Wide>(wide: W, weights: &[Self; SIXTEEN]) -> W::Sixteen;
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
}

impl LevelWeights {
    pub(super) fn new(weights: &PlainConvolution) -> Self {
        let outputs = weights.bias.len();
        let width = outputs.next_multiple_of(SIXTEEN);
        let padded =
            |row: &[f32]| row.iter().copied().chain(std::iter::repeat_n(0.0, width - outputs)).collect();
        let rows: Vec<f32> =
            weights.taps.chunks_exact(outputs).flat_map(|row| -> Vec<f32> { padded(row) }).collect();
        let codes: Option<Vec<u16>> = rows.iter().map(|&weight| short(weight)).collect();
        Self { rows: codes.map_or(Rows::Single(rows), Rows::Short), width, bias: padded(&weights.bias) }
    }

    /// Values of a level.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// What [`Self::apply`] costs for one character.
    pub(super) fn work(&self) -> Work {
        let (weights, bytes) = match &self.rows {
            Rows::Single(rows) => (rows.len(), size_of::<f32>()),
            Rows::Short(rows) => (rows.len(), size_of::<u16>()),
        };
        Work { multiply_adds: weights as u64, weight_bytes: (weights * bytes) as u64 }
    }

    /// level = bias + seen · weights for every character: a factor per row of weights in, a value per output out, one
    /// character after the other.
    pub(super) fn apply(&self, lanes: Lanes, seen: &[f32], levels: &mut [f32]) {
        for level in levels.chunks_exact_mut(self.width) {
            level.copy_from_slice(&self.bias);
        }
        match &self.rows {
            Rows::Single(rows) => lanes.run(Levels { rows, seen, levels, width: self.width }),
            Rows::Short(rows) => lanes.run(Levels { rows, seen, levels, width: self.width }),
        }
    }
}

struct Levels<'a, T> {
    rows: &'a [T],
    seen: &'a [f32],
    levels: &'a mut [f32],
    width: usize,
}

impl<T: Stored> LaneLoop for Levels<'_, T> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self { rows, seen, levels, width } = self;
        let wide = wide.once();
        let count = rows.len() / width;
        for first in (0..count).step_by(ROWS_AT_ONCE) {
            let end = (first + ROWS_AT_ONCE).min(count);
            let rows = &rows[first * width..end * width];
            for (seen, level) in seen.chunks_exact(count).zip(levels.chunks_exact_mut(width)) {
                let seen = &seen[first..end];
                let mut column = 0;
                while column < width {
                    column += SIXTEEN
                        * match (width - column) / SIXTEEN {
                            5.. => strip::<W::Once, T, 5>(wide, rows, seen, level, column),
                            3.. => strip::<W::Once, T, 3>(wide, rows, seen, level, column),
                            _ => strip::<W::Once, T, 1>(wide, rows, seen, level, column),
                        };
                }
            }
        }
    }
}

/// `V` times sixteen outputs; gives V.
#[inline(always)]
fn strip<W: Wide, T: Stored, const V: usize>(
    wide: W,
    rows: &[T],
    seen: &[f32],
    level: &mut [f32],
    column: usize,
) -> usize {
    let stride = level.len() / SIXTEEN;
    let level = &mut level.as_chunks_mut::<SIXTEEN>().0[column / SIXTEEN..][..V];
    let mut sums: [W::Sixteen; V] = std::array::from_fn(|at| wide.load_sixteen(&level[at]));
    let rows = rows.as_chunks::<SIXTEEN>().0[column / SIXTEEN..].chunks(stride);
    for (weights, seen) in rows.zip(seen) {
        let seen = wide.splat_sixteen(*seen * T::scale::<W>());
        let weights = &weights[..V];
        for (sum, weights) in sums.iter_mut().zip(weights) {
            *sum = wide.multiply_add_sixteen(T::sixteen(wide, weights), seen, *sum);
        }
    }
    for (level, sum) in level.iter_mut().zip(sums) {
        *level = wide.store_sixteen(sum);
    }
    V
}
