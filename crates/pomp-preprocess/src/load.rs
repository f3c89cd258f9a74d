//! Motion files on the project skeleton, with labels of contacts and gaits.

use crate::{PreprocessConfig, PreprocessError};
use pomp_motion::retarget::{
    Inference, RetargetOptions, RetargetReport, RigLibrary, SourceFrame, without_t_pose,
};
use pomp_motion::{Clip, MotionError, Recording, SourceMotion};
use std::path::Path;

/// A motion file mapped onto the project skeleton.
#[derive(Clone, Debug)]
pub struct LoadedClip {
    /// The clip at the config's rate.
    pub clip: Clip,
    /// Results of the mapping.
    pub report: RetargetReport,
    /// How the rig map was inferred, where no known one fits.
    pub inference: Option<Box<Inference>>,
    /// Warnings of reader and mapping.
    pub warnings: Vec<String>,
}

/// Reads a BVH, GLB or glTF file and maps it onto the project skeleton at the config's rate.
///
/// # Errors
/// The configuration is out of range; the file, its skeleton, its frames or its motion are refused.
pub fn load_clip(
    path: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<LoadedClip, PreprocessError> {
    load_with_source(path, config, rigs).map(|(loaded, _)| loaded)
}

/// As [`load_clip`], with the motion of the file that was mapped: without a T-pose at its beginning, and repaired.
///
/// # Errors
/// As [`load_clip`].
pub fn load_with_source(
    path: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<(LoadedClip, SourceMotion), PreprocessError> {
    config.validate()?;
    let (motion, mut warnings) = read_motion(path)?;
    let retarget = |source| PreprocessError::Retarget { path: path.to_path_buf(), source };
    let chosen = rigs.choose_or_infer(&motion).map_err(retarget)?;
    motion.validate().map_err(|source| retarget(source.into()))?;
    let options = RetargetOptions { unit: config.retarget.unit.or(chosen.rig.file.unit), ..config.retarget };
    let unit = SourceFrame::detect(&motion, &chosen.joints, &options).map_err(retarget)?.unit;
    warnings.extend(chosen.warnings);
    warnings.extend(chosen.inference.iter().flat_map(|inference| inferred(inference)));
    let (motion, left_out) = without_t_pose(&motion, &chosen.rig).map_err(retarget)?;
    warnings.extend(left_out);
    let (motion, defects) = pomp_estimate::defects::repaired(motion.into_owned(), unit.metres())
        .map_err(|reason| PreprocessError::BadFrames { path: path.to_path_buf(), reason })?;
    warnings.extend(defects.iter().map(ToString::to_string));
    let retargeted =
        pomp_motion::retarget::retarget(&motion, &chosen.rig, &config.retarget).map_err(retarget)?;
    warnings.extend(retargeted.report.warnings.iter().cloned());
    let loaded = LoadedClip {
        clip: retargeted.clip.resampled(config.frame_rate_hz),
        report: retargeted.report,
        inference: chosen.inference,
        warnings,
    };
    Ok((loaded, motion))
}

/// The motion of a BVH, GLB or glTF file as it is written, and the reader's warnings.
///
/// # Errors
/// A file that its reader refuses.
pub fn read_motion(path: &Path) -> Result<(SourceMotion, Vec<String>), PreprocessError> {
    Ok(pomp_formats::read_motion(path)?)
}

/// What a person should know of an inferred rig.
fn inferred(inference: &Inference) -> Vec<String> {
    let mut told = vec![format!(
        "no known rig map fits; the joints are inferred {}, confidence {:.2} (`pomp rig infer` writes the map to correct)",
        inference.method, inference.confidence
    )];
    told.extend(inference.warnings.iter().cloned());
    told
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
