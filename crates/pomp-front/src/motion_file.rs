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

/// A recording from an npz, or a BVH or GLB file retargeted, with contacts and gaits, on the project skeleton.
pub fn read(path: &Path, config: &PreprocessConfig, rigs: &RigLibrary) -> Result<Recording> {
    match path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("npz") => Ok(pomp_formats::read_recording(path)?),
        Some("bvh" | "glb") => {
            let loaded = pomp_preprocess::load_clip(path, config, rigs)?;
            pomp_preprocess::labelled(&loaded.clip, config).with_context(|| path.display().to_string())
        }
        _ => bail!("{}: none of .bvh, .glb and .npz; give a motion file or a recording", path.display()),
    }
}
