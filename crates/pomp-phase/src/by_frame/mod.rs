//! The phase encoding module as the closed loop runs it: a frame of some characters, nothing asked of the allocator.
//!
//! The same functions as [`PeriodicEncoder`](crate::PeriodicEncoder) and [`PeriodicDecoder`](crate::PeriodicDecoder), on packed
//! copies of their weights. What makes them quick, besides lanes:
//!
//! - Time is counted from the window's centre, so a transform of a real signal falls into its even and its odd half, each
//!   half as long.
//! - Few frames of a decoded window are wanted, and transforms are only as long as these frames need.
//! - The decoder's first layer convolves sinusoids, whose products with a kernel are running sums over its taps: no transform.
//! - Batch norm is part of the weights before it.
//! - All windows that are decoded, and those of four characters, share one pass over the weights.

mod decoder;
mod encoder;
mod level;
mod packed_table;
mod phases;
mod plain_convolution;
mod spectral_convolution;
mod spectral_kernel;
mod waves;

pub use decoder::{FrameDecoder, TargetSpan};
pub use encoder::FrameEncoder;

use pomp_lanes::{LANES, Wide};

/// Rounds up to whole vectors.
fn padded(width: usize) -> usize {
    width.next_multiple_of(LANES)
}

/// Characters whose windows are in work at once: enough that the weights are read seldom, few enough that what is made of them
/// stays in the second-level cache.
const CHARACTERS_AT_ONCE: usize = 4;

/// Makes a buffer at least so long.
fn grow(buffer: &mut Vec<f32>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
}

/// Folds frames around the centre: x(0) and x(d) + x(−d) into `even`, x(d) − x(−d) into `odd`, d = 1 … radius, in rows of
/// `width` values. A frame of `input` begins every `stride` values.
fn fold(
    input: &[f32],
    (width, stride): (usize, usize),
    radius: usize,
    (even, odd): (&mut [f32], &mut [f32]),
) {
    let frame = |frame: usize| &input[frame * stride..][..width];
    even[..width].copy_from_slice(frame(radius));
    let halves = even[width..].chunks_exact_mut(width).zip(odd.chunks_exact_mut(width));
    for (distance, (even, odd)) in (1..=radius).zip(halves) {
        let pairs = frame(radius + distance).iter().zip(frame(radius - distance));
        for ((even, odd), (after, before)) in even.iter_mut().zip(odd).zip(pairs) {
            *even = after + before;
            *odd = after - before;
        }
    }
}

/// `V` vectors from the start of `values`.
#[inline(always)]
fn load<W: Wide, const V: usize>(wide: W, values: &[f32]) -> [W::Vector; V] {
    let vectors = values.as_chunks::<LANES>().0;
    let vectors = &vectors[..V];
    std::array::from_fn(|vector| wide.load(&vectors[vector]))
}

/// Writes `V` vectors to the start of `values`.
#[inline(always)]
fn store<W: Wide, const V: usize>(wide: W, vectors: [W::Vector; V], values: &mut [f32]) {
    for (cells, vector) in values.as_chunks_mut::<LANES>().0.iter_mut().zip(vectors) {
        *cells = wide.store(vector);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PeriodicAutoencoder, PeriodicAutoencoderConfig, PhaseState};
    use burn::tensor::Device;
    use pomp_lanes::Lanes;
    use pomp_motion::glam::Vec3;

    #[test]
    fn frames_are_the_same_bytes_on_all_instruction_sets_that_agree_in_fusing_and_close_on_the_others() {
        for (joints, channels) in [(22, 5), (7, 9)] {
            let config = PeriodicAutoencoderConfig { channels, ..PeriodicAutoencoderConfig::new(joints) };
            let model = PeriodicAutoencoder::new(&config, 3, &Device::flex()).unwrap();
            let span = TargetSpan { key_spacing: 10, first_frame: 21, last_frame: 60 };
            let encoder = FrameEncoder::new(&model.encoder, &config).unwrap();
            let decoder = FrameDecoder::new(&model.decoder, &config, span).unwrap();
            let wave = |at: usize| (at as f32 * 0.217).sin() + 0.5 * (at as f32 * 0.731).cos();
            let velocity = |at: usize| Vec3::new(wave(at), wave(3 * at), wave(7 * at));
            let rows: Vec<Vec<Vec3>> = (0..config.window.frames())
                .map(|frame| (0..joints).map(|joint| velocity(frame + 31 * joint)).collect())
                .collect();
            let mut of_set: Vec<(Lanes, Vec<f32>)> = Vec::new();
            for lanes in Lanes::all() {
                let (mut encoder, mut decoder) = (encoder.clone(), decoder.clone());
                (encoder.lanes, decoder.lanes) = (lanes, lanes);
                let mut keys = vec![PhaseState::default(); 7];
                for (at, key) in keys.iter_mut().enumerate() {
                    let row = |frame: usize| &*rows[(frame + 9 * at) % rows.len()];
                    encoder.encode(row, key).unwrap();
                }
                let targets = decoder.target_velocities(&keys, &rows[0]).unwrap();
                let read = keys.iter().flat_map(PhaseState::code);
                let decoded = targets.values().iter().flat_map(Vec3::to_array);
                let found: Vec<f32> = read.chain(decoded).collect();
                let scale = found.iter().map(|value| value.abs()).fold(0.0, f32::max);
                for (other, expected) in &of_set {
                    let differences = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
                    let worst = differences.fold(0.0, f32::max) / scale;
                    println!("{other:?} and {lanes:?} differ by {worst:e} of the largest");
                    assert!(worst < 1e-4);
                    if other.fused() == lanes.fused() {
                        assert_eq!(&found, expected, "{other:?} and {lanes:?}");
                    }
                }
                of_set.push((lanes, found));
            }
        }
    }
}
