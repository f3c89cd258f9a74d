//! A recording for tests: a walk, preprocessed.

use crate::Dataset;
use pomp_motion::features::{FeatureLayout, Rotations};
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

/// The walk with the phases of its steps, and the layout of its examples.
pub(crate) fn walk() -> (Dataset, FeatureLayout) {
    let folder = tempfile::tempdir().unwrap();
    record_walk(folder.path());
    let mut dataset = Dataset::load(folder.path(), 0, &[]).unwrap();
    for clip in &mut dataset.clips {
        let phases = pomp_controllers::gated::cycle_phase(&clip.recording.foot_contact);
        (clip.phase_codes, clip.phase_parameters) = (phases.codes, phases.parameters);
    }
    let joints = dataset.skeleton.len();
    let layout = FeatureLayout::new(joints, dataset.body_names.len(), 1, Rotations::SixD);
    (dataset, layout)
}
