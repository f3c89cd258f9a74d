//! Products of pairs of bfloat16, which some processors make twice as fast as those of numbers of 32 bits.
//!
//! [`Pairs512`] is the proof that a processor has them: AVX512_BF16, beside the rest of AVX-512 (Zen 4, Cooper Lake, Sapphire Rapids and
//! their successors). [`Tiles`] is the proof of AMX, which multiplies sixteen rows at a time. Other targets than x86-64 have the
//! layout of its [`Tile`]s alone.
//!
//! Functions that call what not every processor has are unsafe inside; the interface is safe.

#[cfg(target_arch = "x86_64")]
mod pairs512;
mod tile;
#[cfg(target_arch = "x86_64")]
mod tiles;

#[cfg(target_arch = "x86_64")]
pub use pairs512::Pairs512;
#[cfg(all(test, target_arch = "x86_64"))]
mod draws;

pub use tile::{Sums, TILE, TILES_AT_ONCE, Tile};
#[cfg(target_arch = "x86_64")]
pub use tiles::Tiles;
