//! Products of sixteen rows with sixteen outputs over 32 inputs of bfloat16 at a time.

use crate::bfloat16::{halves, pair};
use crate::products::{Scratch, Shape, finish};
use crate::{LaneLoop, Lanes, SIXTEEN, Wide};
use pomp_bfloat16::{Sums, TILE, TILES_AT_ONCE, Tile};

/// The weights of a layer, `[sixteen outputs][input][output]`, in tiles of 32 inputs each.
pub(crate) fn tiles(weights: &[f32], inputs: usize) -> Vec<Tile> {
    let of_panel = |panel: &[f32]| -> Vec<Tile> {
        let tiles = panel.chunks(2 * TILE * SIXTEEN);
        tiles.map(tile_of_weights).collect()
    };
    weights.chunks(inputs.max(1) * SIXTEEN).flat_map(of_panel).collect()
}

/// The weights of at most 32 inputs for sixteen outputs; those of inputs that are missing are 0.
fn tile_of_weights(weights: &[f32]) -> Tile {
    let weight = |input: usize, output: usize| weights.get(input * SIXTEEN + output).copied().unwrap_or(0.0);
    Tile(std::array::from_fn(|row| {
        std::array::from_fn(|output| pair(weight(2 * row, output), weight(2 * row + 1, output)))
    }))
}

/// Inputs as they lie in a row of a tile.
#[inline(always)]
fn pairs(x: &[f32; 2 * TILE]) -> [u32; TILE] {
    let mut pairs = [0; TILE];
    for (at, cell) in pairs.iter_mut().enumerate() {
        *cell = pair(x[2 * at], x[2 * at + 1]);
    }
    pairs
}

/// out = x W + b for at most [`MOST_ROWS`](crate::products::MOST_ROWS) rows.
pub(crate) fn apply_rows(
    lanes: Lanes,
    panels: &[Tile],
    shape: Shape<'_>,
    x: &[f32],
    out: &mut [f32],
    scratch: &mut Scratch,
) {
    let tiles = &mut scratch.tiles;
    match lanes {
        #[cfg(target_arch = "x86_64")]
        Lanes::Tiles(_, products) => lanes.run(TiledRows { products, panels, shape, x, out, tiles }),
        _ => lanes.run(TiledRows { products: ByHalves, panels, shape, x, out, tiles }),
    }
}

/// How tiles are multiplied, with the same bytes wherever products and sums are fused.
trait TileProducts: Copy {
    /// The sums over all tiles of the products of `used` rows with four columns of weights: of each tile those of the first inputs of
    /// pairs, those of the second ones, and both together.
    fn multiply<W: Wide>(
        self,
        wide: W,
        rows: (&[Tile], usize),
        weights: [&[Tile]; TILES_AT_ONCE],
        sums: &mut [Sums; TILES_AT_ONCE],
    );
}

#[cfg(target_arch = "x86_64")]
impl TileProducts for pomp_bfloat16::Tiles {
    #[inline(always)]
    fn multiply<W: Wide>(
        self,
        _: W,
        (rows, _): (&[Tile], usize),
        weights: [&[Tile]; TILES_AT_ONCE],
        sums: &mut [Sums; TILES_AT_ONCE],
    ) {
        Self::multiply(self, rows, weights, sums);
    }
}

/// By products of 32 bits, a row and two columns at a time.
#[derive(Clone, Copy)]
struct ByHalves;

impl TileProducts for ByHalves {
    #[inline(always)]
    fn multiply<W: Wide>(
        self,
        wide: W,
        (rows, used): (&[Tile], usize),
        weights: [&[Tile]; TILES_AT_ONCE],
        sums: &mut [Sums; TILES_AT_ONCE],
    ) {
        for (columns, sums) in weights.as_chunks::<2>().0.iter().zip(sums.as_chunks_mut::<2>().0) {
            for row in 0..used {
                let mut totals = [wide.splat_sixteen(0.0); 2];
                for (at, inputs) in rows.iter().enumerate() {
                    let mut firsts = [wide.splat_sixteen(0.0); 2];
                    let mut seconds = [wide.splat_sixteen(0.0); 2];
                    let tiles = [&columns[0][at].0, &columns[1][at].0];
                    for (step, inputs) in inputs.0[row].iter().enumerate() {
                        let [first, second] = halves(*inputs);
                        let (first, second) = (wide.splat_sixteen(first), wide.splat_sixteen(second));
                        for column in 0..2 {
                            let weights = wide.halves_of(&tiles[column][step]);
                            firsts[column] = wide.multiply_add_sixteen(first, weights[0], firsts[column]);
                            seconds[column] = wide.multiply_add_sixteen(second, weights[1], seconds[column]);
                        }
                    }
                    let one = wide.splat_sixteen(1.0);
                    for column in 0..2 {
                        let of_tile = wide.multiply_add_sixteen(firsts[column], one, seconds[column]);
                        totals[column] = wide.multiply_add_sixteen(of_tile, one, totals[column]);
                    }
                }
                for column in 0..2 {
                    sums[column].0[row] = wide.store_sixteen(totals[column]);
                }
            }
        }
    }
}

struct TiledRows<'a, P> {
    products: P,
    panels: &'a [Tile],
    shape: Shape<'a>,
    x: &'a [f32],
    out: &'a mut [f32],
    /// `[sixteen rows][32 inputs]`.
    tiles: &'a mut Vec<Tile>,
}

impl<P: TileProducts> LaneLoop for TiledRows<'_, P> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self {
            products,
            panels,
            shape: Shape { bias, inputs, rows, x_stride, out_stride },
            x,
            out,
            tiles,
        } = self;
        let length = inputs.div_ceil(2 * TILE);
        let groups = rows.div_ceil(TILE);
        if tiles.len() < groups * length {
            tiles.resize(groups * length, Tile::ZERO);
        }
        let tiles = &mut tiles[..groups * length];
        for row in 0..rows {
            let (whole, rest) = x[row * x_stride..][..inputs].as_chunks::<{ 2 * TILE }>();
            let tiles = &mut tiles[row / TILE * length..][..length];
            for (tile, x) in tiles.iter_mut().zip(whole) {
                tile.0[row % TILE] = pairs(x);
            }
            if let Some(tile) = tiles.get_mut(whole.len()) {
                let mut x = [0.0; 2 * TILE];
                x[..rest.len()].copy_from_slice(rest);
                tile.0[row % TILE] = pairs(&x);
            }
        }
        let mut sums = [Sums::ZERO; TILES_AT_ONCE];
        let biases = bias.as_chunks::<SIXTEEN>().0.as_chunks::<TILES_AT_ONCE>().0;
        for (column, bias) in biases.iter().enumerate() {
            let columns = &panels[column * TILES_AT_ONCE * length..][..TILES_AT_ONCE * length];
            let mut weights: [&[Tile]; TILES_AT_ONCE] = [&[]; TILES_AT_ONCE];
            for (at, weights) in weights.iter_mut().enumerate() {
                *weights = &columns[at * length..][..length];
            }
            for group in 0..groups {
                let first = group * TILE;
                let used = (rows - first).min(TILE);
                products.multiply(wide, (&tiles[group * length..][..length], used), weights, &mut sums);
                for row in 0..used {
                    let out = &mut out[(first + row) * out_stride + column * TILES_AT_ONCE * SIXTEEN..];
                    for (at, out) in out.as_chunks_mut().0[..TILES_AT_ONCE].iter_mut().enumerate() {
                        finish(wide, out, &bias[at], wide.load_sixteen(&sums[at].0[row]));
                    }
                }
            }
        }
    }
}
