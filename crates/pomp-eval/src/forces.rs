//! Contact impulses of the simulated side, all bodies together.

use crate::Metrics;
use crate::statistics::peak;
use pomp_motion::Recording;

/// `weight_n` is the weight of all bodies.
pub(crate) fn measure(recording: &Recording, weight_n: f64, metrics: &mut Metrics) {
    let Some(simulation) = &recording.simulation else { return };
    let rate = f64::from(recording.frame_rate_hz);
    let vertical: Vec<f64> = (0..recording.frames())
        .map(|frame| simulation.sim_contact_impulse[frame].iter().map(|j| f64::from(j.y)).sum())
        .collect();
    let frames = recording.frames() as f64;
    metrics.contact_impulse_closure = Some(vertical.iter().sum::<f64>() * rate / (frames * weight_n));
    metrics.contact_force_peak_bw = peak(&vertical).map(|j| j * rate / weight_n);
}
