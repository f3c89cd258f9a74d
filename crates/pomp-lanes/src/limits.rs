//! Loops that show what a core can do: products without anything to read, and reading with next to no products. They are here and not
//! where they are timed, because this crate is compiled for speed.

#[cfg(target_arch = "x86_64")]
use crate::bfloat16::pair;
use crate::stored::Stored;
use crate::{LaneLoop, Lanes, SIXTEEN, Wide};
#[cfg(target_arch = "x86_64")]
use pomp_bfloat16::{Sums, TILE, TILES_AT_ONCE, Tile};

/// Products of a lane of a sum in a burst.
const ROUNDS: usize = 4096;
/// Tiles of a row in a burst, 24 kB: they stay in the first-level cache.
#[cfg(target_arch = "x86_64")]
const TILES_IN_A_BURST: usize = 24;
/// Rows of tiles that a burst multiplies, each with four columns.
#[cfg(target_arch = "x86_64")]
const BURSTS: usize = 16;

/// Products of registers: as many sums in flight as hide the time of one.
struct Burst<'a> {
    factor: f32,
    multiply_adds: &'a mut u64,
    result: &'a mut f32,
}

impl LaneLoop for Burst<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        // Ten registers of sums at least, whether one or two of them hold sixteen values.
        if W::SUMS >= 8 { self.sum::<W, 16>(wide) } else { self.sum::<W, 5>(wide) }
    }
}

impl Burst<'_> {
    #[inline(always)]
    fn sum<W: Wide, const SUMS: usize>(self, wide: W) {
        let factor = wide.splat_sixteen(self.factor);
        let mut sums: [W::Sixteen; SUMS] = std::array::from_fn(|at| wide.splat_sixteen(at as f32));
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = wide.multiply_add_sixteen(*sum, factor, factor);
            }
        }
        *self.multiply_adds += (ROUNDS * SUMS * SIXTEEN) as u64;
        *self.result += sums.iter().flat_map(|sum| wide.store_sixteen(*sum)).sum::<f32>();
    }
}

/// Products of pairs in registers.
struct BurstOfPairs<'a> {
    factor: f32,
    multiply_adds: &'a mut u64,
    result: &'a mut f32,
}

impl LaneLoop for BurstOfPairs<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        if W::SUMS >= 8 { self.sum::<W, 16>(wide) } else { self.sum::<W, 5>(wide) }
    }
}

impl BurstOfPairs<'_> {
    #[inline(always)]
    fn sum<W: Wide, const SUMS: usize>(self, wide: W) {
        let mut cells = [0; 2];
        u32::prepare::<W>(&[self.factor; 2], &mut cells[..W::PAIR_CELLS]);
        let factor = wide.splat_pairs(&cells);
        let mut sums: [W::Sixteen; SUMS] = std::array::from_fn(|at| wide.splat_sixteen(at as f32));
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = wide.multiply_add_pairs(factor, factor, *sum);
            }
        }
        *self.multiply_adds += (ROUNDS * SUMS * 2 * SIXTEEN) as u64;
        *self.result += sums.iter().flat_map(|sum| wide.store_sixteen(*sum)).sum::<f32>();
    }
}

/// Reads an array once.
struct Read<'a> {
    values: &'a [[f32; SIXTEEN]],
    result: &'a mut f32,
}

impl LaneLoop for Read<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        if W::SUMS >= 8 { self.sum::<W, 8>(wide) } else { self.sum::<W, 4>(wide) }
    }
}

impl Read<'_> {
    #[inline(always)]
    fn sum<W: Wide, const SUMS: usize>(self, wide: W) {
        let one = wide.splat_sixteen(1.0);
        let mut sums = [wide.splat_sixteen(0.0); SUMS];
        for values in self.values.as_chunks::<SUMS>().0 {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = wide.multiply_add_sixteen(wide.load_sixteen(value), one, *sum);
            }
        }
        *self.result += sums.iter().flat_map(|sum| wide.store_sixteen(*sum)).sum::<f32>();
    }
}

impl Lanes {
    /// Multiplies and adds in registers for some ten microseconds; gives how many products were added, and a number that needs them
    /// all. With a `factor` between 0 and 1 all values stay ordinary numbers.
    #[inline(never)]
    pub fn burst(self, factor: f32) -> (u64, f32) {
        let (mut multiply_adds, mut result) = (0, 0.0);
        self.run(Burst { factor, multiply_adds: &mut multiply_adds, result: &mut result });
        (multiply_adds, result)
    }

    /// As [`Self::burst`], with products of pairs of bfloat16: sums of the square of `factor`.
    #[inline(never)]
    pub fn burst_of_pairs(self, factor: f32) -> (u64, f32) {
        let (mut multiply_adds, mut result) = (0, 0.0);
        self.run(BurstOfPairs { factor, multiply_adds: &mut multiply_adds, result: &mut result });
        (multiply_adds, result)
    }

    /// As [`Self::burst_of_pairs`], with products of tiles that lie in the cache next to the core; none without instructions for tiles.
    #[inline(never)]
    pub fn burst_of_tiles(self) -> Option<(u64, f32)> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tiles(_, tiles) => {
                let ones = [Tile([[pair(1.0, 1.0); TILE]; TILE]); TILES_IN_A_BURST];
                let mut sums = [Sums::ZERO; TILES_AT_ONCE];
                let mut result = 0.0;
                for _ in 0..BURSTS {
                    tiles.multiply(&ones, [&ones; TILES_AT_ONCE], &mut sums);
                    result += sums[0].0[0][0];
                }
                let tiles_multiplied = BURSTS * TILES_IN_A_BURST * TILES_AT_ONCE;
                Some(((tiles_multiplied * TILE * TILE * 2 * TILE) as u64, result))
            }
            _ => None,
        }
    }

    /// The sum of an array whose length is a multiple of eight, made as quickly as it can be read.
    #[inline(never)]
    pub fn read(self, values: &[[f32; SIXTEEN]]) -> f32 {
        let mut result = 0.0;
        self.run(Read { values, result: &mut result });
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_values_are_read_and_all_products_are_made_on_every_instruction_set() {
        for lanes in Lanes::all() {
            let mut values = vec![[1.0_f32; SIXTEEN]; 64];
            values[63][15] = 3.0;
            assert_eq!(lanes.read(&values), (64 * SIXTEEN) as f32 + 2.0);
            let (multiply_adds, result) = lanes.burst(0.5);
            // x → x/2 + 1/2 goes to 1 in every lane of every sum.
            let lanes_of_sums = multiply_adds / ROUNDS as u64;
            assert!((result - lanes_of_sums as f32).abs() < 1e-3, "{lanes:?}: {result} of {lanes_of_sums}");
            let (multiply_adds, result) = lanes.burst_of_pairs(0.5);
            // Each lane begins with the number of its sum.
            let sums = multiply_adds / (ROUNDS * 2 * SIXTEEN) as u64;
            let expected = 0.25 * multiply_adds as f32 + (SIXTEEN as u64 * sums * (sums - 1) / 2) as f32;
            assert_eq!(result, expected, "{lanes:?}");
            if let Some((multiply_adds, result)) = lanes.burst_of_tiles() {
                // The first of the sums of a thousand: sixteen rows, sixteen outputs, four columns.
                assert_eq!(result * (16 * 16 * 4) as f32, multiply_adds as f32, "{lanes:?}");
            }
        }
    }
}
