//! Recorded ways up, from motion files.

use crate::own_ground::on_own_ground;
use crate::pipeline::load_clip;
use crate::{PreprocessConfig, PreprocessError, ProvenanceIndex};
use pomp_motion::retarget::RigLibrary;
use pomp_motion::{Clip, Gait, Recording, humanoid};

/// Cosine of the angle between a standing trunk and upright.
const UPRIGHT: f32 = 0.95;

/// Somebody who lies, gets up and stands.
#[derive(Clone, Debug)]
pub(crate) struct GetUpClip {
    /// From lying to standing.
    pub clip: Clip,
    /// Height of the ground, metres.
    pub level_m: f32,
    pub license: String,
}

/// The ways up that `config` names, each followed by its mirror image.
///
/// # Errors
/// A file that is refused, or that holds nobody who gets up.
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
                "falls.get_up: {} holds nobody who lies, gets up and stands; name another clip",
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

/// From the beginning of the last lying that somebody gets up from to where that one stands most still.
pub(super) fn way_up(recording: &Recording) -> Option<std::ops::RangeInclusive<usize>> {
    let gait = |frame: &usize| Gait::dominant(&recording.gait[*frame]);
    let frames = recording.frames();
    let rises = (0..frames).rfind(|frame| gait(frame) == Gait::GetUp)?;
    let begins = (0..rises).rfind(|frame| gait(frame) == Gait::Lie)?;
    let lies = (0..begins).rfind(|frame| gait(frame) != Gait::Lie).map_or(0, |frame| frame + 1);
    let upright = |frame: &usize| {
        let joints = &recording.positions[*frame];
        (joints[humanoid::NECK.0] - joints[humanoid::HIPS.0]).normalize_or_zero().y > UPRIGHT
    };
    let speed = |frame: &usize| recording.velocities[*frame].iter().map(|v| v.length()).sum::<f32>();
    let stands = (rises + 1..frames).filter(upright).min_by(|a, b| speed(a).total_cmp(&speed(b)))?;
    Some(lies..=stands)
}
