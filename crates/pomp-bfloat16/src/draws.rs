//! Numbers for tests.

/// Draws the bits of bfloat16: numbers of all signs and digits, and exponents of 2⁻¹⁷ to 2¹².
pub fn numbers() -> impl FnMut() -> u32 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (state >> 40) as u32;
        (bits & 0x807F) | ((110 + (bits >> 16) % 30) << 7)
    }
}
