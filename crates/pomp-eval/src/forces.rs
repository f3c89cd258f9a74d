//! Root assist and contact impulses of the simulated side.

use crate::statistics::peak;
use crate::{EvalError, Metrics};
use glam::Vec3;
use pomp_motion::statistics::mean;
use pomp_motion::{GRAVITY_M_S2, Gait, Recording};

pub(crate) fn measure(recording: &Recording, metrics: &mut Metrics) -> Result<(), EvalError> {
    let Some(simulation) = &recording.simulation else { return Ok(()) };
    let mass: f64 = simulation.body_mass_kg.iter().map(|&m| f64::from(m)).sum();
    if !(mass.is_finite() && mass > 0.0) {
        return Err(EvalError::BadRecording {
            recording: recording.name.clone(),
            reason: format!("its bodies weigh {mass} kg together; give positive masses"),
        });
    }
    for (array, values) in
        [("assist_force", &simulation.assist_force), ("assist_torque", &simulation.assist_torque)]
    {
        if let Some(frame) = values.iter().position(|v| !v.is_finite()) {
            return Err(EvalError::NotFinite { recording: recording.name.clone(), array, frame });
        }
    }
    let weight = mass * GRAVITY_M_S2;
    let rate = f64::from(recording.frame_rate_hz);
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

    let rising = |values: &[f64]| -> Vec<f64> {
        let pairs = values.iter().zip(&recording.gait);
        pairs.filter(|(_, gait)| Gait::dominant(gait) == Gait::GetUp).map(|(value, _)| *value).collect()
    };
    let lifted: Vec<f64> = simulation.assist_force.iter().map(|f| f64::from(f.y)).collect();
    metrics.get_up_assist_mean_bw = mean(&rising(&forces)).map(|f| f / weight);
    metrics.get_up_assist_peak_bw = peak(&rising(&forces)).map(|f| f / weight);
    metrics.get_up_assist_vertical_bw = mean(&rising(&lifted)).map(|f| f / weight);
    metrics.get_up_assist_torque_nm = mean(&rising(&torques));

    let vertical: Vec<f64> = (0..recording.frames())
        .map(|frame| simulation.sim_contact_impulse[frame].iter().map(|j| f64::from(j.y)).sum())
        .collect();
    metrics.contact_impulse_closure = Some(vertical.iter().sum::<f64>() * rate / (frames * weight));
    metrics.contact_force_peak_bw = peak(&vertical).map(|j| j * rate / weight);
    Ok(())
}
