//! Pseudo-random numbers by SplitMix64 (Steele et al. 2014), for what few numbers decide and no library's version may change:
//! grounds, variants of clips, procedural gaits. Noise of networks comes from ChaCha.

/// Increment of SplitMix64's state.
const INCREMENT: u64 = 0x9E37_79B9_7F4A_7C15;
/// Spreads the numbers of streams over the states.
const STREAM: u64 = 0xD1B5_4A32_D192_ED03;

/// SplitMix64's output for a state.
fn mixed(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The 24 highest bits as a number in [−1, 1).
fn centred(bits: u64) -> f32 {
    (bits >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// A seed for each pair of a seed and a word: neighbours share nothing.
pub fn mixed_seed(seed: u64, word: u64) -> u64 {
    mixed(seed.wrapping_add(INCREMENT).wrapping_add(word.wrapping_mul(STREAM)))
}

/// Uniform noise in [−1, 1) that depends on nothing but its three arguments.
///
/// Addressed by index, so that one stride's draw does not shift the next one's.
pub fn noise(seed: u64, stream: u64, index: i64) -> f32 {
    let state = seed
        .wrapping_add(stream.wrapping_mul(STREAM))
        .wrapping_add((index as u64).wrapping_mul(INCREMENT))
        .wrapping_add(INCREMENT);
    centred(mixed(state))
}

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// Stream number `stream` of a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut draws = Self { state: seed ^ stream.wrapping_mul(STREAM) };
        draws.bits();
        draws
    }

    /// The stream of a seed that belongs to a name.
    pub fn of_name(seed: u64, name: &str) -> Self {
        // FNV-1a.
        let hash = name
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
        Self::new(seed, hash)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        mixed(self.state)
    }

    /// In [−1, 1).
    pub fn centred(&mut self) -> f32 {
        centred(self.bits())
    }

    /// In [0, 1).
    pub fn share(&mut self) -> f32 {
        0.5 * (self.centred() + 1.0)
    }

    /// Between the two numbers.
    pub fn within(&mut self, [low, high]: [f32; 2]) -> f32 {
        low + (high - low) * self.share()
    }

    /// −1 or 1.
    pub fn sign(&mut self) -> f32 {
        if self.centred() < 0.0 { -1.0 } else { 1.0 }
    }

    /// A whole number below `count`.
    ///
    /// # Panics
    /// When `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        // Grounds and variants of published data sets were drawn with these: other numbers would be other data.
        let mut draws = Draws::of_name(1, "walk");
        let first = [draws.centred(), draws.share(), draws.within([3.0, 18.0]), draws.sign()];
        assert_eq!(first.map(f32::to_bits), [0x3f7b5684, 0x3ef3df2c, 0x40f21f81, 0x3f800000]);
        let mut draws = Draws::new(1, 2);
        assert_eq!([draws.below(1000), draws.below(1000)], [959, 379]);
        assert_eq!(mixed_seed(7, 3), 0x3ff05f14d3de1c9f);
        assert_eq!(noise(7, 2, -5).to_bits(), 0x3f380776);
    }
}
