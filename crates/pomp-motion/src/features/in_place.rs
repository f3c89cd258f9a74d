//! Numbers of phases that lie in place, so that a frame of the closed loop asks for no memory.

use super::{FUTURE_KEYS, KEYS};
use smallvec::SmallVec;

/// Channels up to which they do; those of more channels are taken from the allocator.
const CHANNELS: usize = 8;

/// One phase code, 2C.
pub type PhaseCode = SmallVec<[f32; 2 * CHANNELS]>;

/// Phase codes of the keys of a window, `KEYS` × 2C.
pub type WindowCodes = SmallVec<[f32; KEYS * 2 * CHANNELS]>;

/// Phase codes or parameters of the future keys, `FUTURE_KEYS` × 2C or 3C.
pub type FuturePhases = SmallVec<[f32; FUTURE_KEYS * 3 * CHANNELS]>;
