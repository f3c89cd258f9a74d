use crate::ImpulseEstimator;
use pomp_motion::SimulationTrack;
use serde::{Deserialize, Serialize};

/// Figures of one estimate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImpulseReport {
    /// What made `contact_impulse`.
    pub estimator: ImpulseEstimator,
    /// Σ vertical contact impulse over m g T.
    pub vertical_closure: f32,
    /// The part of the closure's distance from 1 that the motion explains: Δv / (g T) of the centre of mass, of the clip
    /// or, for the simulator's impulses, of the simulated body.
    pub momentum_change: f32,
    /// (Σ vertical contact impulse − m Δv) over m g T: 1 also for clips that begin or end in motion. The estimate
    /// differs from it by the removed forces in flight and pulls; the simulator's impulses lack those of the root assist and of
    /// pushes.
    pub corrected_closure: f32,
    /// Largest total vertical force, body weights.
    pub peak_force_bw: f32,
    /// Share of the frames in flight.
    pub flight_share: f32,
    /// Share of the frames that bear load without any contact that was seen; it is then given to the lower foot.
    pub unseen_share: f32,
}

impl ImpulseReport {
    /// Figures of the simulator's own impulses.
    pub fn of_simulation(track: &SimulationTrack, gravity_m_s2: f32, rate_hz: f32) -> Self {
        let weight_ns = track.body_mass_kg.iter().sum::<f32>() * gravity_m_s2 / rate_hz;
        let vertical: Vec<f32> = track
            .sim_contact_impulse
            .rows()
            .map(|row| row.iter().map(|j| j.y).sum::<f32>() / weight_ns)
            .collect();
        let frames = vertical.len().max(1) as f32;
        let momentum = |frame: usize| -> f32 {
            track.velocities[frame].iter().zip(&track.body_mass_kg).map(|(v, m)| v.y * m).sum()
        };
        let gained = momentum(track.velocities.frames() - 1) - momentum(0);
        let momentum_change = gained / (weight_ns * frames);
        let vertical_closure = vertical.iter().sum::<f32>() / frames;
        Self {
            estimator: ImpulseEstimator::Simulation,
            vertical_closure,
            momentum_change,
            corrected_closure: vertical_closure - momentum_change,
            peak_force_bw: vertical.iter().copied().fold(0.0, f32::max),
            flight_share: vertical.iter().filter(|f| **f == 0.0).count() as f32 / frames,
            unseen_share: 0.0,
        }
    }
}
