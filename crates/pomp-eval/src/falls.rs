//! Falls and recoveries.

use crate::Metrics;
use crate::track::Motion;
use pomp_motion::statistics::mean;
use pomp_motion::{Gait, Recording};
use pomp_terrain::HeightMap;

/// Time up after which a fall is recovered, seconds.
const RECOVERED_S: f64 = 0.5;

/// Frames in which each fall begins.
pub(crate) fn measure(
    motion: &Motion,
    recording: &Recording,
    terrain: &HeightMap,
    metrics: &mut Metrics,
) -> Vec<usize> {
    let ground = |x, z| terrain.height(x, z);
    let falls = motion.falls.falls(motion.positions, &recording.gait, motion.rate_hz as f32, ground);
    let fallen: usize = falls.iter().map(ExactSizeIterator::len).sum();
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
        .map(|(_, run)| run.len() as f64 / motion.rate_hz)
        .collect();
    metrics.falls_recovered = Some(recovered.len() as f64);
    metrics.down_s = mean(&recovered);
    let rising = recording.gait.iter().filter(|gait| Gait::dominant(gait) == Gait::GetUp).count();
    metrics.get_up_s =
        (rising > 0 && !falls.is_empty()).then(|| rising as f64 / motion.rate_hz / falls.len() as f64);
    falls.iter().map(|run| run.start).collect()
}
