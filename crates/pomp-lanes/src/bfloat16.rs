//! Numbers of sixteen bits with the exponent of those of 32: half the bytes, and on some processors twice the products at a time.

use crate::lanes::HalfRegisters;
use crate::{LANES, SIXTEEN, Wide, short};

/// The bits of the first number of a pair.
pub(crate) const FIRST: u32 = 0xFFFF_0000;

/// Two numbers, each rounded to the nearest of bfloat16, ties to even: the first in the upper half. Subnormal numbers become zero, as the
/// instructions for pairs take them.
#[inline(always)]
pub(crate) fn pair(first: f32, second: f32) -> u32 {
    (rounded(first) & FIRST) | (rounded(second) >> 16)
}

/// The two numbers of a pair.
#[inline(always)]
pub(crate) fn halves(pair: u32) -> [f32; 2] {
    [f32::from_bits(pair & FIRST), f32::from_bits(pair << 16)]
}

/// The bits of a finite number, rounded to sixteen; what lies below is left over.
#[inline(always)]
fn rounded(value: f32) -> u32 {
    let bits = value.to_bits();
    let normal = if value.abs() < f32::MIN_POSITIVE { 0 } else { bits };
    normal.wrapping_add(0x7FFF + ((bits >> 16) & 1)) & FIRST
}

/// All but products of pairs is as without them.
#[cfg(target_arch = "x86_64")]
impl Wide for pomp_bfloat16::Pairs512 {
    type Once = HalfRegisters;
    type Vector = pulp::f32x8;
    type Sixteen = pulp::f32x16;
    type Pairs = pulp::u32x16;
    const SUMS: usize = pulp::x86::V4::SUMS;
    const ROWS: usize = pulp::x86::V4::ROWS;
    // Sixteen of 32 registers, and two for the weights: with eight, each sum would wait for its last product.
    const PAIR_SUMS: [usize; 2] = [8, 2];
    const PAIR_CELLS: usize = 1;
    const SHORT_SCALE: f32 = short::HALF_SCALE;
    const FUSED: bool = true;

    #[inline(always)]
    fn once(self) -> Self::Once {
        self.v4().once()
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        self.v4().splat(value)
    }

    #[inline(always)]
    fn load(self, values: &[f32; LANES]) -> Self::Vector {
        self.v4().load(values)
    }

    #[inline(always)]
    fn store(self, vector: Self::Vector) -> [f32; LANES] {
        self.v4().store(vector)
    }

    #[inline(always)]
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.v4().multiply_add(a, b, c)
    }

    #[inline(always)]
    fn multiply_subtract(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.v4().multiply_subtract(a, b, c)
    }

    #[inline(always)]
    fn splat_sixteen(self, value: f32) -> Self::Sixteen {
        self.v4().splat_sixteen(value)
    }

    #[inline(always)]
    fn load_sixteen(self, values: &[f32; SIXTEEN]) -> Self::Sixteen {
        self.v4().load_sixteen(values)
    }

    #[inline(always)]
    fn widen(self, codes: &[u16; SIXTEEN]) -> Self::Sixteen {
        self.v4().widen(codes)
    }

    #[inline(always)]
    fn store_sixteen(self, values: Self::Sixteen) -> [f32; SIXTEEN] {
        self.v4().store_sixteen(values)
    }

    #[inline(always)]
    fn multiply_add_sixteen(self, a: Self::Sixteen, b: Self::Sixteen, c: Self::Sixteen) -> Self::Sixteen {
        self.v4().multiply_add_sixteen(a, b, c)
    }

    #[inline(always)]
    fn splat_pairs(self, cells: &[u32]) -> Self::Pairs {
        self.v4().splat_u32x16(cells[0])
    }

    #[inline(always)]
    fn load_pairs(self, pairs: &[u32; SIXTEEN]) -> Self::Pairs {
        pulp::cast(*pairs)
    }

    #[inline(always)]
    fn halves_of(self, pairs: &[u32; SIXTEEN]) -> [Self::Sixteen; 2] {
        self.v4().halves_of(pairs)
    }

    #[inline(always)]
    fn multiply_add_pairs(self, a: Self::Pairs, b: Self::Pairs, c: Self::Sixteen) -> Self::Sixteen {
        Self::multiply_add_pairs(self, a, b, c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_to_the_nearest_and_ties_to_even() {
        let step = 2.0_f32.powi(-7);
        for (value, expected) in [
            (0.0, 0.0),
            (1.0, 1.0),
            (-1.0 - step, -1.0 - step),
            (1.0 + 0.49 * step, 1.0),
            (1.0 + 0.51 * step, 1.0 + step),
            // Halfway: to the one whose last digit is even.
            (1.0 + 0.5 * step, 1.0),
            (1.0 + 1.5 * step, 1.0 + 2.0 * step),
            // Up to the next power of two.
            (2.0 - 0.1 * step, 2.0),
            (f32::MIN_POSITIVE, f32::MIN_POSITIVE),
            (0.9 * f32::MIN_POSITIVE, 0.0),
        ] {
            assert_eq!(halves(pair(value, -value)), [expected, -expected], "{value:e}");
        }
    }
}
