//! Motion from whatever file it is in.

use anyhow::{Context, Result, bail};
use pomp_motion::Recording;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::PreprocessConfig;
use std::path::{Path, PathBuf};

/// The built-in rig maps, with the user's own before them.
pub fn rigs(own: &[PathBuf]) -> Result<RigLibrary> {
    own.iter().try_fold(RigLibrary::builtin(), |library, path| Ok(library.with_file(path)?))
}

/// Whether a file is a recording by its ending.
pub fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz"))
}

/// A recording from an npz, or a BVH, GLB or glTF file retargeted, with contacts and gaits, on the project skeleton.
pub fn read(path: &Path, config: &PreprocessConfig, rigs: &RigLibrary) -> Result<Recording> {
    if is_recording(path) {
        return Ok(pomp_formats::read_recording(path)?);
    }
    if !pomp_formats::is_motion_file(path) {
        bail!("{}: none of .bvh, .glb, .gltf and .npz; give a motion file or a recording", path.display());
    }
    let loaded = pomp_preprocess::load_clip(path, config, rigs)?;
    pomp_preprocess::labelled(&loaded.clip, config).with_context(|| path.display().to_string())
}
