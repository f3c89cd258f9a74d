//! Sliding, penetration, floating, duty.

use crate::Metrics;
use crate::statistics::peak;
use crate::track::Motion;
use pomp_motion::statistics::{mean, percentile};

/// Height below which a foot counts as near the ground in the weighted sliding, metres (Zhang et al. 2018).
const NEAR_GROUND_M: f64 = 0.025;
/// Largest speed of a foot that never steps, m/s; such a foot has no speed to compare its sliding with.
const STEPPING_SPEED_M_S: f64 = 0.1;
/// The frame that sliding per frame refers to, whatever the rate of the recording.
const REFERENCE_RATE_HZ: f64 = 60.0;

pub(crate) fn measure(motion: &Motion, metrics: &mut Metrics) {
    sliding(motion, metrics);
    let deepest: Vec<f64> = (0..motion.frames())
        .map(|frame| (0..4).map(|p| -motion.sole_height(frame, p)).fold(0.0, f64::max) * 1e3)
        .collect();
    metrics.penetration_mean_mm = mean(&deepest);
    metrics.penetration_p95_mm = percentile(&deepest, 0.95);
    let lowest: Vec<f64> = (0..motion.frames())
        .filter(|&frame| motion.contact[frame].contains(&true))
        .map(|frame| {
            (0..4).map(|p| motion.sole_height(frame, p)).fold(f64::INFINITY, f64::min).max(0.0) * 1e3
        })
        .collect();
    metrics.float_mean_mm = mean(&lowest);
    metrics.float_p95_mm = percentile(&lowest, 0.95);
    let duty = |points: [usize; 2]| {
        let down = motion.contact.iter().filter(|c| c[points[0]] || c[points[1]]).count();
        Some(down as f64 / motion.frames() as f64)
    };
    if motion.contact.iter().any(|c| c.contains(&true)) {
        metrics.duty_factor_left = duty([0, 1]);
        metrics.duty_factor_right = duty([2, 3]);
    }
}

fn sliding(motion: &Motion, metrics: &mut Metrics) {
    let (mut weighted, mut speeds, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for point in 0..4 {
        let steps = 0..motion.frames() - 1;
        let all: Vec<f64> = steps.clone().map(|frame| motion.sole_speed(frame, point)).collect();
        let fastest = peak(&all).unwrap_or(0.0);
        for (frame, &speed) in steps.zip(&all) {
            // A step from one frame to the next counts as near the ground, or in contact, when both ends are.
            let height = motion.sole_height(frame, point).max(motion.sole_height(frame + 1, point));
            if height < NEAR_GROUND_M {
                let weight = 2.0 - (height.max(0.0) / NEAR_GROUND_M).exp2();
                weighted.push(speed / REFERENCE_RATE_HZ * 100.0 * weight);
            }
            if motion.contact[frame][point] && motion.contact[frame + 1][point] {
                speeds.push(speed * 100.0);
                if fastest > STEPPING_SPEED_M_S {
                    ratios.push(speed / fastest);
                }
            }
        }
    }
    metrics.foot_sliding_cm_per_frame = mean(&weighted);
    metrics.contact_slide_cm_s = mean(&speeds);
    metrics.contact_speed_ratio = mean(&ratios);
}
