//! The native module of the Python package `pomp`: recordings, preprocessing, retargeting and the closed loop, with numpy arrays.
//!
//! Each Rust module contains a class or a few functions of the package. Their documentation comments become the text of `help()`, and
//! `python/pomp/_native.pyi` states their types. Errors have the messages of the command line. Calls of a millisecond or more release
//! the interpreter and react to Ctrl-C.
//!
//! The crate computes nothing itself. The crates below do, so Python and the command line produce the same numbers.

// Python owns the arguments of a call.
#![allow(clippy::needless_pass_by_value, reason = "arguments are taken out of Python objects as values")]

mod arguments;
mod arrays;
mod batch;
mod closable;
mod errors;
mod export;
mod generator;
mod interrupt;
mod model;
mod motion;
mod preprocess;
mod progress;
mod recording;
mod retarget;
mod rollout;
mod step;
mod terrain;
mod vec_generator;
mod vec_step;
mod vec_tracker;
mod windows;

/// The module `pomp._native`.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::batch::generate_many;
    #[pymodule_export]
    use crate::export::export_folder;
    #[pymodule_export]
    use crate::generator::{PyGenerator, PySnapshot};
    #[pymodule_export]
    use crate::model::PyModel;
    #[pymodule_export]
    use crate::motion::{PyClip, contact_impulses, evaluate, fit_terrain, read_bvh};
    #[pymodule_export]
    use crate::preprocess::{_merged_manifest, _preprocessing_hash, preprocess, rank_of};
    #[pymodule_export]
    use crate::recording::{PyRecording, load, metrics, render};
    #[pymodule_export]
    use crate::retarget::retarget;
    #[pymodule_export]
    use crate::rollout::generate;
    #[pymodule_export]
    use crate::step::PyStep;
    #[pymodule_export]
    use crate::terrain::{PyTerrain, terrain};
    #[pymodule_export]
    use crate::vec_generator::PyVecGenerator;
    #[pymodule_export]
    use crate::vec_step::PyVecStep;
    #[pymodule_export]
    use crate::vec_tracker::PyVecTracker;
    #[pymodule_export]
    use crate::windows::PyWindows;
    use pomp_generator::{FRAME_RATE_HZ, Preset};
    use pomp_motion::Gait;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("FRAME_RATE_HZ", FRAME_RATE_HZ)?;
        module.add("GAITS", Gait::ALL.map(Gait::name))?;
        module.add("CONTROLS", Preset::ALL.map(Preset::name))?;
        module.add("TERRAINS", pomp_terrain::PRESET_NAMES)
    }
}
