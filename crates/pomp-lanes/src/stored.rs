//! Weights as they lie in memory, and how they are multiplied.

use crate::bfloat16::{halves, pair};
use crate::{SIXTEEN, Wide};

/// What a panel holds for one output: the weight of an input, or those of two.
pub(crate) trait Stored: Copy {
    /// Inputs whose weights it holds.
    const INPUTS: usize;
    /// Sixteen of them, or sixteen times the inputs that they meet.
    type Factor<W: Wide>: Copy;
    /// What [`Self::widened`] gives.
    type Widened: Stored;
    /// The instructions for products that use each weight once.
    type Once<W: Wide>: Wide;
    /// See [`Self::Once`].
    fn once<W: Wide>(wide: W) -> Self::Once<W>;
    /// Rows of a product that share a read of weights, and panels that they take at once.
    fn sums<W: Wide>() -> [usize; 2];
    /// Cells that the inputs that meet one of them take, 1 or 2.
    fn cells<W: Wide>() -> usize;
    /// Writes the inputs that meet one of them, as bits, to so many cells; where the last input is missing, it is 0.
    fn prepare<W: Wide>(inputs: &[f32], cells: &mut [u32]);
    /// Sixteen times the same inputs.
    fn inputs<W: Wide>(wide: W, cells: &[u32]) -> Self::Factor<W>;
    /// Sixteen of them.
    fn weights<W: Wide>(wide: W, weights: &[Self; SIXTEEN]) -> Self::Factor<W>;
    /// Products plus a sum.
    fn multiply_add<W: Wide>(wide: W, a: Self::Factor<W>, b: Self::Factor<W>, c: W::Sixteen) -> W::Sixteen;
    /// As they are multiplied, in `block` where they lie in memory otherwise. Inputs stay as [`Self::prepare`] wrote them.
    fn widened<'a, W: Wide>(
        wide: W,
        weights: &'a [[Self; SIXTEEN]],
        block: &'a mut [[f32; SIXTEEN]],
    ) -> &'a [[Self::Widened; SIXTEEN]];
}

impl Stored for f32 {
    const INPUTS: usize = 1;
    type Factor<W: Wide> = W::Sixteen;
    type Widened = Self;
    type Once<W: Wide> = W::Once;

    #[inline(always)]
    fn once<W: Wide>(wide: W) -> W::Once {
        wide.once()
    }

    #[inline(always)]
    fn sums<W: Wide>() -> [usize; 2] {
        [W::ROWS, 1]
    }

    #[inline(always)]
    fn cells<W: Wide>() -> usize {
        1
    }

    #[inline(always)]
    fn prepare<W: Wide>(inputs: &[f32], cells: &mut [u32]) {
        cells[0] = inputs[0].to_bits();
    }

    #[inline(always)]
    fn inputs<W: Wide>(wide: W, cells: &[u32]) -> W::Sixteen {
        wide.splat_sixteen(Self::from_bits(cells[0]))
    }

    #[inline(always)]
    fn weights<W: Wide>(wide: W, weights: &[Self; SIXTEEN]) -> W::Sixteen {
        wide.load_sixteen(weights)
    }

    #[inline(always)]
    fn multiply_add<W: Wide>(wide: W, a: W::Sixteen, b: W::Sixteen, c: W::Sixteen) -> W::Sixteen {
        wide.multiply_add_sixteen(a, b, c)
    }

    #[inline(always)]
    fn widened<'a, W: Wide>(
        _: W,
        weights: &'a [[Self; SIXTEEN]],
        _: &'a mut [[f32; SIXTEEN]],
    ) -> &'a [[Self; SIXTEEN]] {
        weights
    }
}

/// The weight of an input as [`short`] holds it, divided by [`Wide::SHORT_SCALE`]; the input is multiplied by that.
impl Stored for u16 {
    const INPUTS: usize = 1;
    type Factor<W: Wide> = W::Sixteen;
    type Widened = f32;
    type Once<W: Wide> = W::Once;

    #[inline(always)]
    fn once<W: Wide>(wide: W) -> W::Once {
        wide.once()
    }

    #[inline(always)]
    fn sums<W: Wide>() -> [usize; 2] {
        f32::sums::<W>()
    }

    #[inline(always)]
    fn cells<W: Wide>() -> usize {
        f32::cells::<W>()
    }

    #[inline(always)]
    fn prepare<W: Wide>(inputs: &[f32], cells: &mut [u32]) {
        cells[0] = (W::SHORT_SCALE * inputs[0]).to_bits();
    }

    #[inline(always)]
    fn inputs<W: Wide>(wide: W, cells: &[u32]) -> W::Sixteen {
        f32::inputs(wide, cells)
    }

    #[inline(always)]
    fn weights<W: Wide>(wide: W, weights: &[Self; SIXTEEN]) -> W::Sixteen {
        wide.widen(weights)
    }

    #[inline(always)]
    fn multiply_add<W: Wide>(wide: W, a: W::Sixteen, b: W::Sixteen, c: W::Sixteen) -> W::Sixteen {
        wide.multiply_add_sixteen(a, b, c)
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

/// The weights of two inputs in [`bfloat16`](crate::bfloat16).
impl Stored for u32 {
    const INPUTS: usize = 2;
    type Factor<W: Wide> = W::Pairs;
    type Widened = Self;
    type Once<W: Wide> = W;

    #[inline(always)]
    fn once<W: Wide>(wide: W) -> W {
        wide
    }

    #[inline(always)]
    fn sums<W: Wide>() -> [usize; 2] {
        W::PAIR_SUMS
    }

    #[inline(always)]
    fn cells<W: Wide>() -> usize {
        W::PAIR_CELLS
    }

    #[inline(always)]
    fn prepare<W: Wide>(inputs: &[f32], cells: &mut [u32]) {
        let pair = pair(inputs[0], inputs.get(1).copied().unwrap_or(0.0));
        if W::PAIR_CELLS == 1 {
            cells[0] = pair;
        } else {
            cells.copy_from_slice(&halves(pair).map(f32::to_bits));
        }
    }

    #[inline(always)]
    fn inputs<W: Wide>(wide: W, cells: &[u32]) -> W::Pairs {
        wide.splat_pairs(cells)
    }

    #[inline(always)]
    fn weights<W: Wide>(wide: W, weights: &[Self; SIXTEEN]) -> W::Pairs {
        wide.load_pairs(weights)
    }

    #[inline(always)]
    fn multiply_add<W: Wide>(wide: W, a: W::Pairs, b: W::Pairs, c: W::Sixteen) -> W::Sixteen {
        wide.multiply_add_pairs(a, b, c)
    }

    #[inline(always)]
    fn widened<'a, W: Wide>(
        _: W,
        weights: &'a [[Self; SIXTEEN]],
        _: &'a mut [[f32; SIXTEEN]],
    ) -> &'a [[Self; SIXTEEN]] {
        weights
    }
}
