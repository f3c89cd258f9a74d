//! Styles of walks by independent feature subspaces (docs/style.md): fit, blend, edit.
//!
//! After Liu, Xu and Zhang, "Human motion synthesis based on independent spatio-temporal feature space" (Chinese Journal of Computers,
//! 2011), with independent feature subspace analysis by Hyvärinen and Hoyer (2000).
//!
//! [`cut`] finds the walking cycles of a recording by the contacts of its feet. [`fit`] aligns them to a reference in time, takes principal
//! components of postures and timing, and finds a rotation into independent subspaces; the result is a [`StyleModel`], and a
//! [`FitReport`] with its figures. [`blend`] puts the style of some cycles into the rest of another, [`edit`] changes a code until joints
//! are where they are wanted, [`walk`] makes a recording of a code, and [`restyle`] walks a clip in another style. [`save`] and [`open`]
//! keep a model in one file.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (model, _) = pomp_style::open("styles.safetensors".as_ref())?;
//! let (neutral, tired) = (model.code_of("neutral")?, model.code_of("tired")?);
//! let code = pomp_style::blend(&model, &neutral, &[(0.7, tired)], pomp_style::Scope::Style)?;
//! let recording = pomp_style::walk(&model, &code, 8.0, true, "rather_tired")?;
//! # Ok(())
//! # }
//! ```
//!
//! It reads no motion files, simulates nothing, and knows no network.

mod align;
mod blend;
mod config;
mod cycle;
mod edit;
mod error;
mod file;
mod fit;
mod levenberg_marquardt;
mod measure;
mod model;
mod motion;
mod planted_feet;
mod posture;
mod principal;
mod restyle;
mod subspaces;
mod walk;
mod warp;

/// γ, the code of a walking cycle: K + L numbers, the subspaces one after the other.
pub type Code = nalgebra::DVector<f64>;

pub use blend::{Scope, blend};
pub use config::{AlignmentConfig, CycleConfig, StyleConfig, SubspaceChoice, SubspaceConfig};
pub use cycle::{Cut, KEY_FRAMES, WalkCycle, cut};
pub use edit::{Constraint, EditSettings, Edited, edit};
pub use error::StyleError;
pub use file::{open, save};
pub use fit::{FitReport, StyleClip, StyleCount, SubspaceFigures, fit, measure_clips};
pub use measure::{AccuracyFigures, ErrorFigures, Measures};
pub use model::{CodedCycle, DataRecord, Reference, StyleModel};
pub use motion::AlignedMotion;
pub use posture::PostureSpace;
pub use principal::Principal;
pub use restyle::{Restyled, restyle};
pub use subspaces::{Search, Subspaces};
pub use walk::walk;
pub use warp::{log_steps, warp_of};
