//! Loops over eight or sixteen values at a time: written once, compiled once per instruction set, chosen at run time.
//!
//! A [`LaneLoop`] is a loop that is generic in its instructions, [`Wide`]; [`Lanes`] knows the widest that this machine has and
//! runs the loop with them. The networks are run so in the closed loop, where one frame at a time leaves nothing to a
//! general tensor library; [`PackedLinear`] is their dense layer.
//!
//! ```
//! use pomp_lanes::{LANES, LaneLoop, Lanes, Wide};
//!
//! struct Sum<'a>(&'a [f32], &'a mut f32);
//! impl LaneLoop for Sum<'_> {
//!     #[inline(always)]
//!     fn run<W: Wide>(self, wide: W) {
//!         let (eights, rest) = self.0.as_chunks::<LANES>();
//!         let mut sum = wide.splat(0.0);
//!         for eight in eights {
//!             sum = wide.multiply_add(wide.load(eight), wide.splat(1.0), sum);
//!         }
//!         *self.1 = wide.store(sum).iter().chain(rest).sum();
//!     }
//! }
//! let mut sum = 0.0;
//! Lanes::detect().run(Sum(&[1.0; 19], &mut sum));
//! assert_eq!(sum, 19.0);
//! ```
//!
//! Every value has a lane of its own, and sums of eight are what a loop says they are, however wide registers are: results are
//! the same bytes on all sets of instructions that fuse products with sums, which registers of 256 and of 512 bits do. Without,
//! they differ in their last bits ([`Lanes::fused`]).

mod bfloat16;
mod functions;
mod lanes;
mod limits;
mod packed;
mod products;
mod short;
mod stored;
mod tiled;
mod work;

pub use functions::{exponential, hyperbolic_tangent};
pub use lanes::{LANES, LaneLoop, Lanes, Portable, SIXTEEN, Wide, multiply_add};
pub use packed::{NotFinite, NotFinitePart, PackedLinear, Precision, padded, row_stride};
pub use products::{BLOCK_INPUTS, Scratch};
pub use short::short;
pub use work::Work;
