use pulp::x86::V4;
use pulp::{NullaryFnOnce, f32x16, u32x16};
use std::arch::x86_64::{__m512bh, __m512i, _mm512_dpbf16_ps};

/// Proof that the processor has the instructions of x86-64-v4 and AVX512_BF16.
#[derive(Clone, Copy, Debug)]
pub struct Pairs512(V4);

impl Pairs512 {
    /// The proof, on a processor that has them.
    pub fn try_new() -> Option<Self> {
        let v4 = V4::try_new()?;
        std::is_x86_feature_detected!("avx512bf16").then_some(Self(v4))
    }

    /// The instructions without those of bfloat16.
    #[inline(always)]
    pub fn v4(self) -> V4 {
        self.0
    }

    /// sum + a₁ b₁ + a₂ b₂ in each of sixteen lanes, where 1 is the upper half of a lane and 2 the lower one: first a₁ b₁ is added and
    /// the sum rounded, then a₂ b₂, as two fused products of 32 bits would be. Subnormal numbers are zero, before and after.
    ///
    /// To be called inside of [`Self::vectorize`]; elsewhere it is as right, and slow.
    #[inline(always)]
    pub fn multiply_add_pairs(self, a: u32x16, b: u32x16, sum: f32x16) -> f32x16 {
        #[target_feature(enable = "avx512f,avx512bf16")]
        #[inline]
        fn pairs(values: __m512i) -> __m512bh {
            // SAFETY: both are 64 bytes for which any bits are legal.
            #[allow(unsafe_code, reason = "no conversion between the two is safe")]
            unsafe {
                std::mem::transmute(values)
            }
        }
        #[target_feature(enable = "avx512f,avx512bf16")]
        #[inline]
        fn products(a: u32x16, b: u32x16, sum: f32x16) -> f32x16 {
            pulp::cast(_mm512_dpbf16_ps(pulp::cast(sum), pairs(pulp::cast(a)), pairs(pulp::cast(b))))
        }
        // SAFETY: `self` exists on processors alone that have both sets of instructions.
        #[allow(unsafe_code, reason = "the compiler cannot know what `self` proves")]
        unsafe {
            products(a, b, sum)
        }
    }

    /// Calls `function`, compiled for these instructions together with what it inlines.
    #[inline(always)]
    pub fn vectorize<F: NullaryFnOnce>(self, function: F) -> F::Output {
        #[target_feature(
            enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512bf16,fma,bmi1,bmi2,lzcnt,popcnt,fxsr"
        )]
        #[inline]
        fn call<F: NullaryFnOnce>(function: F) -> F::Output {
            function.call()
        }
        // SAFETY: `self` exists on processors alone that have all of these.
        #[allow(unsafe_code, reason = "the compiler cannot know what `self` proves")]
        unsafe {
            call(function)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bits: u32) -> f32 {
        f32::from_bits(bits << 16)
    }

    #[test]
    fn pairs_are_added_as_two_fused_products_the_upper_half_first() {
        let Some(pairs512) = Pairs512::try_new() else {
            println!("skipped: this processor has no AVX512_BF16");
            return;
        };
        let mut draw = crate::draws::numbers();
        for _ in 0..20_000 {
            let ([a1, a2], [b1, b2]) = ([draw(), draw()], [draw(), draw()]);
            let sum = number(draw()) * 1.234_567_8;
            let lanes = |bits: u32| -> u32x16 { pulp::cast([bits; 16]) };
            let found = pairs512.multiply_add_pairs(
                lanes(a1 << 16 | a2),
                lanes(b1 << 16 | b2),
                pulp::cast([sum; 16]),
            );
            let expected = number(a2).mul_add(number(b2), number(a1).mul_add(number(b1), sum));
            assert_eq!(pulp::cast::<_, [f32; 16]>(found), [expected; 16]);
        }
    }
}
