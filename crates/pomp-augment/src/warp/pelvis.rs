//! Height of the pelvis of a warped clip.

use super::feet::FootPath;
use crate::smoothing::gaussian;
use pomp_motion::legs::LEGS;
use pomp_motion::{GlobalPose, Skeleton};

/// Standard deviation of the smoothing of the pelvis, seconds: a quarter of a step.
const SMOOTHING_S: f32 = 0.12;
/// A leg is stretched to this share of its length at most, or as far as the clip stretches it.
const STRETCH: f32 = 0.985;
/// Half width of the window in which the pelvis is lowered for a leg that does not reach, seconds.
const DROP_S: f32 = 0.12;

/// Vertical shift of the pelvis per frame, metres: the smoothed mean shift of both feet, lowered where a leg would not reach its
/// foot.
pub(super) fn raised(
    skeleton: &Skeleton,
    poses: &[GlobalPose],
    feet: &[FootPath; 2],
    frame_rate_hz: f32,
) -> Vec<f32> {
    let means: Vec<f32> =
        feet[0].raised_m.iter().zip(&feet[1].raised_m).map(|(left, right)| 0.5 * (left + right)).collect();
    let mut raised = gaussian(&means, SMOOTHING_S * frame_rate_hz);
    let excess: Vec<f32> = poses
        .iter()
        .zip(&raised)
        .enumerate()
        .map(|(frame, (pose, up))| {
            LEGS.iter().zip(feet).fold(0.0f32, |worst, (leg, path)| {
                let [hip, knee, ankle, _] = leg.map(|joint| joint.0);
                let joints = skeleton.joints();
                let whole = joints[knee].offset.length() + joints[ankle].offset.length();
                let longest = pose.positions[hip]
                    .distance(pose.positions[ankle])
                    .clamp(STRETCH * whole, 0.9999 * whole);
                let line = pose.positions[hip] - path.ankles[frame];
                let across = line.x * line.x + line.z * line.z;
                let room = (longest * longest - across).max(0.0).sqrt();
                worst.max(line.y + up - room)
            })
        })
        .collect();
    let half = (DROP_S * frame_rate_hz).round() as usize;
    for (up, drop) in raised.iter_mut().zip(envelope(&excess, half)) {
        *up -= drop;
    }
    raised
}

/// A smooth curve that is nowhere below `values`: the mean over a window of the largest within the same window.
fn envelope(values: &[f32], half: usize) -> Vec<f32> {
    let window = |i: usize| i.saturating_sub(half)..(i + half + 1).min(values.len());
    let largest: Vec<f32> =
        (0..values.len()).map(|i| values[window(i)].iter().copied().fold(0.0, f32::max)).collect();
    (0..values.len()).map(|i| largest[window(i)].iter().sum::<f32>() / window(i).len() as f32).collect()
}
