//! The sine and cosine of half an angle, which the quaternion of a turn consists of.

use std::f64::consts::PI;

/// Above this many degrees, in size, the reduction to a quarter turn could lose digits.
const MOST_DEGREES: f64 = 1e9;
/// Adding 1.5 · 2⁵² rounds to an integer and leaves it in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The coefficients of x³, x⁵, … of the sine and of x⁴, x⁶, … of the cosine for |x| ≤ π/4, error below 2⁻⁵⁷ (FreeBSD's `k_sin.c` and
/// `k_cos.c`, after Sun's fdlibm).
const SINE: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];
const COSINE: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// Writes sine and cosine of half of each angle, degrees, to a few 1e-16.
///
/// One loop without a branch or a call, so that it vectorises, and the same bytes on every system, which those of a system's library are
/// not. Degrees are reduced before they become radians, so that whole quarter turns are exact.
pub(super) fn half_turns(degrees: &[f64], turns: &mut [[f64; 2]]) {
    for (turn, &degrees) in turns.iter_mut().zip(degrees) {
        *turn = half_turn(degrees);
    }
    for (turn, &degrees) in turns.iter_mut().zip(degrees) {
        if degrees.abs() > MOST_DEGREES {
            *turn = (0.5 * degrees.to_radians()).sin_cos().into();
        }
    }
}

#[inline(always)]
fn half_turn(degrees: f64) -> [f64; 2] {
    // Half of the angle is `quarters` right angles and x.
    let shifted = degrees * (1.0 / 180.0) + ROUND;
    let quarters = shifted.to_bits();
    let x = (degrees - (shifted - ROUND) * 180.0) * (PI / 360.0);
    let square = x * x;
    let series = |coefficients: [f64; 6]| {
        coefficients.into_iter().rev().fold(0.0, |sum, coefficient| sum * square + coefficient)
    };
    let sine = x + x * square * series(SINE);
    let cosine = 1.0 - (0.5 * square - square * square * series(COSINE));
    let [sine, cosine] = if quarters & 1 == 0 { [sine, cosine] } else { [cosine, sine] };
    // Signs by quarter: + + − − of the sine, + − − + of the cosine.
    let signed = |value: f64, negative: u64| f64::from_bits(value.to_bits() ^ (negative & 2) << 62);
    [signed(sine, quarters), signed(cosine, quarters.wrapping_add(1))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(degrees: f64) -> [f64; 2] {
        let mut turn = [[f64::NAN; 2]];
        half_turns(&[degrees], &mut turn);
        turn[0]
    }

    #[test]
    fn sine_and_cosine_of_half_an_angle_are_within_a_few_units_of_the_last_place() {
        let mut worst = 0.0f64;
        for at in -400_000..=400_000 {
            // Some whole turns in both directions, and all four quarters.
            let degrees = f64::from(at) * 0.003_17;
            let [sine, cosine] = of(degrees);
            // The library's argument has an error of its own; near 0 it is small enough.
            let reduced = degrees - 720.0 * (degrees / 720.0).round();
            let (expected_sine, expected_cosine) = (0.5 * reduced.to_radians()).sin_cos();
            worst = worst.max((sine - expected_sine).abs()).max((cosine - expected_cosine).abs());
        }
        println!("largest error {worst:e}");
        assert!(worst < 8e-16);
    }

    #[test]
    fn quarters_are_exact_and_large_angles_are_those_of_the_library() {
        assert_eq!([0.0, 180.0, 360.0, 540.0].map(of), [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]);
        assert_eq!(of(-180.0), [-1.0, 0.0]);
        for degrees in [1.0e9 + 0.5, -3.0e9, 1e15, f64::from(f32::MAX)] {
            let library: [f64; 2] = (0.5 * degrees.to_radians()).sin_cos().into();
            let found = of(degrees);
            let error = (found[0] - library[0]).abs().max((found[1] - library[1]).abs());
            assert!(error == 0.0, "{degrees}: {found:?}, {library:?}");
        }
        // Just below the bound: whole turns are taken off exactly.
        let [sine, cosine] = of(720.0 * 1_388_000.0 + 60.0);
        assert!((sine - 0.5).abs() < 4e-16 && (cosine - 0.75f64.sqrt()).abs() < 4e-16);
    }
}
