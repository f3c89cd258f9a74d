//! Height-map terrain: what the character walks on.
//!
//! A [`TerrainSpec`] describes a terrain in a few numbers (flat, slope, stairs, hills, rough, gaps, sums of
//! them, or a file); [`generate`] turns it and a seed into a [`HeightMap`]; [`HeightMap`] answers heights,
//! normals and the smoothed height under the root frame; [`load`] and [`save`] move height maps to and
//! from files. A height map wraps [`pomp_motion::TerrainGrid`], the plain data that recordings carry.
//!
//! ```
//! use pomp_terrain::{generate, preset};
//! let spec = preset("stairs").expect("stairs is a preset");
//! let map = generate(&spec, 7)?;
//! assert_eq!(map.height(0.0, 0.0), 0.0);
//! assert!(map.height(0.0, 4.0) > 0.1);
//! # Ok::<(), pomp_terrain::TerrainError>(())
//! ```
//!
//! # Conventions
//!
//! Metres, Y up. Row i of a grid lies at z = origin z + i·cell, column j at x = origin x + j·cell. The
//! character starts at the origin facing +Z, so generated terrains keep a level [`StartArea`] of height 0
//! there, and shapes with a direction (slope, stairs, gaps) run along +Z unless they are turned by
//! `heading_deg`; a positive heading turns towards +X, the character's left.
//!
//! # What it does not do
//!
//! Only one height per place: no overhangs, no vertical walls (a riser is as steep as one cell allows). No
//! simulation; `pomp-physics` builds the collider from [`HeightMap::grid`].

mod error;
pub mod file;
mod generate;
mod height_map;
mod load;
mod shape;
mod spec;
mod unevenness;

pub use error::TerrainError;
pub use file::save;
pub use generate::generate;
pub use height_map::{Bounds, HeightMap};
pub use load::load;
pub use shape::Shape;
pub use spec::{PRESET_NAMES, StartArea, TerrainSpec, preset};
pub use unevenness::Unevenness;
