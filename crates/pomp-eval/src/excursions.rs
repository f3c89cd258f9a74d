//! Excursions from rest: how a body that stood is moved away and comes to rest again, from the motion alone.
//!
//! They compare pushed characters with pushed people, whose pushes were not measured.

use crate::Metrics;
use crate::pushes::{pelvis, steps};
use crate::track::Motion;
use glam::DVec2;
use pomp_motion::statistics::mean;
use pomp_terrain::HeightMap;

/// Below this speed a body rests, m/s.
const REST_M_S: f64 = 0.1;
/// A body that is never this fast sways, m/s.
const LEAST_PEAK_M_S: f64 = 0.5;
/// Time over which the speed is averaged, seconds.
const AVERAGED_S: f64 = 0.15;
/// Time after the end in which a foot that is in the air still lands, seconds.
const LANDS_WITHIN_S: f64 = 0.2;

struct Excursion {
    peak_m_s: f64,
    way: DVec2,
    duration_s: f64,
    steps: usize,
}

pub(crate) fn measure(motion: &Motion, terrain: &HeightMap, metrics: &mut Metrics) {
    let found = excursions(motion, terrain);
    let Some(first) = found.first().map(|excursion| excursion.way) else { return };
    // Someone who has been pushed away walks back to be pushed again.
    let away: Vec<&Excursion> = found.iter().filter(|excursion| excursion.way.dot(first) > 0.0).collect();
    let over = |value: &dyn Fn(&Excursion) -> f64| mean(&away.iter().map(|e| value(e)).collect::<Vec<_>>());
    metrics.excursions = Some(away.len() as f64);
    metrics.excursion_peak_m_s = over(&|excursion| excursion.peak_m_s);
    metrics.excursion_displacement_m = over(&|excursion| excursion.way.length());
    metrics.excursion_s = over(&|excursion| excursion.duration_s);
    metrics.excursion_steps = over(&|excursion| excursion.steps as f64);
}

/// All excursions from rest to rest, without those in which the body goes down.
fn excursions(motion: &Motion, terrain: &HeightMap) -> Vec<Excursion> {
    let half = ((0.5 * AVERAGED_S * motion.rate_hz).round() as usize).max(1);
    let landing = (LANDS_WITHIN_S * motion.rate_hz).round() as usize;
    let last = motion.frames() - 1;
    let speeds: Vec<f64> = (0..=last)
        .map(|frame| {
            let (from, to) = (frame.saturating_sub(half), (frame + half).min(last));
            pelvis(motion, from).distance(pelvis(motion, to)) * motion.rate_hz / (to - from).max(1) as f64
        })
        .collect();
    // The frames in which it moves, between two of rest.
    let moving = speeds.chunk_by(|a, b| (*a > REST_M_S) == (*b > REST_M_S));
    let mut begin = 0;
    let mut found = Vec::new();
    for chunk in moving {
        let end = begin + chunk.len();
        let peak_m_s = chunk.iter().copied().fold(0.0, f64::max);
        if begin > 0
            && end <= last
            && peak_m_s >= LEAST_PEAK_M_S
            && !(begin..end).any(|frame| motion.is_down(terrain, frame))
        {
            found.push(Excursion {
                peak_m_s,
                way: pelvis(motion, end) - pelvis(motion, begin - 1),
                duration_s: chunk.len() as f64 / motion.rate_hz,
                steps: steps(motion, begin, end + landing),
            });
        }
        begin = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{Metrics, Track, evaluate};
    use pomp_motion::{Clip, Pose, Recording, Skeleton, smoothstep};
    use pomp_terrain::HeightMap;
    use std::sync::Arc;

    const RATE_HZ: f32 = 60.0;

    /// A T-pose that is moved along x by `way` metres, seconds after the start, whose left foot is off the ground for `swing`.
    fn moved(way: impl Fn(f32) -> f32, swing: std::ops::Range<usize>) -> Recording {
        let skeleton = Arc::new(Skeleton::humanoid(1.75));
        let poses = (0..480).map(|frame| {
            let mut pose = Pose::rest(&skeleton);
            pose.root_position.x += way(frame as f32 / RATE_HZ);
            pose
        });
        let clip = Clip::new("moved", Arc::clone(&skeleton), RATE_HZ, poses.collect()).unwrap();
        let mut recording = Recording::of_clip(&clip);
        for (frame, contact) in recording.foot_contact.iter_mut().enumerate() {
            *contact = [!swing.contains(&frame), !swing.contains(&frame), true, true];
        }
        recording
    }

    fn measured(recording: &Recording) -> Metrics {
        evaluate(recording, &HeightMap::flat(40.0, 0.5).unwrap(), Track::Character).unwrap()
    }

    #[test]
    fn a_body_that_is_pushed_and_walks_back_has_one_excursion() {
        // 0.6 m within a second from 2 s on, at 0.9 m/s at most, and back from 5 s on.
        let way =
            |t: f32| 0.6 * (smoothstep((t - 2.0).clamp(0.0, 1.0)) - smoothstep((t - 5.0).clamp(0.0, 1.0)));
        let metrics = measured(&moved(way, 130..160));
        let near = |value: Option<f64>, wanted: f64, within: f64| {
            assert!((value.unwrap() - wanted).abs() < within, "{value:?}, wanted {wanted}");
        };
        assert_eq!((metrics.excursions, metrics.excursion_steps), (Some(1.0), Some(1.0)));
        near(metrics.excursion_peak_m_s, 0.9, 0.02);
        near(metrics.excursion_displacement_m, 0.6, 0.02);
        near(metrics.excursion_s, 0.97, 0.1);
    }

    #[test]
    fn who_sways_or_walks_on_to_the_end_has_none() {
        let sways = |t: f32| 0.05 * (std::f32::consts::TAU * t).sin();
        let leaves = |t: f32| 0.8 * (t - 2.0).max(0.0);
        for recording in [moved(sways, 0..0), moved(leaves, 0..0)] {
            let metrics = measured(&recording);
            assert_eq!((metrics.excursions, metrics.excursion_s), (None, None));
        }
    }
}
