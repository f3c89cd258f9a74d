//! Frames of a motion file that nobody can have moved through: spikes, repeated frames, jumps.
//!
//! What is certain is mended and said: a motion of which every frame is stored twice is taken at half its rate, frames that leave
//! the motion and come back at more than [`FASTEST_M_S`] are interpolated. What is not certain is left as it is and
//! said, or, where nothing that follows would mean anything, refused. Frames are counted from 0.

mod defect;
mod jumps;
mod repeats;
mod track;

pub use defect::{Defect, FASTEST_M_S};

use pomp_motion::SourceMotion;
use track::JointTracks;

/// The motion without what could be mended, and everything that was found.
///
/// `metres` is the length of the file's unit.
///
/// # Errors
/// A jump that does not come back, or more spikes than a motion may have: where, and what to do.
pub fn mended(motion: SourceMotion, metres: f32) -> Result<(SourceMotion, Vec<Defect>), String> {
    let mut defects = Vec::new();
    let motion = repeats::divided(motion, metres, &mut defects);
    let tracks = JointTracks::of(&motion, metres);
    repeats::report(&motion, &tracks, &mut defects);
    match jumps::mended(motion, &tracks, &mut defects) {
        Ok(motion) => Ok((motion, defects)),
        // A frozen stretch often ends in a jump to where the body has gone meanwhile.
        Err(reason) => Err(defects.iter().fold(reason, |told, defect| format!("{told}; besides, {defect}"))),
    }
}
