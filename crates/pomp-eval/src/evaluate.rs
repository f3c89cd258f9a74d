use crate::foot_forces::{FootForces, weight_n};
use crate::track::Motion;
use crate::{
    EvalError, Metrics, Track, assist, command, excursions, falls, feet, forces, ground_forces, posture,
    pushes, responses, smoothness, strength, work,
};
use pomp_motion::Recording;
use pomp_terrain::HeightMap;

/// Measures one track of a recording on the ground that it moves on.
///
/// Fields that do not apply are `None`: forces without a simulation, commands without a generation track, contact
/// without labels. The forces are those of the simulated side whichever track is asked for, but for those of stances: of a clip
/// they are the best estimate.
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
    responses::measure(&motion, recording, &mut metrics);
    posture::measure(&motion, terrain, &mut metrics);
    if let Some(weight_n) = weight_n(recording)? {
        let feet = FootForces::of(recording, which, weight_n);
        // What assist and feet share is one body's: the estimate of a clip knows no assist.
        let own = feet.as_ref().filter(|_| which == Track::Simulated);
        assist::measure(&motion, recording, weight_n, own, &mut metrics)?;
        forces::measure(recording, weight_n, &mut metrics);
        if let Some(feet) = &feet {
            ground_forces::measure(&motion, recording, terrain, feet, &mut metrics);
        }
        strength::measure(recording, &mut metrics);
    }
    let falls = falls::measure(&motion, recording, which, terrain, &mut metrics);
    pushes::measure(&motion, recording, terrain, &falls, &mut metrics)?;
    excursions::measure(&motion, terrain, &mut metrics);
    Ok(metrics)
}
