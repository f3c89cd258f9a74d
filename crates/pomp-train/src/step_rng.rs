//! Random numbers that depend on the seed, the stage and the step alone, so that a resumed run draws what an
//! uninterrupted one would have drawn.

use crate::progress::Stage;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(crate) fn step_rng(seed: u64, stage: Stage, step: usize) -> ChaCha8Rng {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(step as u64).to_le_bytes());
    key[16] = stage as u8 + 1;
    ChaCha8Rng::from_seed(key)
}
