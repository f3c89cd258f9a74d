//! What models, reconstructions and benches are worth, as figures, tables, charts and pages.
//!
//! Each module measures one thing and writes what it found: [`phase`] the phase manifold of a model, [`kinematic`] its
//! kinematic module, [`retargeting`] ways to put motion on other skeletons, [`impulses`] contact impulses beside force plates, [`terrain`] reconstructed ground, and [`mod@bench`]
//! lays out the figures of [`pomp_bench`], [`performance`] those of what a frame costs. Every report is plain data that serialises, and has its tables as text.
//!
//! ```no_run
//! use std::path::Path;
//! # fn main() -> Result<(), pomp_report::ReportError> {
//! let model = pomp_embedded::load(&pomp_embedded::Device::flex())?;
//! let report = pomp_report::phase::measure(&model, "compact", Path::new("out/data"), 2000)?;
//! println!("{}", report.tables());
//! report.write(Path::new("out/phases"))?; // report.md, report.json and pictures
//! # Ok(())
//! # }
//! ```
//!
//! Metrics of single recordings are `pomp-eval`'s, charts `pomp-render`'s. This crate prints nothing and sets no pass
//! marks, but for the reconstructed ground, whose true form is known.

pub mod bench;
mod error;
pub mod impulses;
pub mod kinematic;
mod output;
pub mod performance;
pub mod phase;
pub mod retargeting;
pub mod terrain;
mod training_split;

pub use error::ReportError;
