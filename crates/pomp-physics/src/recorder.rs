use crate::Frame;
use pomp_motion::{ESTIMATED_BY_SIMULATION, FrameTable, SimulationTrack};

/// What a ragdoll does, frame by frame, as a recording stores it.
#[derive(Clone, Debug)]
pub struct SimulationRecorder {
    track: SimulationTrack,
}

impl SimulationRecorder {
    /// Nothing yet of a ragdoll with bodies of these names and masses (kg), with room for `frames`; see
    /// [`crate::DynamicModule::body_names`] and [`crate::DynamicModule::body_masses`].
    pub fn new(body_names: &[String], body_mass_kg: &[f32], frames: usize) -> Self {
        // There is one body per joint.
        let bodies = body_names.len();
        Self {
            track: SimulationTrack {
                body_names: body_names.to_vec(),
                body_mass_kg: body_mass_kg.to_vec(),
                contact_impulse: FrameTable::with_columns(bodies),
                impulse_estimator: ESTIMATED_BY_SIMULATION.to_owned(),
                sim_contact_impulse: FrameTable::with_columns(bodies),
                positions: FrameTable::with_columns(bodies),
                quaternions: FrameTable::with_columns(bodies),
                velocities: FrameTable::with_columns(bodies),
                assist_force: Vec::with_capacity(frames),
                assist_torque: Vec::with_capacity(frames),
            },
        }
    }

    /// Appends a frame.
    pub fn record(&mut self, frame: &Frame) {
        let track = &mut self.track;
        track.sim_contact_impulse.push(&frame.contact_impulse);
        track.positions.push(&frame.pose.positions);
        track.quaternions.push(&frame.pose.rotations);
        track.velocities.push(&frame.velocities);
        track.assist_force.push(frame.assist_force);
        track.assist_torque.push(frame.assist_torque);
    }

    /// The track of all frames; the estimate of the contact impulses is the simulator's own.
    pub fn finish(self) -> SimulationTrack {
        SimulationTrack { contact_impulse: self.track.sim_contact_impulse.clone(), ..self.track }
    }
}
