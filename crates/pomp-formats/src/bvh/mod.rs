//! BVH (Biovision hierarchy): a skeleton and its motion as text.
//!
//! Reading is in three steps. A guard of our own checks the header token by token and writes it in the one
//! dialect that the `bvh_anim` parser reads without loss; `bvh_anim` gives tree and channels; the motion
//! block goes through a fast float parser that knows line and column of every value. `bvh_anim` 0.4 alone
//! cuts names at a colon or a space, invents or loses joints around end sites, accepts NaN and wrong channel
//! counts, panics on a byte-order mark and reserves memory from the header.
//!
//! Writing is our own: the builder of `bvh_anim` 0.4 returns no joints. [`write_bvh`] writes a clip in one dialect,
//! [`write_bvh_like`] a motion in that of another file.

mod half_turn;
mod header;
mod like;
mod motion_block;
mod position_channels;
mod problem;
mod reader;
mod scanner;
mod warning;
mod writer;

pub use bvh_anim::ChannelType;
pub use like::{bvh_text_like, write_bvh_like};
pub use problem::BvhProblem;
pub use reader::{
    BvhFile, BvhReadOptions, PositionChannels, parse_bvh, parse_bvh_with, read_bvh, read_bvh_with,
};
pub use warning::BvhWarning;
pub use writer::{BvhWriteOptions, RotationOrder, bvh_text, write_bvh};
