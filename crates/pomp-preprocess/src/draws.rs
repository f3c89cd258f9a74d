/// Pseudo-random numbers by splitmix64: few are needed, and they must never change with a library.
pub(crate) struct Draws {
    state: u64,
}

impl Draws {
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut draws = Self { state: seed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03) };
        draws.next();
        draws
    }

    /// Numbers of their own for each name.
    pub fn of_name(seed: u64, name: &str) -> Self {
        // FNV-1a.
        let hash = name
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
        Self::new(seed, hash)
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In [−1, 1).
    pub fn centred(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
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

    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }
}
