//! Shifts of a whole recording at its ends that no ground force can have caused.

use super::filter::{END_FRAMES, end_velocity};
use pomp_motion::GlobalPose;
use pomp_motion::glam::DVec3;

/// Vertical velocity by which the whole recording is shifted towards the middle of the clip at its first and its last
/// frames, m/s; nearly always 0.
///
/// While a foot stands, some joint always has less speed: the body is pushed up from below, and falls no faster than
/// gravity. If every joint, planted feet included, gains upward speed at once, or loses more than gravity takes, the
/// recording was shifted, not the person, as at the ends of clips edited into loops. Inside a clip the opposite shift cancels such a
/// shift; at an end it would be taken for momentum. Frames without contact are unchanged: at a landing the body is stopped as a
/// whole.
pub(super) fn end_shifts(
    poses: &[GlobalPose],
    contact: &[[bool; 4]],
    rate_hz: f64,
    gravity: f64,
) -> [f64; 2] {
    if poses.len() < END_FRAMES {
        return [0.0; 2];
    }
    let stands = |frame: usize| contact[frame].contains(&true);
    let of = |frames: Vec<usize>| {
        if !frames.iter().all(|&frame| stands(frame)) {
            return 0.0;
        }
        let gains = (0..poses[0].positions.len()).map(|joint| {
            let heights: Vec<DVec3> =
                frames.iter().map(|&f| DVec3::Y * f64::from(poses[f].positions[joint].y)).collect();
            (mean_velocity(&heights) - end_velocity(&heights)).y * rate_hz
        });
        let (least, most) =
            gains.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), g| (g.min(low), g.max(high)));
        // From the end to the middle of the window gravity takes this much.
        let fallen = gravity * (END_FRAMES - 1) as f64 / (2.0 * rate_hz);
        least.max(0.0) + (most + fallen).min(0.0)
    };
    let count = poses.len();
    [of((0..END_FRAMES).collect()), of((count - END_FRAMES..count).rev().collect())]
}

/// Slope of the line nearest to the values, per frame.
fn mean_velocity(values: &[DVec3]) -> DVec3 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let offset = |t: usize| t as f64 - middle;
    let square: f64 = (0..values.len()).map(|t| offset(t) * offset(t)).sum();
    values.iter().enumerate().map(|(t, value)| *value * offset(t)).sum::<DVec3>() / square
}
