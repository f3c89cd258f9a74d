//! Jerk, liveliness, root speed.

use crate::Metrics;
use crate::track::Motion;
use glam::DVec3;
use pomp_motion::JointIndex;
use pomp_motion::rotation::log;
use pomp_motion::statistics::mean;

/// Jerk above which a frame counts as one of high jerk, m/s³.
///
/// One joint displaced in one frame by 15 mm, at 60 Hz, gives 3 · 0.0154 · 60³ = 10 000: a visible glitch.
pub const HIGH_JERK_M_S3: f64 = 10_000.0;

pub(crate) fn measure(motion: &Motion, metrics: &mut Metrics) {
    jerk(motion, metrics);
    let steps = 0..motion.frames() - 1;
    metrics.root_speed_m_s = mean(&steps.clone().map(|frame| motion.root_speed(frame)).collect::<Vec<_>>());
    let Some(rotations) = motion.rotations else { return };
    let mut angles = Vec::new();
    for frame in steps {
        for joint in 0..motion.skeleton.len() {
            let local = |frame: usize| {
                let world = rotations[frame][joint].normalize();
                match motion.skeleton.parent(JointIndex(joint)) {
                    None => world,
                    Some(parent) => rotations[frame][parent.0].normalize().inverse() * world,
                }
            };
            let turned = log(local(frame).inverse() * local(frame + 1)).length();
            angles.push(f64::from(turned).to_degrees() * motion.rate_hz);
        }
    }
    metrics.joint_rotation_deg_s = mean(&angles);
}

fn jerk(motion: &Motion, metrics: &mut Metrics) {
    let at = |frame: usize, joint: usize| -> DVec3 { motion.positions[frame][joint].as_dvec3() };
    let cubed = motion.rate_hz.powi(3);
    let (mut all, mut high) = (Vec::new(), Vec::new());
    for frame in 3..motion.frames() {
        let mut largest = 0.0f64;
        for joint in 0..motion.skeleton.len() {
            let difference =
                at(frame, joint) - at(frame - 3, joint) + 3.0 * (at(frame - 2, joint) - at(frame - 1, joint));
            let size = difference.length() * cubed;
            largest = largest.max(size);
            all.push(size);
        }
        high.push(if largest > HIGH_JERK_M_S3 { 100.0 } else { 0.0 });
    }
    metrics.jerk_mean_m_s3 = mean(&all);
    metrics.high_jerk_percent = mean(&high);
}
