use crate::StudioError;
use crate::rig_choice::{Stated, stated_rig};
use pomp_motion::Recording;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::PreprocessConfig;
use std::path::Path;

const OTHER_KIND: &str =
    "it is none of .bvh, .glb, .gltf and .npz; drop a BVH, GLB or glTF file, a recording or a rollout";

/// A recording or rollout from an npz, or a BVH, GLB or glTF file put on the project skeleton, with contacts and gaits.
///
/// # Errors
/// A file of another kind, or one that its reader refuses.
pub fn open_clip(
    path: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<Recording, StudioError> {
    let name =
        path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
    let refused = |reason: String| StudioError::BadClip { name: name.clone(), reason };
    match extension(path).as_deref() {
        Some("npz") => Ok(pomp_formats::read_recording(path)?),
        Some(kind) if pomp_formats::MOTION_FILES.contains(&kind) => {
            let loaded =
                pomp_preprocess::load_clip(path, config, rigs).map_err(|error| refused(error.to_string()))?;
            pomp_preprocess::labelled(&loaded.clip, config).map_err(|error| refused(error.to_string()))
        }
        _ => Err(refused(OTHER_KIND.to_owned())),
    }
}

/// What a page has sent as the file `name`; where joints are `stated`, with a rig map that has them.
///
/// # Errors
/// As [`open_clip`], and stated joints that do not fit.
pub(crate) fn open_upload(
    name: &str,
    bytes: &[u8],
    stated: &Stated,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<Recording, StudioError> {
    let recording = with_upload(name, bytes, &["bvh", "glb", "gltf", "npz"], |path| {
        if stated.is_empty() || extension(path).as_deref() == Some("npz") {
            return open_clip(path, config, rigs);
        }
        let (motion, _) = pomp_preprocess::read_motion(path).map_err(|error| bad_clip(name, &error))?;
        let rig = stated_rig(&motion, stated).map_err(|error| bad_clip(name, &error))?;
        open_clip(path, config, &RigLibrary::only(rig))
    })?;
    Ok(Recording {
        name: if recording.name == UPLOAD { stem(&shown(name)) } else { recording.name },
        ..recording
    })
}

/// Name of the file, without its kind, that an upload is put into.
const UPLOAD: &str = "clip";

/// Puts what a page has sent as the file `name` into a file of its kind, one of `kinds`, and has it read by `work`. What `work` says of
/// the file is told of `name`.
///
/// # Errors
/// A file of another kind, and what `work` says.
pub(crate) fn with_upload<T>(
    name: &str,
    bytes: &[u8],
    kinds: &[&str],
    work: impl FnOnce(&Path) -> Result<T, StudioError>,
) -> Result<T, StudioError> {
    let system = |action| move |source| StudioError::System { action, source };
    let folder = tempfile::tempdir().map_err(system("making room for the file"))?;
    let shown = shown(name);
    let kind = extension(Path::new(name)).filter(|kind| kinds.contains(&kind.as_str()));
    let Some(kind) = kind else {
        return Err(StudioError::BadClip { name: shown, reason: OTHER_KIND.to_owned() });
    };
    // A name from elsewhere never becomes a path.
    let path = folder.path().join(format!("{UPLOAD}.{kind}"));
    std::fs::write(&path, bytes).map_err(system("making room for the file"))?;
    work(&path).map_err(|error| {
        // The visitor knows the file by its own name, not by where it lay.
        let told = error.to_string().replace(&path.display().to_string(), &shown);
        let beginning = format!("{UPLOAD}.{kind}: ");
        let told = told.strip_prefix(&beginning).unwrap_or(&told);
        let reason = told.strip_prefix(&format!("{shown}: ")).unwrap_or(told).to_owned();
        StudioError::BadClip { name: shown, reason }
    })
}

/// What is wrong with the file `name`.
pub(crate) fn bad_clip(name: &str, error: &impl ToString) -> StudioError {
    StudioError::BadClip { name: shown(name), reason: error.to_string() }
}

/// A file's name as it is told.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(80).collect()
}

fn extension(path: &Path) -> Option<String> {
    path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase)
}

fn stem(name: &str) -> String {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(name: &str, bytes: &[u8]) -> Result<Recording, StudioError> {
        open_upload(name, bytes, &Stated::new(), &PreprocessConfig::default(), &RigLibrary::builtin())
    }

    #[test]
    fn rejects_files_of_other_kinds_by_their_own_name() {
        for name in ["walk.fbx", "walk", "", "../../etc/passwd"] {
            let error = opened(name, b"x").unwrap_err().to_string();
            assert!(error.contains(".bvh") && error.contains(".npz"), "{error}");
        }
    }

    #[test]
    fn rejects_broken_files_and_names_them_and_not_where_they_lay() {
        for name in ["broken.bvh", "broken.npz"] {
            let error =
                opened(name, b"HIERARCHY\nROOT Hips\n{\n  OFFSET 0 nonsense\n").unwrap_err().to_string();
            println!("{error}");
            assert!(error.starts_with(&format!("{name}: ")), "{error}");
            assert!(!error.contains("clip."), "{error}");
        }
    }
}
