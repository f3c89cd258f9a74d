//! Pictures of clips and rollouts, and charts, drawn by the processor alone.
//!
//! A [`Renderer`] takes a [`pomp_motion::Recording`] and [`RenderOptions`] and draws any of its frames as an
//! [`Image`]: a mannequin of shaded round cones on the recording's terrain, with soft shadows, contact forces
//! in body weights as yellow arrows, pushes as red arrows, the target pose as green glass, the commanded
//! path as a green line and the way of the root as a grey one. [`render_gif`] makes an animation of it,
//! [`render_contact_sheet`] a sheet of stills, [`render_frame`] one picture, [`stack_rows`] one of several recordings at the same
//! times, each a row of [`render_row`]; [`Plot`] draws charts.
//!
//! Same arguments, same bytes, with any number of threads.
//!
//! With the feature `rerun`, `rrd_bytes` makes a file for the rerun viewer; it is off by default.
//!
//! ```
//! use pomp_motion::{Clip, Pose, Recording, Skeleton};
//! use pomp_render::{RenderOptions, render_frame, render_gif};
//! use std::sync::Arc;
//!
//! let skeleton = Arc::new(Skeleton::humanoid(1.75));
//! let poses = vec![Pose::rest(&skeleton); 5];
//! let recording = Recording::of_clip(&Clip::new("rest", skeleton, 60.0, poses)?);
//! let options = RenderOptions { width: 160, height: 120, ..RenderOptions::default() };
//! let png = render_frame(&recording, 0, &options)?.to_png()?;
//! let mut gif = Vec::new();
//! render_gif(&recording, &options, &mut gif)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! How a frame is made: sky and ground are rasterised with depth at 2 × 2 samples a pixel and shaded; the body's
//! volumes are met exactly by one ray a sample; translucent things are layers on top. The shadows are small
//! pictures of the body as the sun and the sky see it, blurred with height.
//!
//! This crate reads no files and judges no motion: numbers about motions are `pomp-eval`'s.

mod animation;
mod arrows;
mod camera;
mod canvas;
mod check;
mod color;
mod contact_sheet;
mod error;
mod figure;
mod ground;
mod image;
mod options;
mod overlay;
mod plot;
mod quantize;
#[cfg(feature = "rerun")]
mod rerun;
mod rows;
mod scene;
mod shadow;
mod text;
mod volume;

pub use animation::render_gif;
pub use contact_sheet::render_contact_sheet;
pub use error::RenderError;
pub use image::Image;
pub use options::{Azimuth, CameraOptions, Ghost, RenderOptions, Theme, View};
pub use plot::Plot;
#[cfg(feature = "rerun")]
pub use rerun::rrd_bytes;
pub use rows::{render_row, stack_rows};
pub use scene::{Renderer, render_frame};
