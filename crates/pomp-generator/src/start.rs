//! The first second: a start of the model, taken apart again into a pose, a past and phases.

use crate::loop_state::{HISTORY_FRAMES, Past};
use glam::{Vec2, Vec3};
use pomp_motion::features::{
    BlockName, CharacterState, FeatureLayout, FuturePhases, KEY_OFFSETS, KEYS, PAST_KEYS, WindowKey,
};
use pomp_motion::rotation::{from_6d, wrap_angle};
use pomp_motion::{Gait, PerJoint, RootFrame};
use pomp_phase::codes_between;

/// What a start x holds, at a place in the world.
pub(crate) struct Start {
    pub state: CharacterState,
    pub history: Vec<Past>,
    pub future_phase_codes: FuturePhases,
    /// Mean contact force of each body, body weights, world.
    pub contact_force_bw: Vec<Vec3>,
}

/// Reads x (in its own units) as a character in `frame`.
pub(crate) fn read_start(layout: &FeatureLayout, x: &[f32], frame: RootFrame) -> Start {
    let vectors =
        |name| -> PerJoint<Vec3> { x[layout.x_range(name)].chunks_exact(3).map(Vec3::from_slice).collect() };
    let root = &x[layout.x_range(BlockName::RootMotion)];
    let state = CharacterState {
        frame,
        positions_root: vectors(BlockName::JointPositions),
        velocities_root: vectors(BlockName::JointVelocities),
        rotations_local: x[layout.x_range(BlockName::JointRotations)]
            .chunks_exact(6)
            .map(|d| from_6d([d[0], d[1], d[2], d[3], d[4], d[5]]))
            .collect(),
        root_velocity: Vec2::new(root[0], root[1]),
        yaw_rate: root[2],
    };
    let width = 2 * layout.channels();
    let codes = &x[layout.x_range(BlockName::PhaseCodes)];
    let keys: Vec<(WindowKey, &[f32])> = x[layout.x_range(BlockName::Trajectory)]
        .chunks_exact(4)
        .zip(x[layout.x_range(BlockName::Gait)].chunks_exact(Gait::COUNT))
        .zip(codes.chunks_exact(width))
        .map(|((at, gait), code)| {
            let mut weights = [0.0; Gait::COUNT];
            weights.copy_from_slice(gait);
            let position = frame.ground_to_world(Vec2::new(at[0], at[1]));
            let yaw = wrap_angle(frame.yaw + at[2].atan2(at[3]));
            (WindowKey { position, yaw, gait: weights }, code)
        })
        .collect();
    assert_eq!(keys.len(), KEYS, "the layout has one trajectory entry per key");
    let spacing = (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as usize;
    let history = (0..HISTORY_FRAMES)
        .map(|frame| {
            let (before, within) = (frame / spacing, frame % spacing);
            let (a, code) = &keys[before];
            let (b, code_after) = &keys[(before + 1).min(PAST_KEYS)];
            let t = within as f32 / spacing as f32;
            let key = WindowKey {
                position: a.position.lerp(b.position, t),
                yaw: wrap_angle(a.yaw + wrap_angle(b.yaw - a.yaw) * t),
                gait: if t < 0.5 { a.gait } else { b.gait },
            };
            Past { key, phase_codes: codes_between(code, code_after, t) }
        })
        .collect();
    let contact_force_bw =
        vectors(BlockName::ContactImpulses).into_iter().map(|force| frame.vector_to_world(force)).collect();
    Start { state, history, future_phase_codes: codes[PAST_KEYS * width..].into(), contact_force_bw }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phases_of_a_start_pass_from_key_to_key_without_jumps() {
        let model = pomp_embedded::load(&pomp_embedded::Device::flex()).expect("the embedded model loads");
        let (_, _, kinematic) = model.kinematic().expect("it is whole");
        let frame = RootFrame { origin: Vec3::ZERO, yaw: 0.0 };
        let spacing = (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as usize;
        for (gait, x) in &kinematic.starts {
            let start = read_start(&model.description.layout, x, frame);
            let codes: Vec<&[f32]> = start.history.iter().map(|past| past.phase_codes.as_slice()).collect();
            let way =
                |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (b - a).powi(2)).sum::<f32>().sqrt();
            for keys in codes.windows(spacing + 1).step_by(spacing) {
                let between = way(keys[0], keys[spacing]);
                let largest = keys.windows(2).map(|pair| way(pair[0], pair[1])).fold(0.0, f32::max);
                // An arc is at most half as long again as its chord, while it is less than two thirds of a turn.
                assert!(largest <= 1.6 * between / spacing as f32 + 1e-5, "{gait}: {largest} of {between}");
            }
        }
    }
}
