use super::{BlockName, CharacterState, FeatureLayout, KEYS, WindowKey};
use crate::Gait;
use crate::rotation::{from_yaw, to_6d};
use glam::{Vec2, Vec3};

/// Distance of the left and right terrain samples from the trajectory, metres (as in PFNN).
const TERRAIN_SIDE_M: f32 = 0.25;

/// Everything that one x is made of.
#[derive(Clone, Copy, Debug)]
pub struct InputFrame<'a> {
    /// Pose and velocities.
    pub state: &'a CharacterState,
    /// Trajectory, headings and gaits: past as it was, future as it is wanted.
    pub keys: &'a [WindowKey; KEYS],
    /// Phase codes of every key, `KEYS` × 2C.
    pub phase_codes: &'a [f32],
    /// Contact impulse of each body, N·s, world `[B]`.
    pub contact_impulse: &'a [Vec3],
    /// Impulse of the body's weight during a frame, m g Δt, N·s: the unit of the impulse features.
    pub weight_impulse_ns: f32,
}

impl FeatureLayout {
    /// Writes x for `input`; `ground` gives the terrain height at world x, z.
    ///
    /// # Panics
    /// When a size disagrees with the layout.
    pub fn write_x(&self, input: &InputFrame<'_>, ground: impl Fn(f32, f32) -> f32, x: &mut [f32]) {
        assert_eq!(x.len(), self.x_len(), "x has another layout");
        assert_eq!(input.contact_impulse.len(), self.bodies(), "one contact impulse per body");
        let frame = &input.state.frame;
        self.write_state(&|name| self.x_range(name), input.state, x);

        let gaits = &mut x[self.x_range(BlockName::Gait)];
        for (slot, key) in gaits.chunks_exact_mut(Gait::COUNT).zip(input.keys) {
            slot.copy_from_slice(&key.gait);
        }

        let heights = &mut x[self.x_range(BlockName::TerrainHeights)];
        for (slot, key) in heights.chunks_exact_mut(3).zip(input.keys) {
            let left = from_yaw(key.yaw) * Vec3::X * TERRAIN_SIDE_M;
            for (value, side) in slot.iter_mut().zip([1.0, 0.0, -1.0]) {
                *value =
                    ground(key.position.x + side * left.x, key.position.y + side * left.z) - frame.origin.y;
            }
        }

        let impulses = &mut x[self.x_range(BlockName::ContactImpulses)];
        for (slot, impulse) in impulses.chunks_exact_mut(3).zip(input.contact_impulse) {
            slot.copy_from_slice(&(frame.vector_to_root(*impulse) / input.weight_impulse_ns).to_array());
        }

        x[self.x_range(BlockName::PhaseCodes)].copy_from_slice(input.phase_codes);

        let trajectory = &mut x[self.x_range(BlockName::Trajectory)];
        for (slot, key) in trajectory.chunks_exact_mut(4).zip(input.keys) {
            slot.copy_from_slice(&trajectory_key(frame, key.position, key.yaw));
        }
    }

    /// Writes the blocks that x and y share.
    pub(super) fn write_state(
        &self,
        range: &impl Fn(BlockName) -> std::ops::Range<usize>,
        state: &CharacterState,
        out: &mut [f32],
    ) {
        assert_eq!(state.positions_root.len(), self.joints(), "the state has another number of joints");
        for (slot, v) in out[range(BlockName::JointPositions)].chunks_exact_mut(3).zip(&state.positions_root)
        {
            slot.copy_from_slice(&v.to_array());
        }
        for (slot, v) in
            out[range(BlockName::JointVelocities)].chunks_exact_mut(3).zip(&state.velocities_root)
        {
            slot.copy_from_slice(&v.to_array());
        }
        for (slot, q) in out[range(BlockName::JointRotations)].chunks_exact_mut(6).zip(&state.rotations_local)
        {
            slot.copy_from_slice(&to_6d(*q));
        }
        out[range(BlockName::RootMotion)].copy_from_slice(&[
            state.root_velocity.x,
            state.root_velocity.y,
            state.yaw_rate,
        ]);
    }
}

/// Position and direction of a key in the root frame.
pub(super) fn trajectory_key(frame: &crate::RootFrame, position: Vec2, yaw: f32) -> [f32; 4] {
    let at = frame.ground_to_root(position.x, position.y);
    let (sin, cos) = (yaw - frame.yaw).sin_cos();
    [at.x, at.y, sin, cos]
}
