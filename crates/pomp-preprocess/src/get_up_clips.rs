//! Recorded get-up motions, from motion files.

use crate::load::load_clip;
use crate::own_ground::on_own_ground;
use crate::{PreprocessConfig, PreprocessError, ProvenanceIndex};
use pomp_augment::{GetUpClip, way_up};
use pomp_motion::Clip;
use pomp_motion::retarget::RigLibrary;

/// The get-up motions that `config` names, each followed by its mirror image.
///
/// # Errors
/// A file that is refused, or that shows no get-up.
pub(crate) fn get_up_clips(
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<Vec<GetUpClip>, PreprocessError> {
    let mut found = Vec::new();
    let mut provenance = ProvenanceIndex::default();
    for path in config.falls.clips() {
        let loaded = load_clip(path, config, rigs)?;
        let (recording, _, fit) = on_own_ground(path, &loaded.clip, config)?;
        let frames = way_up(&recording).ok_or_else(|| PreprocessError::BadConfig {
            reason: format!(
                "falls.get_up: {} does not show a person who lies, gets up and stands; name another clip",
                path.display()
            ),
        })?;
        let clip = Clip { poses: loaded.clip.poses[frames].to_vec(), ..loaded.clip };
        let license = provenance.of(path)?.license;
        let mut mirrored = clip.mirrored();
        mirrored.name = format!("{} mirrored", clip.name);
        let level_m = fit.level_m;
        found.push(GetUpClip { clip, level_m, license: license.clone() });
        found.push(GetUpClip { clip: mirrored, level_m, license });
    }
    Ok(found)
}
