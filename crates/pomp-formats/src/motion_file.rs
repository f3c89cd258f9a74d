//! A motion from whatever kind of file it is in.

use crate::{FormatError, read_bvh, read_glb};
use pomp_motion::SourceMotion;
use std::path::Path;

/// Endings of the files that [`read_motion`] reads.
pub const MOTION_FILES: [&str; 3] = ["bvh", "glb", "gltf"];

/// Whether a file is a motion file by its ending.
pub fn is_motion_file(path: &Path) -> bool {
    MOTION_FILES.iter().any(|kind| has_ending(path, kind))
}

/// The motion of a BVH, GLB or glTF file as it is written, and the reader's warnings. A file with another ending is read as BVH.
///
/// # Errors
/// A file that its reader refuses.
pub fn read_motion(path: &Path) -> Result<(SourceMotion, Vec<String>), FormatError> {
    if ["glb", "gltf"].iter().any(|kind| has_ending(path, kind)) {
        let file = read_glb(path)?;
        return Ok((file.motion, file.warnings));
    }
    let file = read_bvh(path)?;
    Ok((file.motion, file.warnings.iter().map(ToString::to_string).collect()))
}

fn has_ending(path: &Path, kind: &str) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(kind))
}
