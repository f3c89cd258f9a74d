/// [`Wide::SHORT_SCALE`](crate::Wide::SHORT_SCALE) where codes are widened by a shift and a mask: 2¹⁰². Factors of
/// 2²⁶ = 6.7e7 or more overflow.
pub(crate) const SHIFTED_SCALE: f32 = f32::from_bits((127 + 102) << 23);

/// The digits that a code has no room for.
const LOST: u32 = 0x1FFF;
/// The same where codes are widened as numbers of half precision, which are 2¹⁰ times as large as those that they stand for.
pub(crate) const HALF_SCALE: f32 = 1.0 / 1024.0;

/// Exponent fields that a code can hold, 2⁻²⁴ to 2⁵; as codes they are 1 to 30, and 0 is zero. 31 is no number of half precision.
const EXPONENTS: std::ops::RangeInclusive<u32> = 103..=132;

/// The code, in sixteen bits, of a number that loses nothing by it: sign, five bits of exponent, ten of digits.
///
/// Every number of half precision below 64 in size has one, those below 2⁻¹⁴ too: weights that come from a file of half
/// precision. A code is half precision of 2¹⁰ times the number, and never subnormal: it is widened by the instruction for half precision
/// or, where there is none, by a shift and a mask. `None` for all other numbers.
///
/// ```
/// assert_eq!(pomp_lanes::short(0.0), Some(0));
/// assert_eq!(pomp_lanes::short(-0.375), Some(0b1_10111_1000000000));
/// assert_eq!(pomp_lanes::short(0.1), None);
/// ```
pub fn short(value: f32) -> Option<u16> {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    if value == 0.0 {
        return u16::try_from(sign).ok();
    }
    let exponent = (bits >> 23) & 0xFF;
    if bits & LOST != 0 || !EXPONENTS.contains(&exponent) {
        return None;
    }
    let digits = (bits >> 13) & 0x3FF;
    u16::try_from(sign | ((exponent - EXPONENTS.start() + 1) << 10) | digits).ok()
}

/// The code's number times 2⁻¹⁰².
#[inline(always)]
pub(crate) fn widen(code: u16) -> f32 {
    // The sign fills all bits from 28 up; the mask leaves the topmost, five bits of exponent and the digits.
    let signed = i32::from(code.cast_signed()) << 13;
    f32::from_bits(signed.cast_unsigned() & WIDENED)
}

/// The bits of a widened code: sign, the lower five of the exponent, the upper ten digits.
pub(crate) const WIDENED: u32 = 0x8FFF_E000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_no_other_number_comes_back_to_the_bit() {
        for code in 0..=u16::MAX {
            let value = widen(code) * SHIFTED_SCALE;
            // Codes of exponent 0 with digits and of exponent 31 stand for nothing, and nothing is given them.
            if code & 0x7C00 == 0 && code & 0x03FF != 0 || code & 0x7C00 == 0x7C00 {
                assert!(short(value).is_none_or(|found| found != code));
            } else {
                assert_eq!(short(value), Some(code), "{value:e}");
            }
        }
        for value in
            [0.1, 64.0, -64.0, 128.0, 2.0f32.powi(-25), 1.0 + 2.0f32.powi(-11), f32::NAN, f32::INFINITY]
        {
            assert_eq!(short(value), None, "{value:e}");
        }
        for value in [2.0f32.powi(-24), -3.0 * 2.0f32.powi(-24), 32.75, 63.96875, 1.0 + 2.0f32.powi(-10)] {
            assert_eq!(short(value).map(|code| widen(code) * SHIFTED_SCALE), Some(value));
        }
    }
}
