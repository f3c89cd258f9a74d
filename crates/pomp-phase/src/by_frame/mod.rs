//! The phase encoding module as the closed loop runs it: one character, one frame, nothing asked of the allocator.
//!
//! The same functions as [`PeriodicEncoder`](crate::PeriodicEncoder) and [`PeriodicDecoder`](crate::PeriodicDecoder), on packed
//! copies of their weights. What makes them quick, besides lanes:
//!
//! - Time is counted from the window's centre, so a transform of a real signal falls into its even and its odd half, each
//!   half as long.
//! - Few frames of a decoded window are wanted, and transforms are only as long as these frames need.
//! - The decoder's first layer convolves sinusoids, whose products with a kernel are running sums over its taps: no transform.
//! - Batch norm is part of the weights before it.
//! - All windows that are decoded share one pass over the weights.

mod decoder;
mod encoder;
mod packed_table;
mod phases;
mod plain_convolution;
mod spectral_convolution;
mod spectral_kernel;
mod waves;

pub use decoder::{FrameDecoder, TargetSpan};
pub use encoder::FrameEncoder;

use pomp_lanes::{LANES, LaneLoop, Lanes, Wide, hyperbolic_tangent};

/// Rounds up to whole vectors.
fn padded(width: usize) -> usize {
    width.next_multiple_of(LANES)
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

/// tanh in place.
fn squash(lanes: Lanes, values: &mut [f32]) {
    struct Squash<'a>(&'a mut [f32]);
    impl LaneLoop for Squash<'_> {
        #[inline(always)]
        fn run<W: Wide>(self, _: W) {
            for value in self.0 {
                *value = hyperbolic_tangent::<W>(*value);
            }
        }
    }
    lanes.run(Squash(values));
}
