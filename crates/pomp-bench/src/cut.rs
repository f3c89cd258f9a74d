//! The first part of a recording.

use pomp_motion::{EffortTrack, FrameTable, GenerationTrack, Recording, SimulationTrack};
use std::ops::Range;

/// The frames of `range`, with times counted from its start; pushes outside are left out.
pub(crate) fn cut(recording: &Recording, range: Range<usize>) -> Recording {
    let table = |all: &FrameTable<_>| rows(all, &range);
    let start_s = range.start as f32 / recording.frame_rate_hz;
    let end_s = range.end as f32 / recording.frame_rate_hz;
    Recording {
        name: recording.name.clone(),
        frame_rate_hz: recording.frame_rate_hz,
        skeleton: recording.skeleton.clone(),
        positions: table(&recording.positions),
        quaternions: rows(&recording.quaternions, &range),
        velocities: table(&recording.velocities),
        root: recording.root[range.clone()].to_vec(),
        gait: recording.gait[range.clone()].to_vec(),
        foot_contact: recording.foot_contact[range.clone()].to_vec(),
        terrain: recording.terrain.clone(),
        simulation: recording.simulation.as_ref().map(|simulation| SimulationTrack {
            body_names: simulation.body_names.clone(),
            body_mass_kg: simulation.body_mass_kg.clone(),
            contact_impulse: table(&simulation.contact_impulse),
            impulse_estimator: simulation.impulse_estimator.clone(),
            sim_contact_impulse: table(&simulation.sim_contact_impulse),
            positions: table(&simulation.positions),
            quaternions: rows(&simulation.quaternions, &range),
            velocities: table(&simulation.velocities),
            assist_force: simulation.assist_force[range.clone()].to_vec(),
            assist_torque: simulation.assist_torque[range.clone()].to_vec(),
        }),
        efforts: recording.efforts.as_ref().map(|efforts| EffortTrack {
            joint_torque: rows(&efforts.joint_torque, &range),
            assist_limit: efforts.assist_limit,
            contact_point: efforts.contact_point.as_ref().map(table),
        }),
        phase: recording.phase.as_ref().map(|phase| rows(phase, &range)),
        phase_model: recording.phase_model.clone(),
        generation: recording.generation.as_ref().map(|generation| GenerationTrack {
            target_positions: table(&generation.target_positions),
            pushes: generation
                .pushes
                .iter()
                .filter(|push| (start_s..end_s).contains(&push.time_s))
                .map(|push| pomp_motion::PushRecord { time_s: push.time_s - start_s, ..*push })
                .collect(),
            control: generation.control[range.clone()].to_vec(),
            frame_time_us: generation.frame_time_us.as_ref().map(|times| times[range.clone()].to_vec()),
            ground_offset: generation.ground_offset.as_ref().map(|offsets| offsets[range.clone()].to_vec()),
        }),
        // A part is not what the recipe makes.
        recipe: None,
        source: recording.source.clone(),
        license: recording.license.clone(),
        config_hash: recording.config_hash.clone(),
    }
}

fn rows<T: Clone>(table: &FrameTable<T>, range: &Range<usize>) -> FrameTable<T> {
    let mut part = FrameTable::with_columns(table.columns());
    range.clone().for_each(|frame| part.push(&table[frame]));
    part
}
