//! What one core of this machine can do: products a second, and bytes read a second.

use super::report::{Bandwidth, Limits, Spread};
use pomp_lanes::{Lanes, SIXTEEN};
use pomp_model::Model;
use std::hint::black_box;
use std::time::Instant;

/// Sizes of the arrays that are read beside those of the models' weights, bytes.
const SIZES: [u64; 7] = [32 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20];
/// An array is read eight times sixteen values at a time.
const GRANULE: u64 = (8 * size_of::<[f32; SIXTEEN]>()) as u64;

/// How much a second is done, over `seconds`, when `once` does so much.
fn rate(seconds: f64, mut once: impl FnMut() -> f64) -> f64 {
    let begun = Instant::now();
    let mut done = 0.0;
    loop {
        done += once();
        let elapsed = begun.elapsed().as_secs_f64();
        if elapsed >= seconds {
            return done / elapsed;
        }
    }
}

/// Measures both, each loop for `seconds` and `repetitions` times; reading with arrays of these `sizes` too, bytes.
pub(super) fn measure(seconds: f64, repetitions: usize, sizes: &[u64]) -> Limits {
    let lanes = Lanes::detect();
    let spread = |once: &mut dyn FnMut() -> f64| {
        let rates: Vec<f64> = (0..repetitions).map(|_| rate(seconds, &mut *once)).collect();
        Spread::of(&rates)
    };
    let multiply_adds_per_s = spread(&mut || {
        let (multiply_adds, result) = lanes.burst(black_box(0.4));
        black_box(result);
        multiply_adds as f64
    });
    let bfloat16_multiply_adds_per_s = spread(&mut || {
        let (multiply_adds, result) = lanes.burst_of_pairs(black_box(0.5));
        black_box(result);
        multiply_adds as f64
    });
    let tile_multiply_adds_per_s = lanes.burst_of_tiles().is_some().then(|| {
        spread(&mut || {
            let (multiply_adds, result) = lanes.burst_of_tiles().unwrap_or_default();
            black_box(result);
            multiply_adds as f64
        })
    });
    let mut sizes: Vec<u64> =
        SIZES.iter().chain(sizes).map(|bytes| bytes.next_multiple_of(GRANULE)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let bandwidths = sizes.into_iter().map(|bytes| {
        let values = vec![[1.0_f32; SIXTEEN]; bytes as usize / size_of::<[f32; SIXTEEN]>()];
        // Once to have it in the caches, as far as it fits.
        black_box(lanes.read(&values));
        let bytes_per_s = spread(&mut || {
            black_box(lanes.read(black_box(&values)));
            bytes as f64
        });
        Bandwidth { bytes, bytes_per_s }
    });
    Limits {
        multiply_adds_per_s,
        bfloat16_multiply_adds_per_s: Some(bfloat16_multiply_adds_per_s),
        tile_multiply_adds_per_s,
        bandwidths: bandwidths.collect(),
    }
}

/// Width of the registers that the networks use, bits.
pub(super) fn register_bits() -> usize {
    match Lanes::detect() {
        #[cfg(target_arch = "x86_64")]
        Lanes::Tiles(..) | Lanes::Pairs(_) | Lanes::Wider(_) => 512,
        #[cfg(target_arch = "x86_64")]
        Lanes::Wide(_) => 256,
        Lanes::Baseline => 128,
    }
}

/// Degrees of freedom of the ragdoll: six of the pelvis, three of each other body.
pub(super) fn degrees_of_freedom(model: &Model) -> usize {
    3 * (model.description.body_names.len() + 1)
}
