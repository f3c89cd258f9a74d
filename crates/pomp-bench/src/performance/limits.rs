//! What one core of this machine can do: products a second, and bytes read a second.

use super::report::{Bandwidth, Limits, Spread};
use pomp_lanes::{LaneLoop, Lanes, SIXTEEN, Wide};
use pomp_model::Model;
use std::hint::black_box;
use std::time::Instant;

/// Sizes of the arrays that are read, bytes.
const SIZES: [usize; 7] = [32 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20];
/// Products of each sum between two looks at the clock.
const ROUNDS: usize = 4096;

/// Products without anything to read: as many sums in flight as hide the time of one.
struct Peak<'a> {
    factor: f32,
    multiply_adds: &'a mut u64,
    sums: &'a mut [f32; SIXTEEN],
}

impl LaneLoop for Peak<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        // Ten registers of sums, whether one or two of them hold sixteen values.
        if W::SUMS >= 8 { self.sum::<W, 10>(wide) } else { self.sum::<W, 5>(wide) }
    }
}

impl Peak<'_> {
    #[inline(always)]
    fn sum<W: Wide, const SUMS: usize>(self, wide: W) {
        let factor = wide.splat_sixteen(self.factor);
        let mut sums: [W::Sixteen; SUMS] = std::array::from_fn(|at| wide.splat_sixteen(at as f32));
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                // Near 2/3 after a while, far from numbers so small that they take longer.
                *sum = wide.multiply_add_sixteen(*sum, factor, factor);
            }
        }
        *self.multiply_adds += (ROUNDS * SUMS * SIXTEEN) as u64;
        for sum in sums {
            for (total, value) in self.sums.iter_mut().zip(wide.store_sixteen(sum)) {
                *total += value;
            }
        }
    }
}

/// Reads an array once, sixteen values at a time.
struct Read<'a> {
    values: &'a [[f32; SIXTEEN]],
    sum: &'a mut f32,
}

impl LaneLoop for Read<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        if W::SUMS >= 8 { self.sum::<W, 8>(wide) } else { self.sum::<W, 4>(wide) }
    }
}

impl Read<'_> {
    #[inline(always)]
    fn sum<W: Wide, const SUMS: usize>(self, wide: W) {
        let one = wide.splat_sixteen(1.0);
        let mut sums = [wide.splat_sixteen(0.0); SUMS];
        for values in self.values.chunks_exact(SUMS) {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = wide.multiply_add_sixteen(wide.load_sixteen(value), one, *sum);
            }
        }
        *self.sum += sums.iter().flat_map(|sum| wide.store_sixteen(*sum)).sum::<f32>();
    }
}

/// How many times a second `once` can be done, over `seconds`.
fn rate(seconds: f64, mut once: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let mut done = 0_u64;
    loop {
        once();
        done += 1;
        let elapsed = begun.elapsed().as_secs_f64();
        if elapsed >= seconds {
            return done as f64 / elapsed;
        }
    }
}

/// Measures both, each loop for `seconds` and `repetitions` times.
pub(super) fn measure(seconds: f64, repetitions: usize) -> Limits {
    let lanes = Lanes::detect();
    let peak = |_| {
        let (mut multiply_adds, mut sums, begun) = (0, [0.0; SIXTEEN], Instant::now());
        rate(seconds, || {
            let sums = black_box(&mut sums);
            lanes.run(Peak { factor: black_box(0.4), multiply_adds: &mut multiply_adds, sums });
        });
        multiply_adds as f64 / begun.elapsed().as_secs_f64()
    };
    let multiply_adds_per_s = Spread::of(&(0..repetitions).map(peak).collect::<Vec<_>>());
    let bandwidths = SIZES.map(|bytes| {
        let values = vec![[1.0_f32; SIXTEEN]; bytes / size_of::<[f32; SIXTEEN]>()];
        let mut sum = 0.0;
        let mut read = || lanes.run(Read { values: black_box(&values), sum: black_box(&mut sum) });
        read();
        let rates: Vec<f64> = (0..repetitions).map(|_| bytes as f64 * rate(seconds, &mut read)).collect();
        Bandwidth { bytes: bytes as u64, bytes_per_s: Spread::of(&rates) }
    });
    Limits { multiply_adds_per_s, bandwidths: bandwidths.to_vec() }
}

/// Width of the registers that the networks use, bits.
pub(super) fn register_bits() -> usize {
    match Lanes::detect() {
        #[cfg(target_arch = "x86_64")]
        Lanes::Wider(_) => 512,
        #[cfg(target_arch = "x86_64")]
        Lanes::Wide(_) => 256,
        Lanes::Baseline => 128,
    }
}

/// Degrees of freedom of the ragdoll: six of the pelvis, three of each other body.
pub(super) fn degrees_of_freedom(model: &Model) -> usize {
    3 * (model.description.body_names.len() + 1)
}
