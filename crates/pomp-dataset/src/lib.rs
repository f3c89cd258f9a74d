//! A folder of recordings as a product: what is in it, and the same in other people's formats.
//!
//! [`Dataset::open`] lists the recordings of a folder that `pomp preprocess` has made and reads its manifest.
//! [`census()`] counts them: minutes by gait and by ground, forces under the feet, licences, what was skipped.
//! [`export()`] writes them as tar shards, Parquet, ProtoMotions and MimicKit motions, glTF or BVH; it goes on where it was
//! interrupted, and gives the same bytes for the same data.
//!
//! It changes no recording and computes no motion: retargeting to other bodies is left to whoever loads the files.

mod census;
mod error;
mod export;
mod folder;
mod stance_peaks;

pub use census::{Census, Closures, Histogram, LicenceRow, Share, Skipped, Warned, census};
pub use error::DatasetError;
pub use export::{Exported, Format, export};
pub use folder::{Dataset, Ground, ImpulseFigures, LeftOut, Manifest, ManifestClip, ManifestFailure};
