use pulp::NullaryFnOnce;

use crate::{bfloat16, short};

/// Values that a [`Wide::Vector`] holds.
pub const LANES: usize = 8;
/// Values that a [`Wide::Sixteen`] holds.
pub const SIXTEEN: usize = 16;

/// A set of instructions for eight or sixteen values at a time.
///
/// Sums that live across a loop are held in [`Wide::Vector`]: left to itself the compiler splits an array of
/// sums into scalars, at a tenth of the speed.
pub trait Wide: Copy {
    /// The instructions for products that use each weight once, where widening it takes as long as the product; with the same
    /// [`Self::SHORT_SCALE`].
    type Once: Wide;
    /// Eight values.
    type Vector: Copy;
    /// Sixteen values, in as few registers as there are for them.
    type Sixteen: Copy;
    /// Sixteen pairs of bfloat16 as their products take them.
    type Pairs: Copy;
    /// How many sums of [`Self::Sixteen`] there are registers for, beside what they are made from.
    const SUMS: usize;
    /// Rows of a product that share a read of sixteen weights: as many sums of [`Self::Sixteen`] as there are registers for
    /// beside the weights and one factor; at most 8.
    const ROWS: usize;
    /// The same of a product of pairs: rows, at most 8, and groups of sixteen outputs, 1 or 2.
    const PAIR_SUMS: [usize; 2];
    /// Cells of a pair that [`Self::splat_pairs`] takes: one with the first number as its upper half and the second one as its lower half,
    /// or one for each number, where taking them apart would take as long as the products.
    const PAIR_CELLS: usize;
    /// What a number is multiplied by before it meets a widened code of [`short`](crate::short): a power of two, so that the product
    /// is the same, to the bit.
    const SHORT_SCALE: f32;
    /// Whether [`f32::mul_add`] is an instruction; elsewhere it would be a slow library call.
    const FUSED: bool;
    /// The instructions for products that use each weight once.
    fn once(self) -> Self::Once;
    /// The same value eight times.
    fn splat(self, value: f32) -> Self::Vector;
    /// Eight values from memory.
    fn load(self, values: &[f32; LANES]) -> Self::Vector;
    /// Eight values to memory.
    fn store(self, vector: Self::Vector) -> [f32; LANES];
    /// a · b + c.
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// c − a · b.
    fn multiply_subtract(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// The same value sixteen times.
    fn splat_sixteen(self, value: f32) -> Self::Sixteen;
    /// Sixteen values from memory.
    fn load_sixteen(self, values: &[f32; SIXTEEN]) -> Self::Sixteen;
    /// The numbers of sixteen codes of [`short`](crate::short), divided by [`Self::SHORT_SCALE`].
    fn widen(self, codes: &[u16; SIXTEEN]) -> Self::Sixteen;
    /// Sixteen values to memory.
    fn store_sixteen(self, values: Self::Sixteen) -> [f32; SIXTEEN];
    /// a · b + c.
    fn multiply_add_sixteen(self, a: Self::Sixteen, b: Self::Sixteen, c: Self::Sixteen) -> Self::Sixteen;
    /// The same pair sixteen times.
    fn splat_pairs(self, cells: &[u32]) -> Self::Pairs;
    /// Sixteen pairs from memory.
    fn load_pairs(self, pairs: &[u32; SIXTEEN]) -> Self::Pairs;
    /// The first numbers of sixteen pairs, and the second ones.
    fn halves_of(self, pairs: &[u32; SIXTEEN]) -> [Self::Sixteen; 2];
    /// The products of the first numbers of each pair plus c, rounded, then those of the second ones.
    fn multiply_add_pairs(self, a: Self::Pairs, b: Self::Pairs, c: Self::Sixteen) -> Self::Sixteen;
}

#[cfg(target_arch = "x86_64")]
impl Wide for pulp::x86::V3 {
    type Once = Self;
    type Vector = pulp::f32x8;
    type Sixteen = [pulp::f32x8; 2];
    type Pairs = [Self::Sixteen; 2];
    // Eight of sixteen registers.
    const SUMS: usize = 4;
    // Twelve of sixteen registers, and two for the weights.
    const ROWS: usize = 6;
    // Eight of sixteen registers, and four for the weights.
    const PAIR_SUMS: [usize; 2] = [4, 1];
    const PAIR_CELLS: usize = 2;
    const SHORT_SCALE: f32 = short::SHIFTED_SCALE;
    const FUSED: bool = true;

    #[inline(always)]
    fn once(self) -> Self::Once {
        self
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        self.splat_f32x8(value)
    }

    #[inline(always)]
    fn load(self, values: &[f32; LANES]) -> Self::Vector {
        pulp::cast(*values)
    }

    #[inline(always)]
    fn store(self, vector: Self::Vector) -> [f32; LANES] {
        pulp::cast(vector)
    }

    #[inline(always)]
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.mul_add_f32x8(a, b, c)
    }

    #[inline(always)]
    fn multiply_subtract(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.negate_mul_add_f32x8(a, b, c)
    }

    #[inline(always)]
    fn splat_sixteen(self, value: f32) -> Self::Sixteen {
        [self.splat_f32x8(value); 2]
    }

    #[inline(always)]
    fn load_sixteen(self, values: &[f32; SIXTEEN]) -> Self::Sixteen {
        pulp::cast(*values)
    }

    #[inline(always)]
    fn widen(self, codes: &[u16; SIXTEEN]) -> Self::Sixteen {
        let [first, second]: [pulp::u16x8; 2] = pulp::cast(*codes);
        let mask = self.avx._mm256_set1_epi32(short::WIDENED.cast_signed());
        [first, second].map(|codes| {
            let signed =
                self.avx2._mm256_slli_epi32::<13>(self.avx2._mm256_cvtepi16_epi32(pulp::cast(codes)));
            pulp::cast(self.avx2._mm256_and_si256(signed, mask))
        })
    }

    #[inline(always)]
    fn store_sixteen(self, values: Self::Sixteen) -> [f32; SIXTEEN] {
        pulp::cast(values)
    }

    #[inline(always)]
    fn multiply_add_sixteen(self, a: Self::Sixteen, b: Self::Sixteen, c: Self::Sixteen) -> Self::Sixteen {
        [self.mul_add_f32x8(a[0], b[0], c[0]), self.mul_add_f32x8(a[1], b[1], c[1])]
    }

    #[inline(always)]
    fn splat_pairs(self, cells: &[u32]) -> Self::Pairs {
        [self.splat_sixteen(f32::from_bits(cells[0])), self.splat_sixteen(f32::from_bits(cells[1]))]
    }

    #[inline(always)]
    fn load_pairs(self, pairs: &[u32; SIXTEEN]) -> Self::Pairs {
        self.halves_of(pairs)
    }

    #[inline(always)]
    fn halves_of(self, pairs: &[u32; SIXTEEN]) -> [Self::Sixteen; 2] {
        let [left, right]: [pulp::u32x8; 2] = pulp::cast(*pairs);
        let ([first_left, second_left], [first_right, second_right]) =
            (halves_of_pairs(self, left), halves_of_pairs(self, right));
        [[first_left, first_right], [second_left, second_right]]
    }

    #[inline(always)]
    fn multiply_add_pairs(self, a: Self::Pairs, b: Self::Pairs, c: Self::Sixteen) -> Self::Sixteen {
        self.multiply_add_sixteen(a[1], b[1], self.multiply_add_sixteen(a[0], b[0], c))
    }
}

/// The first and the second numbers of eight pairs.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn halves_of_pairs(wide: pulp::x86::V3, pairs: pulp::u32x8) -> [pulp::f32x8; 2] {
    let first = wide.and_u32x8(pairs, wide.splat_u32x8(bfloat16::FIRST));
    [pulp::cast(first), pulp::cast(wide.avx2._mm256_slli_epi32::<16>(pulp::cast(pairs)))]
}

#[cfg(target_arch = "x86_64")]
impl Wide for pulp::x86::V4 {
    type Once = HalfRegisters;
    type Vector = pulp::f32x8;
    type Sixteen = pulp::f32x16;
    type Pairs = [Self::Sixteen; 2];
    // Of 32 registers.
    const SUMS: usize = 8;
    const ROWS: usize = 8;
    const PAIR_SUMS: [usize; 2] = [8, 1];
    const PAIR_CELLS: usize = 2;
    const SHORT_SCALE: f32 = short::HALF_SCALE;
    const FUSED: bool = true;

    #[inline(always)]
    fn once(self) -> Self::Once {
        HalfRegisters(self)
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        self.splat_f32x8(value)
    }

    #[inline(always)]
    fn load(self, values: &[f32; LANES]) -> Self::Vector {
        pulp::cast(*values)
    }

    #[inline(always)]
    fn store(self, vector: Self::Vector) -> [f32; LANES] {
        pulp::cast(vector)
    }

    #[inline(always)]
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.mul_add_f32x8(a, b, c)
    }

    #[inline(always)]
    fn multiply_subtract(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.negate_mul_add_f32x8(a, b, c)
    }

    #[inline(always)]
    fn splat_sixteen(self, value: f32) -> Self::Sixteen {
        self.splat_f32x16(value)
    }

    #[inline(always)]
    fn load_sixteen(self, values: &[f32; SIXTEEN]) -> Self::Sixteen {
        pulp::cast(*values)
    }

    #[inline(always)]
    fn widen(self, codes: &[u16; SIXTEEN]) -> Self::Sixteen {
        // Half precision's own instruction takes two operations; the shift and the mask would take three.
        pulp::cast(self.avx512f._mm512_cvtph_ps(pulp::cast(*codes)))
    }

    #[inline(always)]
    fn store_sixteen(self, values: Self::Sixteen) -> [f32; SIXTEEN] {
        pulp::cast(values)
    }

    #[inline(always)]
    fn multiply_add_sixteen(self, a: Self::Sixteen, b: Self::Sixteen, c: Self::Sixteen) -> Self::Sixteen {
        self.mul_add_f32x16(a, b, c)
    }

    #[inline(always)]
    fn splat_pairs(self, cells: &[u32]) -> Self::Pairs {
        [self.splat_sixteen(f32::from_bits(cells[0])), self.splat_sixteen(f32::from_bits(cells[1]))]
    }

    #[inline(always)]
    fn load_pairs(self, pairs: &[u32; SIXTEEN]) -> Self::Pairs {
        self.halves_of(pairs)
    }

    #[inline(always)]
    fn halves_of(self, pairs: &[u32; SIXTEEN]) -> [Self::Sixteen; 2] {
        let pairs: pulp::u32x16 = pulp::cast(*pairs);
        let first = self.and_u32x16(pairs, self.splat_u32x16(bfloat16::FIRST));
        [pulp::cast(first), pulp::cast(self.avx512f._mm512_slli_epi32::<16>(pulp::cast(pairs)))]
    }

    #[inline(always)]
    fn multiply_add_pairs(self, a: Self::Pairs, b: Self::Pairs, c: Self::Sixteen) -> Self::Sixteen {
        self.multiply_add_sixteen(a[1], b[1], self.multiply_add_sixteen(a[0], b[0], c))
    }
}

/// Instructions of AVX-512 on halves of its registers: half precision is widened from memory into 256 bits in one operation beside the
/// products, into 512 bits in as much time as two products take (Zen 4).
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct HalfRegisters(pulp::x86::V4);

#[cfg(target_arch = "x86_64")]
impl Wide for HalfRegisters {
    type Once = Self;
    type Vector = pulp::f32x8;
    type Sixteen = [pulp::f32x8; 2];
    type Pairs = [Self::Sixteen; 2];
    // Sixteen of 32 registers.
    const SUMS: usize = 8;
    // Sixteen of 32 registers, and two for the weights.
    const ROWS: usize = 8;
    const PAIR_SUMS: [usize; 2] = [8, 1];
    const PAIR_CELLS: usize = 2;
    const SHORT_SCALE: f32 = short::HALF_SCALE;
    const FUSED: bool = true;

    #[inline(always)]
    fn once(self) -> Self::Once {
        self
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        self.0.splat(value)
    }

    #[inline(always)]
    fn load(self, values: &[f32; LANES]) -> Self::Vector {
        self.0.load(values)
    }

    #[inline(always)]
    fn store(self, vector: Self::Vector) -> [f32; LANES] {
        self.0.store(vector)
    }

    #[inline(always)]
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.0.multiply_add(a, b, c)
    }

    #[inline(always)]
    fn multiply_subtract(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.0.multiply_subtract(a, b, c)
    }

    #[inline(always)]
    fn splat_sixteen(self, value: f32) -> Self::Sixteen {
        [self.0.splat(value); 2]
    }

    #[inline(always)]
    fn load_sixteen(self, values: &[f32; SIXTEEN]) -> Self::Sixteen {
        pulp::cast(*values)
    }

    #[inline(always)]
    fn widen(self, codes: &[u16; SIXTEEN]) -> Self::Sixteen {
        let [first, second]: [[u16; LANES]; 2] = pulp::cast(*codes);
        let avx512f = self.0.avx512f;
        // With all lanes kept, this is the instruction without a mask.
        [
            pulp::cast(avx512f._mm256_maskz_cvtph_ps(0xFF, pulp::cast(first))),
            pulp::cast(avx512f._mm256_maskz_cvtph_ps(0xFF, pulp::cast(second))),
        ]
    }

    #[inline(always)]
    fn store_sixteen(self, values: Self::Sixteen) -> [f32; SIXTEEN] {
        pulp::cast(values)
    }

    #[inline(always)]
    fn multiply_add_sixteen(self, a: Self::Sixteen, b: Self::Sixteen, c: Self::Sixteen) -> Self::Sixteen {
        [self.0.multiply_add(a[0], b[0], c[0]), self.0.multiply_add(a[1], b[1], c[1])]
    }

    #[inline(always)]
    fn splat_pairs(self, cells: &[u32]) -> Self::Pairs {
        (*self.0).splat_pairs(cells)
    }

    #[inline(always)]
    fn load_pairs(self, pairs: &[u32; SIXTEEN]) -> Self::Pairs {
        (*self.0).load_pairs(pairs)
    }

    #[inline(always)]
    fn halves_of(self, pairs: &[u32; SIXTEEN]) -> [Self::Sixteen; 2] {
        (*self.0).halves_of(pairs)
    }

    #[inline(always)]
    fn multiply_add_pairs(self, a: Self::Pairs, b: Self::Pairs, c: Self::Sixteen) -> Self::Sixteen {
        (*self.0).multiply_add_pairs(a, b, c)
    }
}

/// What the compile target promises.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Wide for Portable {
    type Once = Self;
    type Vector = [f32; LANES];
    type Sixteen = [f32; SIXTEEN];
    type Pairs = [Self::Sixteen; 2];
    const SUMS: usize = 4;
    const ROWS: usize = 4;
    const PAIR_SUMS: [usize; 2] = [2, 1];
    const PAIR_CELLS: usize = 2;
    const SHORT_SCALE: f32 = short::SHIFTED_SCALE;
    const FUSED: bool = cfg!(target_arch = "aarch64");

    #[inline(always)]
    fn once(self) -> Self::Once {
        self
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        [value; LANES]
    }

    #[inline(always)]
    fn load(self, values: &[f32; LANES]) -> Self::Vector {
        *values
    }

    #[inline(always)]
    fn store(self, vector: Self::Vector) -> [f32; LANES] {
        vector
    }

    #[inline(always)]
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        std::array::from_fn(|lane| multiply_add::<Self>(a[lane], b[lane], c[lane]))
    }

    #[inline(always)]
    fn multiply_subtract(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        std::array::from_fn(|lane| multiply_add::<Self>(-a[lane], b[lane], c[lane]))
    }

    #[inline(always)]
    fn splat_sixteen(self, value: f32) -> Self::Sixteen {
        [value; SIXTEEN]
    }

    #[inline(always)]
    fn load_sixteen(self, values: &[f32; SIXTEEN]) -> Self::Sixteen {
        *values
    }

    #[inline(always)]
    fn widen(self, codes: &[u16; SIXTEEN]) -> Self::Sixteen {
        codes.map(short::widen)
    }

    #[inline(always)]
    fn store_sixteen(self, values: Self::Sixteen) -> [f32; SIXTEEN] {
        values
    }

    #[inline(always)]
    fn multiply_add_sixteen(self, a: Self::Sixteen, b: Self::Sixteen, c: Self::Sixteen) -> Self::Sixteen {
        std::array::from_fn(|lane| multiply_add::<Self>(a[lane], b[lane], c[lane]))
    }

    #[inline(always)]
    fn splat_pairs(self, cells: &[u32]) -> Self::Pairs {
        [[f32::from_bits(cells[0]); SIXTEEN], [f32::from_bits(cells[1]); SIXTEEN]]
    }

    #[inline(always)]
    fn load_pairs(self, pairs: &[u32; SIXTEEN]) -> Self::Pairs {
        self.halves_of(pairs)
    }

    #[inline(always)]
    fn halves_of(self, pairs: &[u32; SIXTEEN]) -> [Self::Sixteen; 2] {
        [
            std::array::from_fn(|lane| f32::from_bits(pairs[lane] & bfloat16::FIRST)),
            std::array::from_fn(|lane| f32::from_bits(pairs[lane] << 16)),
        ]
    }

    #[inline(always)]
    fn multiply_add_pairs(self, a: Self::Pairs, b: Self::Pairs, c: Self::Sixteen) -> Self::Sixteen {
        self.multiply_add_sixteen(a[1], b[1], self.multiply_add_sixteen(a[0], b[0], c))
    }
}

/// The widest instructions this machine is known to have, found at run time.
#[derive(Clone, Copy, Debug)]
pub enum Lanes {
    /// [`Self::Wider`], and tiles of bfloat16, sixteen rows at a time. Processors that have tiles multiply pairs at half the rate of numbers
    /// of 32 bits.
    #[cfg(target_arch = "x86_64")]
    Tiles(pulp::x86::V4, pomp_bfloat16::Tiles),
    /// 512-bit registers that also multiply pairs of bfloat16, twice as many numbers at a time.
    #[cfg(target_arch = "x86_64")]
    Pairs(pomp_bfloat16::Pairs512),
    /// 512-bit registers, with the rest of AVX-512 that all processors but the first have (x86-64-v4).
    #[cfg(target_arch = "x86_64")]
    Wider(pulp::x86::V4),
    /// 256-bit registers with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Wide(pulp::x86::V3),
    /// What the compile target promises.
    Baseline,
}

/// A loop that is compiled once per instruction set.
pub trait LaneLoop {
    /// The loop; to be marked `#[inline(always)]`, as what it calls, or it is compiled for the target alone.
    fn run<W: Wide>(self, wide: W);
}

impl Lanes {
    /// The widest instructions of this machine.
    pub fn detect() -> Self {
        Self::all()[0]
    }

    /// All that this machine has, the widest first: what a test has to try.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let wider = pulp::x86::V4::try_new();
            let tiles = wider.zip(pomp_bfloat16::Tiles::try_new());
            all.extend(tiles.map(|(wider, tiles)| Self::Tiles(wider, tiles)));
            all.extend(pomp_bfloat16::Pairs512::try_new().map(Self::Pairs));
            all.extend(wider.map(Self::Wider));
            all.extend(pulp::x86::V3::try_new().map(Self::Wide));
        }
        all.push(Self::Baseline);
        all
    }

    /// Whether a product and the sum that it goes into are rounded once, together ([`Wide::FUSED`]).
    ///
    /// Sets of instructions that agree in this give the same bytes.
    pub fn fused(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tiles(..) | Self::Pairs(_) | Self::Wider(_) => pulp::x86::V4::FUSED,
            #[cfg(target_arch = "x86_64")]
            Self::Wide(_) => pulp::x86::V3::FUSED,
            Self::Baseline => Portable::FUSED,
        }
    }

    /// Runs a loop with these instructions.
    #[inline(always)]
    pub fn run(self, body: impl LaneLoop) {
        struct With<W, L>(W, L);
        impl<W: Wide, L: LaneLoop> NullaryFnOnce for With<W, L> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                self.1.run(self.0);
            }
        }
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Pairs(wide) => wide.vectorize(With(wide, body)),
            #[cfg(target_arch = "x86_64")]
            Self::Tiles(wide, _) | Self::Wider(wide) => wide.vectorize(With(wide, body)),
            #[cfg(target_arch = "x86_64")]
            Self::Wide(wide) => wide.vectorize(With(wide, body)),
            Self::Baseline => With(Portable, body).call(),
        }
    }
}

/// a · b + c.
#[inline(always)]
pub fn multiply_add<W: Wide>(a: f32, b: f32, c: f32) -> f32 {
    if W::FUSED { a.mul_add(b, c) } else { a * b + c }
}
