//! Torques of the joints, beside what people have.

use crate::Metrics;
use pomp_motion::Recording;
use pomp_motion::statistics::percentile;

/// A torque of this share of a strength is as strong.
const AS_STRONG: f64 = 0.99;

/// Joints by their bodies' names, without their side, and the strength of athletes, N·m/kg: hip and knee extension 350 N·m, ankle 250,
/// shoulder 150, elbow 100 at 75 kg.
const STRENGTHS: [(&str, f64); 5] = [
    ("UpLeg", 350.0 / 75.0),
    ("Leg", 350.0 / 75.0),
    ("Foot", 250.0 / 75.0),
    ("Arm", 150.0 / 75.0),
    ("ForeArm", 100.0 / 75.0),
];

pub(crate) fn measure(recording: &Recording, metrics: &mut Metrics) {
    let (Some(efforts), Some(simulation)) = (&recording.efforts, &recording.simulation) else { return };
    let mass: f64 = simulation.body_mass_kg.iter().map(|&m| f64::from(m)).sum();
    let columns = |part: &str| -> Vec<usize> {
        let of = |side: &str| simulation.body_names.iter().position(|name| *name == format!("{side}{part}"));
        ["Left", "Right"].into_iter().filter_map(of).collect()
    };
    let torque = |frame: usize, body: usize| f64::from(efforts.joint_torque[frame][body]) / mass;
    let frames = 0..recording.frames();
    let p95 = |part: &str| {
        let columns = columns(part);
        let all: Vec<f64> = frames
            .clone()
            .flat_map(|frame| columns.iter().map(move |&body| (frame, body)))
            .map(|(frame, body)| torque(frame, body))
            .collect();
        percentile(&all, 0.95)
    };
    metrics.hip_torque_p95_nm_kg = p95("UpLeg");
    metrics.knee_torque_p95_nm_kg = p95("Leg");
    metrics.ankle_torque_p95_nm_kg = p95("Foot");
    let joints: Vec<(usize, f64)> = STRENGTHS
        .iter()
        .flat_map(|&(part, strength)| columns(part).into_iter().map(move |body| (body, strength)))
        .collect();
    if !joints.is_empty() {
        let strained = |frame: &usize| {
            joints.iter().any(|&(body, strength)| torque(*frame, body) >= AS_STRONG * strength)
        };
        let count = frames.clone().filter(strained).count();
        metrics.torque_at_strength_percent = Some(100.0 * count as f64 / frames.len() as f64);
    }
}
