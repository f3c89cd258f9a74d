/// Rows of a [`Tile`], and pairs in each.
pub const TILE: usize = 16;
/// Tiles of weights that a row of inputs meets at once.
pub const TILES_AT_ONCE: usize = 4;

/// Sixteen rows of sixteen pairs of bfloat16, each row in a line of the cache: inputs (a row each), or weights (a row for each pair of
/// inputs, of sixteen outputs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Tile(pub [[u32; TILE]; TILE]);

/// Sums of sixteen rows for sixteen outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Sums(pub [[f32; TILE]; TILE]);

impl Tile {
    /// A tile of zeros.
    pub const ZERO: Self = Self([[0; TILE]; TILE]);
}

impl Sums {
    /// Sums of nothing.
    pub const ZERO: Self = Self([[0.0; TILE]; TILE]);
}
