//! Falls and recoveries.

use crate::Metrics;
use crate::statistics::mean;
use crate::track::Motion;
use pomp_motion::{Gait, Recording, humanoid};
use pomp_terrain::HeightMap;

/// Pelvis height, as a share of standing, below which the character counts as down.
const LOW_PELVIS: f64 = 0.55;
/// Tilt of the trunk beyond which the character counts as down.
const TILT_DEG: f64 = 60.0;
/// Time down that makes a fall, and time up that separates two falls, seconds.
const HOLD_S: f64 = 0.3;
/// Time up after which a fall is recovered, seconds.
const RECOVERED_S: f64 = 0.5;

/// A maximal run of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: usize,
    end: usize,
}

/// Frames in which each fall begins.
pub(crate) fn measure(
    motion: &Motion,
    recording: &Recording,
    terrain: &HeightMap,
    metrics: &mut Metrics,
) -> Vec<usize> {
    let mut down: Vec<bool> = (0..motion.frames()).map(|frame| is_down(motion, terrain, frame)).collect();
    // Half up is not up: a body that is labelled as lying or getting up after a fall is still down.
    for frame in 1..down.len() {
        let gait = recording.gait.get(frame).map(Gait::dominant);
        down[frame] |= down[frame - 1] && matches!(gait, Some(Gait::Lie | Gait::GetUp));
    }
    let falls = falls(&down, motion.rate_hz);
    let fallen: usize = falls.iter().map(|run| run.end - run.start).sum();
    let upright = (motion.frames() - fallen) as f64 / motion.rate_hz;
    metrics.upright_s = Some(upright);
    metrics.upright_percent = Some(100.0 * (motion.frames() - fallen) as f64 / motion.frames() as f64);
    metrics.falls_per_minute = (upright > 0.0).then(|| falls.len() as f64 * 60.0 / upright);
    metrics.first_fall_s = falls.first().map(|run| run.start as f64 / motion.rate_hz);
    metrics.falls = Some(falls.len() as f64);
    let recovered: Vec<f64> = falls
        .iter()
        .enumerate()
        .filter(|(i, run)| {
            let until = falls.get(i + 1).map_or(motion.frames(), |next| next.start);
            (until - run.end) as f64 >= RECOVERED_S * motion.rate_hz
        })
        .map(|(_, run)| (run.end - run.start) as f64 / motion.rate_hz)
        .collect();
    metrics.falls_recovered = Some(recovered.len() as f64);
    metrics.down_s = mean(&recovered);
    let rising = recording.gait.iter().filter(|gait| Gait::dominant(gait) == Gait::GetUp).count();
    metrics.get_up_s =
        (rising > 0 && !falls.is_empty()).then(|| rising as f64 / motion.rate_hz / falls.len() as f64);
    falls.iter().map(|run| run.start).collect()
}

pub(crate) fn is_down(motion: &Motion, terrain: &HeightMap, frame: usize) -> bool {
    let hips = motion.positions[frame][humanoid::HIPS.0];
    let neck = motion.positions[frame][humanoid::NECK.0];
    let height = f64::from(hips.y - terrain.height(hips.x, hips.z));
    let trunk = (neck - hips).as_dvec3();
    let tilt = trunk.y.atan2(trunk.x.hypot(trunk.z)).to_degrees();
    height < LOW_PELVIS * motion.standing_height_m || 90.0 - tilt > TILT_DEG
}

fn falls(down: &[bool], rate_hz: f64) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (frame, _) in down.iter().enumerate().filter(|(_, d)| **d) {
        match runs.last_mut() {
            Some(run) if run.end == frame => run.end += 1,
            _ => runs.push(Run { start: frame, end: frame + 1 }),
        }
    }
    let hold = HOLD_S * rate_hz;
    runs.retain(|run| (run.end - run.start) as f64 > hold);
    let mut falls: Vec<Run> = Vec::new();
    for run in runs {
        match falls.last_mut() {
            Some(last) if ((run.start - last.end) as f64) < hold => last.end = run.end,
            _ => falls.push(run),
        }
    }
    falls
}
