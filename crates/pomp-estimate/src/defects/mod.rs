//! Frames of a motion file that no body can have moved through: spikes, repeated frames, jumps.
//!
//! Certain defects are repaired and reported: a motion in which every frame is stored twice is read at half its rate, and spikes,
//! frames that leave the motion and return at more than [`FASTEST_M_S`], are interpolated. Uncertain defects are reported and left
//! unchanged; defects that would make all results meaningless refuse the clip. Frames are counted from 0.

mod defect;
mod jumps;
mod repeats;
mod track;

pub use defect::{Defect, FASTEST_M_S};

use pomp_motion::SourceMotion;
use track::JointTracks;

/// The repaired motion, and every defect found.
///
/// `metres` is the length of the file's unit.
///
/// # Errors
/// A jump that does not return, or too many spikes: where, and what to do.
pub fn repaired(motion: SourceMotion, metres: f32) -> Result<(SourceMotion, Vec<Defect>), String> {
    let mut defects = Vec::new();
    let motion = repeats::divided(motion, metres, &mut defects);
    let tracks = JointTracks::of(&motion, metres);
    repeats::report(&motion, &tracks, &mut defects);
    match jumps::repaired(motion, &tracks, &mut defects) {
        Ok(motion) => Ok((motion, defects)),
        // A frozen stretch often ends in a jump to the body's later place.
        Err(reason) => Err(defects.iter().fold(reason, |told, defect| format!("{told}; besides, {defect}"))),
    }
}
