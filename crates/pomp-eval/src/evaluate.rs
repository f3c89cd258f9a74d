use crate::track::Motion;
use crate::{EvalError, Metrics, Track, command, falls, feet, forces, pushes, smoothness, work};
use pomp_motion::Recording;
use pomp_terrain::HeightMap;

/// Measures one track of a recording on the ground that it moves on.
///
/// Fields that do not apply are `None`: forces without a simulation, commands without a generation track, contact
/// without labels. The forces are those of the simulated side whichever track is asked for.
///
/// # Errors
/// [`EvalError::MissingTrack`] when the recording lacks the track; [`EvalError::ForeignSkeleton`] when it is not
/// the project skeleton's; and when arrays disagree in size or hold a NaN or an infinity.
pub fn evaluate(recording: &Recording, terrain: &HeightMap, which: Track) -> Result<Metrics, EvalError> {
    let motion = Motion::of(recording, terrain, which)?;
    let mut metrics =
        Metrics { duration_s: Some(motion.frames() as f64 / motion.rate_hz), ..Metrics::default() };
    feet::measure(&motion, &mut metrics);
    smoothness::measure(&motion, &mut metrics);
    work::measure(&motion, &mut metrics);
    command::measure(&motion, recording, &mut metrics)?;
    forces::measure(recording, &mut metrics)?;
    let falls = falls::measure(&motion, recording, terrain, &mut metrics);
    pushes::measure(&motion, recording, terrain, &falls, &mut metrics)?;
    Ok(metrics)
}
