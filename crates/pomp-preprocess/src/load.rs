//! Motion files on the project skeleton, with labels of contacts and gaits.

use crate::{PreprocessConfig, PreprocessError};
use pomp_motion::retarget::{RetargetReport, RigLibrary, SourceFrame};
use pomp_motion::{Clip, MotionError, Recording};
use std::path::Path;

/// A motion file mapped onto the project skeleton.
#[derive(Clone, Debug)]
pub struct LoadedClip {
    /// The clip at the config's rate.
    pub clip: Clip,
    /// Results of the mapping.
    pub report: RetargetReport,
    /// Warnings of reader and mapping.
    pub warnings: Vec<String>,
}

/// Reads a BVH or GLB file and maps it onto the project skeleton at the config's rate.
///
/// # Errors
/// The configuration is out of range; the file, its skeleton, its frames or its motion are refused.
pub fn load_clip(
    path: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<LoadedClip, PreprocessError> {
    config.validate()?;
    let (motion, mut warnings) = if path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("glb")) {
        let file = pomp_formats::read_glb(path)?;
        (file.motion, file.warnings)
    } else {
        let file = pomp_formats::bvh::read_bvh(path)?;
        (file.motion, file.warnings.iter().map(ToString::to_string).collect())
    };
    let retarget = |source| PreprocessError::Retarget { path: path.to_path_buf(), source };
    let (rig, joints) = rigs.choose(&motion.skeleton).map_err(retarget)?;
    motion.validate().map_err(|source| retarget(source.into()))?;
    let unit = SourceFrame::detect(&motion, &joints, &config.retarget).map_err(retarget)?.unit;
    let (motion, defects) = pomp_estimate::defects::repaired(motion, unit.metres())
        .map_err(|reason| PreprocessError::BadFrames { path: path.to_path_buf(), reason })?;
    warnings.extend(defects.iter().map(ToString::to_string));
    let retargeted = pomp_motion::retarget::retarget(&motion, rig, &config.retarget).map_err(retarget)?;
    warnings.extend(retargeted.report.warnings.iter().cloned());
    Ok(LoadedClip {
        clip: retargeted.clip.resampled(config.frame_rate_hz),
        report: retargeted.report,
        warnings,
    })
}

/// A recording of `clip` with foot contacts and gaits.
///
/// # Errors
/// A clip that gait labelling refuses.
pub fn labelled(clip: &Clip, config: &PreprocessConfig) -> Result<Recording, MotionError> {
    let mut recording = Recording::of_clip(clip);
    recording.foot_contact = pomp_motion::foot_contacts(clip, &config.contacts);
    recording.gait = pomp_motion::gait_labels(clip, &recording.foot_contact, &config.gaits)?;
    Ok(recording)
}
