//! Messages between page and server.
//!
//! Every message is one binary WebSocket frame that holds a [`FromPage`] or a [`ToPage`] in MessagePack: structs are maps with
//! the fields' names, and long rows of numbers are [`Floats`]. The page's types, `web/src/generated/protocol.ts`, are generated
//! from these by ts-rs; a test fails when the file is stale, and writes it anew when the environment variable `UPDATE_TYPES` is set.

mod floats;
mod from_page;
mod skeleton;
mod to_page;
#[cfg(test)]
mod typescript;

pub use floats::{FLOATS_EXTENSION, Floats};
pub use from_page::{FromPage, MAX_MESSAGE_BYTES, PushRequest, ThrowRequest};
pub use skeleton::{JointInfo, Shape};
pub(crate) use skeleton::{joints, shapes};
pub use to_page::{
    FrameMessage, Ground, Level, ModelInfo, Notice, SceneInfo, TerrainPatch, ThrownBox, ToPage, WorldState,
};

use serde::Serialize;

/// MessagePack with the names of the fields.
pub(crate) fn to_bytes(message: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec_named(message).expect("a message is plain data, which can always be encoded")
}
