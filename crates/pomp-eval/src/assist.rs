//! What the external root assist gave, and how much of the motion it drove.

use crate::foot_forces::FootForces;
use crate::statistics::peak;
use crate::track::Motion;
use crate::{EvalError, Metrics};
use glam::{DVec2, DVec3, Vec3};
use pomp_motion::statistics::mean;
use pomp_motion::{Gait, Recording, humanoid};

/// An effort of this share of its bound is at the bound.
const AT_BOUND: f64 = 0.99;
/// The direction of the path is that of the way of the pelvis from this time before a frame to as long after it, seconds.
const WAY_S: f64 = 0.25;
/// A pelvis that moves slower has no direction, m/s.
const MOVING_M_S: f64 = 0.2;

pub(crate) fn measure(
    motion: &Motion,
    recording: &Recording,
    weight: f64,
    feet: Option<&FootForces>,
    metrics: &mut Metrics,
) -> Result<(), EvalError> {
    let Some(simulation) = &recording.simulation else { return Ok(()) };
    for (array, values) in
        [("assist_force", &simulation.assist_force), ("assist_torque", &simulation.assist_torque)]
    {
        if let Some(frame) = values.iter().position(|v| !v.is_finite()) {
            return Err(EvalError::NotFinite { recording: recording.name.clone(), array, frame });
        }
    }
    let frames = recording.frames() as f64;
    let sizes = |values: &[Vec3]| values.iter().map(|v| v.as_dvec3().length()).collect::<Vec<f64>>();

    let forces = sizes(&simulation.assist_force);
    metrics.assist_force_mean_n = mean(&forces);
    metrics.assist_force_peak_n = peak(&forces);
    metrics.assist_force_mean_bw = mean(&forces).map(|f| f / weight);
    metrics.assist_force_peak_bw = peak(&forces).map(|f| f / weight);
    let torques = sizes(&simulation.assist_torque);
    metrics.assist_torque_mean_nm = mean(&torques);
    metrics.assist_torque_peak_nm = peak(&torques);
    let carried: f64 = simulation.assist_force.iter().map(|f| f64::from(f.y)).sum();
    metrics.assist_vertical_share = Some(carried / (frames * weight));

    if let Some(efforts) = &recording.efforts {
        let level: Vec<f64> =
            simulation.assist_force.iter().map(|f| f64::from(f.x).hypot(f64::from(f.z))).collect();
        let [force, torque] = efforts.assist_limit.map(f64::from);
        metrics.assist_force_bound_percent = at_bound(&level, force);
        metrics.assist_torque_bound_percent = at_bound(&torques, torque);
    }

    let rising = |values: &[f64]| -> Vec<f64> {
        let pairs = values.iter().zip(&recording.gait);
        pairs.filter(|(_, gait)| Gait::dominant(gait) == Gait::GetUp).map(|(value, _)| *value).collect()
    };
    let lifted: Vec<f64> = simulation.assist_force.iter().map(|f| f64::from(f.y)).collect();
    metrics.get_up_assist_mean_bw = mean(&rising(&forces)).map(|f| f / weight);
    metrics.get_up_assist_peak_bw = peak(&rising(&forces)).map(|f| f / weight);
    metrics.get_up_assist_vertical_bw = mean(&rising(&lifted)).map(|f| f / weight);
    metrics.get_up_assist_torque_nm = mean(&rising(&torques));

    let assist: Vec<DVec3> = simulation.assist_force.iter().map(|f| f.as_dvec3() / weight).collect();
    along_path(motion, &assist, feet, metrics);
    Ok(())
}

/// Share of frames at a bound, percent; `None` for a bound of 0.
fn at_bound(values: &[f64], bound: f64) -> Option<f64> {
    let at = values.iter().filter(|value| **value >= AT_BOUND * bound).count();
    (bound > 0.0).then(|| 100.0 * at as f64 / values.len() as f64)
}

/// What assist (body weights) and feet give along the path and across it.
fn along_path(motion: &Motion, assist: &[DVec3], feet: Option<&FootForces>, metrics: &mut Metrics) {
    let (mut ahead, mut across) = (Vec::new(), Vec::new());
    // Of assist and feet: ahead and back.
    let (mut propelled, mut braked) = ([0.0; 2], [0.0; 2]);
    for (frame, force) in assist.iter().enumerate() {
        let Some(direction) = direction(motion, frame) else { continue };
        let level = DVec2::new(force.x, force.z);
        let along = level.dot(direction);
        ahead.push(along);
        across.push(level.perp_dot(direction).abs());
        let of_feet = feet.iter().flat_map(|feet| feet.sides.iter()).map(|foot| {
            let level = DVec2::new(foot[frame].x, foot[frame].z);
            (1, level.dot(direction))
        });
        for (source, along) in of_feet.chain([(0, along)]) {
            propelled[source] += along.max(0.0);
            braked[source] += (-along).max(0.0);
        }
    }
    let sizes: Vec<f64> = ahead.iter().map(|force| force.abs()).collect();
    metrics.assist_along_bw = mean(&sizes);
    metrics.assist_across_bw = mean(&across);
    metrics.assist_ahead_bw = mean(&ahead);
    let of_feet = |[assist, feet]: [f64; 2]| (assist + feet > 0.0).then(|| feet / (assist + feet));
    if feet.is_some() {
        metrics.propulsion_feet_share = of_feet(propelled);
        metrics.braking_feet_share = of_feet(braked);
    }
}

/// The direction of the path on the ground in a frame, x and z.
fn direction(motion: &Motion, frame: usize) -> Option<DVec2> {
    let around = (WAY_S * motion.rate_hz).round() as usize;
    let (from, to) = (frame.saturating_sub(around), (frame + around).min(motion.frames() - 1));
    let place = |frame: usize| {
        let hips = motion.positions[frame][humanoid::HIPS.0].as_dvec3();
        DVec2::new(hips.x, hips.z)
    };
    let way = place(to) - place(from);
    let time_s = (to - from) as f64 / motion.rate_hz;
    (way.length() > MOVING_M_S * time_s).then(|| way.normalize())
}
