//! What pushes do, and how the character gets over them.

use crate::track::Motion;
use crate::{EvalError, Metrics};
use glam::{DVec2, DVec3};
use pomp_motion::statistics::mean;
use pomp_motion::{GRAVITY_M_S2, PushRecord, Recording, humanoid};
use pomp_terrain::HeightMap;

/// Time before a push that tells how the character moves undisturbed, seconds.
const BEFORE_S: f64 = 1.0;
/// Least time after a push without which nothing can be said, and time that it has to be itself again, seconds.
const HOLD_S: f64 = 0.5;
/// Time over which velocities are averaged, about a step, seconds.
const STEP_S: f64 = 0.5;
/// Farthest that the velocity may be from that before the push, m/s.
const VELOCITY_M_S: f64 = 0.3;
/// Farthest that the trunk may lean from its direction before the push, degrees.
const LEAN_DEG: f64 = 12.0;
/// Time after a push in which a fall is its doing, seconds.
const FALL_WITHIN_S: f64 = 3.0;
/// Time after a push in which its displacement is measured, seconds.
const DISPLACED_WITHIN_S: f64 = 2.0;
/// Time after a push in which the peak of the root assist is its doing, seconds.
const ASSIST_WITHIN_S: f64 = 1.0;
/// Time without contact that makes the next contact a step, seconds.
const SWING_S: f64 = 0.1;

/// What one push did.
struct Outcome {
    recovery_frames: Option<usize>,
    steps: usize,
    fell: bool,
    displacement_m: f64,
    assist_peak_bw: Option<f64>,
}

pub(crate) fn measure(
    motion: &Motion,
    recording: &Recording,
    terrain: &HeightMap,
    falls: &[usize],
    metrics: &mut Metrics,
) -> Result<(), EvalError> {
    let Some(generation) = &recording.generation else { return Ok(()) };
    if let Some(push) = generation.pushes.iter().find(|p| !(p.time_s.is_finite() && p.impulse_ns.is_finite()))
    {
        return Err(EvalError::BadRecording {
            recording: recording.name.clone(),
            reason: format!("its push at {} s of {} N·s is not finite", push.time_s, push.impulse_ns),
        });
    }
    let frames = |seconds: f64| (seconds * motion.rate_hz).round() as usize;
    let outcomes: Vec<Outcome> = generation
        .pushes
        .iter()
        .filter_map(|push| {
            let at = frames(f64::from(push.time_s).max(0.0));
            (at >= frames(BEFORE_S) && at + frames(HOLD_S) <= motion.frames())
                .then(|| outcome(motion, recording, terrain, falls, push, at))
        })
        .collect();
    let percent = |hits: usize| (!outcomes.is_empty()).then(|| 100.0 * hits as f64 / outcomes.len() as f64);
    let recovered: Vec<&Outcome> = outcomes.iter().filter(|o| o.recovery_frames.is_some()).collect();
    let over = |values: Vec<f64>| mean(&values);
    metrics.push_recovered_percent = percent(recovered.len());
    metrics.push_fell_percent = percent(outcomes.iter().filter(|o| o.fell).count());
    metrics.push_recovery_s =
        over(recovered.iter().filter_map(|o| o.recovery_frames).map(|f| f as f64 / motion.rate_hz).collect());
    metrics.push_steps = over(recovered.iter().map(|o| o.steps as f64).collect());
    metrics.push_displacement_m = over(outcomes.iter().map(|o| o.displacement_m).collect());
    metrics.push_assist_peak_bw = over(outcomes.iter().filter_map(|o| o.assist_peak_bw).collect());
    Ok(())
}

fn outcome(
    motion: &Motion,
    recording: &Recording,
    terrain: &HeightMap,
    falls: &[usize],
    push: &PushRecord,
    at: usize,
) -> Outcome {
    let frames = |seconds: f64| (seconds * motion.rate_hz).round() as usize;
    let last = motion.frames() - 1;
    let begin = at - frames(BEFORE_S);
    let velocity_before =
        (pelvis(motion, at) - pelvis(motion, begin)) * (motion.rate_hz / (at - begin) as f64);
    let trunk_before: DVec3 =
        (begin..=at).map(|frame| trunk(motion, frame)).sum::<DVec3>().normalize_or_zero();

    let itself = |frame: usize| {
        let half = frames(STEP_S) / 2;
        // Averages reach back to the push at most: what was before it says nothing of what it did.
        let (from, to) = (frame.saturating_sub(half).max(at), (frame + half).min(last));
        let velocity =
            (pelvis(motion, to) - pelvis(motion, from)) * (motion.rate_hz / (to - from).max(1) as f64);
        (velocity - velocity_before).length() <= VELOCITY_M_S
            && trunk(motion, frame).angle_between(trunk_before).to_degrees() <= LEAN_DEG
            && !motion.is_down(terrain, frame)
    };
    let hold = frames(HOLD_S);
    let mut held = 0;
    let mut recovery_frames = None;
    for frame in at..=last {
        held = if itself(frame) { held + 1 } else { 0 };
        if held > hold || (held == hold && frame == last) {
            recovery_frames = Some(frame + 1 - held - at);
            break;
        }
    }

    let direction =
        DVec2::new(f64::from(push.impulse_ns.x), f64::from(push.impulse_ns.z)).normalize_or_zero();
    let displacement_m = (at..=(at + frames(DISPLACED_WITHIN_S)).min(last))
        .map(|frame| {
            let unpushed = pelvis(motion, at) + velocity_before * ((frame - at) as f64 / motion.rate_hz);
            (pelvis(motion, frame) - unpushed).dot(direction)
        })
        .fold(0.0, f64::max);
    let weight = recording.simulation.as_ref().map(|simulation| {
        simulation.body_mass_kg.iter().map(|&mass| f64::from(mass)).sum::<f64>() * GRAVITY_M_S2
    });
    let assist_peak_bw = recording.simulation.as_ref().zip(weight).map(|(simulation, weight)| {
        (at..=(at + frames(ASSIST_WITHIN_S)).min(last))
            .map(|frame| simulation.assist_force[frame].as_dvec3().length() / weight)
            .fold(0.0, f64::max)
    });
    Outcome {
        steps: recovery_frames.map_or(0, |recovery| steps(motion, at, at + recovery)),
        recovery_frames,
        fell: falls.iter().any(|&fall| fall >= at && fall <= at + frames(FALL_WITHIN_S)),
        displacement_m,
        assist_peak_bw,
    }
}

/// The pelvis on the ground plane, metres.
pub(crate) fn pelvis(motion: &Motion, frame: usize) -> DVec2 {
    let hips = motion.positions[frame][humanoid::HIPS.0];
    DVec2::new(f64::from(hips.x), f64::from(hips.z))
}

/// From pelvis to neck, unit length.
fn trunk(motion: &Motion, frame: usize) -> DVec3 {
    let positions = &motion.positions[frame];
    (positions[humanoid::NECK.0] - positions[humanoid::HIPS.0]).as_dvec3().normalize_or_zero()
}

/// Touch-downs of either foot in the frames after `from`, up to `to`.
pub(crate) fn steps(motion: &Motion, from: usize, to: usize) -> usize {
    let swing = (SWING_S * motion.rate_hz).round() as usize;
    let touches = |frame: usize, foot: usize| {
        let contact = motion.contact[frame];
        contact[2 * foot] || contact[2 * foot + 1]
    };
    let lands = |frame: usize, foot: usize| {
        touches(frame, foot) && frame >= swing && (frame - swing..frame).all(|before| !touches(before, foot))
    };
    (from + 1..=to.min(motion.frames() - 1))
        .map(|frame| (0..2).filter(|&foot| lands(frame, foot)).count())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Track;
    use glam::Vec3;
    use pomp_motion::{Clip, GenerationTrack, Pose, Skeleton};
    use std::sync::Arc;

    const RATE_HZ: f32 = 60.0;

    /// A T-pose that glides along +Z at 1 m/s, pushed at 2 s; `aside` is its x by the time since the push.
    fn pushed(aside: impl Fn(f32) -> f32) -> Recording {
        let skeleton = Arc::new(Skeleton::humanoid(1.75));
        let poses = (0..360)
            .map(|frame| {
                let mut pose = Pose::rest(&skeleton);
                let t = frame as f32 / RATE_HZ;
                pose.root_position += Vec3::new(if t > 2.0 { aside(t - 2.0) } else { 0.0 }, 0.0, t);
                pose
            })
            .collect();
        let clip = Clip::new("pushed", skeleton, RATE_HZ, poses).unwrap();
        let mut recording = Recording::of_clip(&clip);
        let push = PushRecord { time_s: 2.0, body: 0, impulse_ns: Vec3::X * 50.0, point: Vec3::ZERO };
        recording.generation = Some(GenerationTrack {
            target_positions: recording.positions.clone(),
            pushes: vec![push],
            control: vec![[0.0; 4]; 360],
            frame_time_us: None,
            ground_offset: None,
        });
        // The left foot lands 0.5 s after the push, and again a second later.
        for (frame, contact) in recording.foot_contact.iter_mut().enumerate() {
            contact[0] = !(140..150).contains(&frame) && !(200..210).contains(&frame);
        }
        recording
    }

    fn measured(recording: &Recording) -> Metrics {
        crate::evaluate(recording, &HeightMap::flat(40.0, 0.5).unwrap(), Track::Character).unwrap()
    }

    #[test]
    fn a_body_that_slides_aside_for_a_second_recovers_when_it_stops() {
        // 0.6 m/s for one second: 0.6 m, and out of the bounds until an average over half a second is below 0.3.
        let metrics = measured(&pushed(|t| 0.6 * t.min(1.0)));
        assert_eq!(metrics.push_recovered_percent, Some(100.0));
        assert!((metrics.push_recovery_s.unwrap() - 1.0).abs() < 0.05, "{:?}", metrics.push_recovery_s);
        assert!((metrics.push_displacement_m.unwrap() - 0.6).abs() < 1e-3);
        assert_eq!(metrics.push_steps, Some(1.0));
        assert_eq!(metrics.push_fell_percent, Some(0.0));
    }

    #[test]
    fn a_push_that_moves_nothing_is_recovered_at_once() {
        let metrics = measured(&pushed(|_| 0.0));
        assert_eq!((metrics.push_recovery_s, metrics.push_steps), (Some(0.0), Some(0.0)));
        assert_eq!(metrics.push_displacement_m, Some(0.0));
    }

    #[test]
    fn a_body_that_keeps_sliding_does_not_recover() {
        let metrics = measured(&pushed(|t| 0.6 * t));
        assert_eq!(metrics.push_recovered_percent, Some(0.0));
        assert_eq!(metrics.push_recovery_s, None);
    }

    #[test]
    fn rejects_a_push_that_is_not_finite() {
        let mut recording = pushed(|_| 0.0);
        recording.generation.as_mut().unwrap().pushes[0].impulse_ns.y = f32::NAN;
        let error = crate::evaluate(&recording, &HeightMap::flat(40.0, 0.5).unwrap(), Track::Character)
            .expect_err("NaN is refused");
        assert!(error.to_string().contains("push at 2 s"), "{error}");
    }
}
