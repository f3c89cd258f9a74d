//! New clips from recorded ones, by simulation (docs/method.md §6.6): motion that mocap lacks is made from motion that it has.
//!
//! [`warp`] lays a level clip on ground with relief ([`WarpConfig`]), [`pace`] slows a walk ([`PaceConfig`]), [`in_style`] walks it in another style ([`RestyleConfig`]), [`bump`] pushes a
//! clip while the ragdoll replays it ([`BumpConfig`]), and [`fell`] makes it fall, lie and get up ([`FallConfig`]).
//! Each gives the reason where a clip does not allow it. [`bump`] and [`fell`] simulate by themselves; [`warp`], [`pace`] and [`in_style`] give
//! targets for [`pomp_estimate::replay`].
//!
//! The same seed and name give the same variant. It reads no files.

mod bumps;
mod falls;
mod pace;
mod restyle;
mod smoothing;
mod source;
mod warp;

pub use bumps::{BumpConfig, Bumped, bump};
pub use falls::{FallConfig, Felled, GetUpClip, Unfit, WayUp, fell, way_up};
pub use pace::{PaceConfig, Paced, pace};
pub use restyle::{InStyle, RestyleConfig, drawn_from, in_style};
pub use source::Source;
pub use warp::{ReliefKind, WarpConfig, Warped, warp};
