//! Messages between page and server.
//!
//! Every message is one binary WebSocket frame that begins with a byte for its kind; numbers are little-endian. `docs/studio.md`
//! has the tables. Rare messages carry JSON, those that come sixty times a second plain numbers.

mod from_page;
mod to_page;

pub use from_page::{Command, FromPage, MAX_MESSAGE_BYTES, PushRequest, ThrowRequest};
pub use to_page::{
    FRAME_HEADER_BYTES, FrameFlags, FrameHeader, KIND_FRAME, KIND_LINK, KIND_NOTICE, KIND_PATCH, KIND_SCENE,
    KIND_STATE, KIND_TERRAIN, Level, frame_message, json_message, notice_message, patch_message,
    terrain_message,
};
