//! One character in one world: what a page steers, pushes, stops and takes back.
//!
//! A [`World`] is made from a model and a [`SceneRequest`] and moved on frame by frame; it knows no clock, no thread and no
//! network, so that the same scene with the same [`Event`]s gives the same frames.

mod ground;
mod recording_buffer;
mod repeat;
mod scene;
mod scene_recipe;
mod simulation;
mod style;

pub use ground::{Bump, Patch};
pub use recording_buffer::RecordingBuffer;
pub use repeat::repeated;
pub use scene::{Event, SceneRequest, offered_controllers, offered_gaits};
pub use scene_recipe::replay;
pub use simulation::{World, WorldLimits};
pub use style::offered_styles;
