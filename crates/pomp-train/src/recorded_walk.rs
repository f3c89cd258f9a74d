//! A recording for tests: a walk, preprocessed.

use pomp_preprocess::{OnFailure, PreprocessConfig, find_inputs};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Preprocesses a walk of the repository into `out`.
pub(crate) fn record_walk(out: &Path) {
    let clip = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/clips/01_walk.bvh"));
    let config = PreprocessConfig { mirror: false, ..PreprocessConfig::default() };
    let rigs = pomp_motion::retarget::RigLibrary::builtin();
    let on = |_: &pomp_preprocess::Progress| ControlFlow::Continue(());
    let inputs = find_inputs(&[clip]).unwrap();
    pomp_preprocess::run(&inputs, out, &config, &rigs, OnFailure::Stop, &on).unwrap();
}
