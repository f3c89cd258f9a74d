use crate::lanes::{Wide, multiply_add};

/// eˣ to two units in the last place, without a branch or a call, so that it vectorises; the argument is
/// limited to ±87, where f32 still holds the result.
///
/// x = k ln 2 + r with |r| ≤ ln 2 / 2: eˣ = 2ᵏ eʳ, eʳ by its Taylor series to r⁷ (next term below 1e-8).
#[inline(always)]
pub fn exponential<W: Wide>(x: f32) -> f32 {
    // Adding 1.5 · 2²³ rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, the first with few enough bits that k times it is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 87.0);
    let shifted = multiply_add::<W>(x, std::f32::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = multiply_add::<W>(k, -LN2_LOW, multiply_add::<W>(k, -LN2_HIGH, x));
    let mut series = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = multiply_add::<W>(series, r, coefficient);
    }
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127);
    series * f32::from_bits(exponent << 23)
}

/// tanh x to three units of 2⁻²⁴, like [`exponential`] without a branch or a call: 1 − 2 / (e²ˣ + 1).
///
/// The error is absolute: near 0, where the result is small, the relative one grows.
#[inline(always)]
pub fn hyperbolic_tangent<W: Wide>(x: f32) -> f32 {
    1.0 - 2.0 / (exponential::<W>(2.0 * x) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Portable;

    #[test]
    fn the_exponential_is_within_three_units_in_the_last_place() {
        let mut worst = 0.0f64;
        for i in 0..200_000 {
            let x = -86.9 + 173.8 * i as f32 / 200_000.0;
            let exact = f64::from(x).exp();
            let mut check = |found: f32| worst = worst.max((f64::from(found) - exact).abs() / exact);
            check(exponential::<Portable>(x));
            #[cfg(target_arch = "x86_64")]
            check(exponential::<pulp::x86::V3>(x));
        }
        println!("largest relative error of the exponential: {worst:e}");
        assert!(worst < 3.6e-7);
    }

    #[test]
    fn the_hyperbolic_tangent_is_within_three_units_of_the_last_place_of_one_and_never_beyond_it() {
        let mut worst = 0.0f64;
        for i in 0..=200_000 {
            let x = -50.0 + 100.0 * i as f32 / 200_000.0;
            let mut check = |found: f32| {
                assert!(found.abs() <= 1.0);
                worst = worst.max((f64::from(found) - f64::from(x).tanh()).abs());
            };
            check(hyperbolic_tangent::<Portable>(x));
            #[cfg(target_arch = "x86_64")]
            check(hyperbolic_tangent::<pulp::x86::V3>(x));
        }
        println!("largest error of the hyperbolic tangent: {worst:e}");
        assert!(worst < 3.0 * 2.0f64.powi(-24));
    }
}
