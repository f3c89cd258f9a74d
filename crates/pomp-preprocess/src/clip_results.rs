//! All results of one clip.

use crate::given::Given;
use crate::input::Input;
use crate::journal::{LeftOut, ManifestEntry};
use crate::load::load_clip;
use crate::own_ground::{Made, NotMade, OwnGround};
use crate::variant::{Planned, Variant, planned};
use crate::{PreprocessConfig, PreprocessError};
use pomp_motion::retarget::RigLibrary;
use pomp_motion::{Gait, Recording};

/// Least number of frames of a clip at the target rate: a third of a second.
const LEAST_FRAMES: usize = 20;

/// All results of one clip; hashes are still empty. The first entry lists the variants that the clip does not have.
///
/// # Errors
/// A defect of the clip.
pub fn preprocess_clip(
    input: &Input,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<Vec<(Recording, ManifestEntry)>, PreprocessError> {
    // Log messages of the crates below carry the clip's name.
    let _clip = tracing::info_span!("clip", name = %input.name).entered();
    let loaded = load_clip(&input.path, config, rigs)?;
    if loaded.clip.frames() < LEAST_FRAMES {
        return Err(PreprocessError::TooShort {
            path: input.path.clone(),
            frames: loaded.clip.frames(),
            least: LEAST_FRAMES,
        });
    }
    let mut results: Vec<(Recording, ManifestEntry)> = Vec::new();
    let mut left_out = Vec::new();
    let mut failed = Vec::new();
    let given = Given::read(config, rigs)?;
    let mut own: Option<OwnGround> = None;
    for Planned { name, mirrored, variant } in planned(&input.name, config) {
        if variant == Variant::Fitted(0) {
            own = Some(OwnGround::of(input, &loaded, mirrored, config)?);
        }
        let own = own.as_ref().expect("the plain result is planned before its variants");
        match own.made(input, &name, variant, &given, config)? {
            Ok(Made { mut recording, ground, mut warnings, replay, impulses, license }) => {
                warnings.splice(0..0, loaded.warnings.iter().cloned());
                recording.name.clone_from(&name);
                recording.source.clone_from(&input.provenance.source);
                if let Some(inference) = &loaded.inference {
                    recording.source += &format!(
                        "; rig inferred {}, confidence {:.2}",
                        inference.method, inference.confidence
                    );
                }
                if variant != Variant::Fitted(0) {
                    recording.source += &format!("; {}", ground.description);
                }
                recording.license.clone_from(&input.provenance.license);
                if let Some(license) = license {
                    recording.license += &format!("; {license}");
                }
                let mut gait_frames = [0; Gait::COUNT];
                for weights in &recording.gait {
                    gait_frames[Gait::dominant(weights).index()] += 1;
                }
                let entry = ManifestEntry {
                    file: format!("{name}.npz"),
                    name,
                    sha256: String::new(),
                    input: input.path.clone(),
                    input_sha256: String::new(),
                    config_hash: String::new(),
                    source: recording.source.clone(),
                    license: recording.license.clone(),
                    rig: loaded.report.rig.clone(),
                    rig_confidence: loaded.inference.as_ref().map(|inference| inference.confidence),
                    frames: recording.frames(),
                    gait_frames,
                    warnings,
                    ground,
                    left_out: Vec::new(),
                    replay,
                    impulses,
                };
                results.push((recording, entry));
            }
            Err(NotMade { reason, is_failure }) => {
                if is_failure {
                    failed.push(format!("there is no {name}: {reason}"));
                }
                left_out.push(LeftOut { name, reason });
            }
        }
    }
    if let Some((_, first)) = results.first_mut() {
        first.left_out = left_out;
        first.warnings.extend(failed);
    }
    tracing::debug!(frames = loaded.clip.frames(), recordings = results.len(), "preprocessed");
    Ok(results)
}
