//! How well a generated motion follows its commands, and what its frames cost.

use crate::track::Motion;
use crate::{EvalError, Metrics};
use pomp_motion::rotation::{wrap_angle, yaw_of_direction};
use pomp_motion::statistics::{mean, percentile};
use pomp_motion::{GlobalPose, Recording, RootFrame, humanoid};

/// Length of the end in which a command that stands is a goal, seconds.
const GOAL_S: f64 = 1.0;

pub(crate) fn measure(
    motion: &Motion,
    recording: &Recording,
    metrics: &mut Metrics,
) -> Result<(), EvalError> {
    let Some(generation) = &recording.generation else { return Ok(()) };
    let not_finite = |array, frame| EvalError::NotFinite { recording: recording.name.clone(), array, frame };
    if let Some(frame) = generation.control.iter().position(|c| c.iter().any(|v| !v.is_finite())) {
        return Err(not_finite("control", frame));
    }
    if let Some(frame_time_us) = &generation.frame_time_us {
        if let Some(frame) = frame_time_us.iter().position(|t| !t.is_finite()) {
            return Err(not_finite("frame_time_us", frame));
        }
        let times: Vec<f64> = frame_time_us.iter().map(|&t| f64::from(t) / 1e3).collect();
        metrics.frame_time_p50_ms = percentile(&times, 0.5);
        metrics.frame_time_p99_ms = percentile(&times, 0.99);
    }

    let hips = humanoid::HIPS.0;
    let distances: Vec<f64> = generation
        .control
        .iter()
        .enumerate()
        .map(|(frame, c)| {
            let root = motion.positions[frame][hips];
            (f64::from(root.x) - f64::from(c[0])).hypot(f64::from(root.z) - f64::from(c[1]))
        })
        .collect();
    metrics.path_error_mean_m = mean(&distances);
    metrics.path_error_p95_m = percentile(&distances, 0.95);
    let aside: Vec<f64> = generation
        .control
        .iter()
        .enumerate()
        .map(|(frame, c)| {
            let root = motion.positions[frame][hips];
            let (sin, cos) = f64::from(c[2]).sin_cos();
            let (dx, dz) = (f64::from(root.x) - f64::from(c[0]), f64::from(root.z) - f64::from(c[1]));
            (dx * cos - dz * sin).abs()
        })
        .collect();
    metrics.path_aside_mean_m = mean(&aside);
    let headings: Vec<f64> = generation
        .control
        .iter()
        .enumerate()
        .map(|(frame, c)| f64::from(wrap_angle(heading(motion, frame) - c[2]).abs()).to_degrees())
        .collect();
    metrics.heading_error_deg = mean(&headings);
    let last = generation.control.len().saturating_sub((GOAL_S * motion.rate_hz).round() as usize);
    let stands = |end: &[[f32; 4]]| end.iter().all(|c| *c == end[0] && c[3] == 0.0);
    if last > 0 && stands(&generation.control[last..]) {
        metrics.goal_error_m = mean(&distances[last..]);
        metrics.goal_heading_error_deg = mean(&headings[last..]);
    }
    let speeds: Vec<f64> = (0..motion.frames() - 1)
        .map(|frame| (motion.root_speed(frame) - f64::from(generation.control[frame][3])).abs())
        .collect();
    metrics.speed_error_m_s = mean(&speeds);
    Ok(())
}

/// Heading of the pelvis; from the line between the hips where there are no rotations.
pub(crate) fn heading(motion: &Motion, frame: usize) -> f32 {
    let positions = &motion.positions[frame];
    if let Some(rotations) = motion.rotations {
        let pose = GlobalPose { positions: positions.into(), rotations: rotations[frame].into() };
        return RootFrame::of_pose(&pose, 0.0).yaw;
    }
    let left = positions[humanoid::LEFT_UP_LEG.0] - positions[humanoid::RIGHT_UP_LEG.0];
    wrap_angle(yaw_of_direction(left) - std::f32::consts::FRAC_PI_2)
}
