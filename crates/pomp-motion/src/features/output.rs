use super::input::trajectory_key;
use super::{BlockName, CharacterState, FUTURE_KEYS, FeatureLayout, FuturePhases, PAST_KEYS};
use crate::rotation::from_6d;
use crate::{Gait, PerJoint, RootFrame};
use glam::{Quat, Vec2, Vec3};

/// One y in plain terms: the next frame, as the kinematic module says or as the data has it.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputFrame {
    /// Joint positions in the next root frame, metres `[J]`.
    pub positions_root: PerJoint<Vec3>,
    /// Joint velocities in the next root frame, m/s `[J]`.
    pub velocities_root: PerJoint<Vec3>,
    /// Local rotations `[J]`, the root's relative to its yaw; empty when the layout has none.
    pub rotations_local: PerJoint<Quat>,
    /// Displacement from this root frame to the next in this frame's axes, per second, m/s.
    pub root_velocity: Vec2,
    /// Turn from this root frame to the next, per second, rad/s.
    pub yaw_rate: f32,
    /// Gait weights of the next frame.
    pub gait: [f32; Gait::COUNT],
    /// Future keys in the next root frame: position (x, z) and heading relative to the frame's.
    pub trajectory: [(Vec2, f32); FUTURE_KEYS],
    /// Phase codes pe of the future keys, `FUTURE_KEYS` × 2C.
    pub phase_codes: FuturePhases,
    /// Frequency (Hz), amplitude, offset of each channel at the future keys, `FUTURE_KEYS` × 3 × C.
    pub phase_parameters: FuturePhases,
}

impl OutputFrame {
    /// The root frame that this output leads to from `frame`, `dt_s` later; its height stays.
    pub fn next_frame(&self, frame: &RootFrame, dt_s: f32) -> RootFrame {
        frame.advanced(self.root_velocity * dt_s, self.yaw_rate * dt_s)
    }

    /// The state it describes, standing in `frame`.
    pub fn state_in(&self, frame: RootFrame) -> CharacterState {
        CharacterState {
            frame,
            positions_root: self.positions_root.clone(),
            velocities_root: self.velocities_root.clone(),
            rotations_local: self.rotations_local.clone(),
            root_velocity: self.root_velocity,
            yaw_rate: self.yaw_rate,
        }
    }
}

impl FeatureLayout {
    /// Writes y.
    ///
    /// - `next`: the state of the next frame; its root motion is replaced by the motion from `frame` to
    ///   `next.frame`;
    /// - `keys`: world position and heading of the future keys, counted from the next frame;
    /// - `phase_codes`, `phase_parameters`: of the same keys.
    ///
    /// # Panics
    /// When a size disagrees with the layout.
    #[allow(clippy::too_many_arguments, reason = "each argument is one block of y")]
    pub fn write_y(
        &self,
        frame: &RootFrame,
        next: &CharacterState,
        gait: &[f32; Gait::COUNT],
        keys: &[(Vec2, f32); FUTURE_KEYS],
        phase_codes: &[f32],
        phase_parameters: &[f32],
        dt_s: f32,
        y: &mut [f32],
    ) {
        self.write_state_of_y(next, y);
        let moved = frame.ground_to_root(next.frame.origin.x, next.frame.origin.z) / dt_s;
        let yaw_rate = CharacterState::yaw_rate_between(frame, &next.frame, dt_s);
        y[self.y_range(BlockName::RootMotion)].copy_from_slice(&[moved.x, moved.y, yaw_rate]);
        y[self.y_range(BlockName::Gait)].copy_from_slice(gait);
        for (slot, (position, yaw)) in y[self.y_range(BlockName::Trajectory)].chunks_exact_mut(4).zip(keys) {
            slot.copy_from_slice(&trajectory_key(&next.frame, *position, *yaw));
        }
        y[self.y_range(BlockName::PhaseCodes)].copy_from_slice(phase_codes);
        y[self.y_range(BlockName::PhaseParameters)].copy_from_slice(phase_parameters);
    }

    /// Writes the blocks of y that a state gives: positions, velocities, rotations, root motion.
    ///
    /// # Panics
    /// When a size disagrees with the layout.
    pub fn write_state_of_y(&self, state: &CharacterState, y: &mut [f32]) {
        assert_eq!(y.len(), self.y_len(), "y has another layout");
        self.write_state(&|name| self.y_range(name), state, y);
    }

    /// What y would be if nothing changed: for each block of y that x has too, x's present state, its gait, its
    /// future keys; zero for what x does not have (phase parameters). Both in their own units.
    ///
    /// A network that predicts y less this base starts from holding still instead of from nothing.
    ///
    /// # Panics
    /// When `x` or `base` has another length.
    pub fn write_base(&self, x: &[f32], base: &mut [f32]) {
        self.with_base(x, base, |value, base| *value = base);
    }

    /// Lets every value of `y` `meet` that of the base which [`Self::write_base`] writes.
    ///
    /// # Panics
    /// When `x` or `y` has another length.
    pub fn with_base(&self, x: &[f32], y: &mut [f32], meet: impl Fn(&mut f32, f32)) {
        assert_eq!((x.len(), y.len()), (self.x_len(), self.y_len()), "x or y has another layout");
        for block in self.y_blocks() {
            let from = self.x_range(block.name);
            let skipped = match block.name {
                BlockName::JointPositions
                | BlockName::JointVelocities
                | BlockName::JointRotations
                | BlockName::RootMotion => 0,
                BlockName::Gait => PAST_KEYS * Gait::COUNT,
                BlockName::Trajectory => PAST_KEYS * 4,
                BlockName::PhaseCodes => PAST_KEYS * 2 * self.channels(),
                BlockName::PhaseParameters | BlockName::TerrainHeights | BlockName::ContactImpulses => {
                    y[block.range.clone()].iter_mut().for_each(|value| meet(value, 0.0));
                    continue;
                }
            };
            let start = from.start + skipped;
            let base = &x[start..start + block.range.len()];
            y[block.range.clone()].iter_mut().zip(base).for_each(|(value, base)| meet(value, *base));
        }
    }

    /// Reads y back; rotations are made orthonormal, gait weights are clamped and sum to one.
    ///
    /// # Panics
    /// When `y` has another length.
    pub fn read_y(&self, y: &[f32]) -> OutputFrame {
        assert_eq!(y.len(), self.y_len(), "y has another layout");
        let vectors = |name| -> PerJoint<Vec3> {
            y[self.y_range(name)].chunks_exact(3).map(Vec3::from_slice).collect()
        };
        let rotations_local = y[self.y_range(BlockName::JointRotations)]
            .chunks_exact(6)
            .map(|d| from_6d([d[0], d[1], d[2], d[3], d[4], d[5]]))
            .collect();
        let root = &y[self.y_range(BlockName::RootMotion)];
        let mut gait = [0.0; Gait::COUNT];
        for (weight, value) in gait.iter_mut().zip(&y[self.y_range(BlockName::Gait)]) {
            *weight = value.max(0.0);
        }
        let total: f32 = gait.iter().sum();
        if total > 1e-3 {
            for weight in &mut gait {
                *weight /= total;
            }
        } else {
            gait = Gait::Stand.one_hot();
        }
        let mut trajectory = [(Vec2::ZERO, 0.0); FUTURE_KEYS];
        for (key, slot) in trajectory.iter_mut().zip(y[self.y_range(BlockName::Trajectory)].chunks_exact(4)) {
            *key = (Vec2::new(slot[0], slot[1]), slot[2].atan2(slot[3]));
        }
        OutputFrame {
            positions_root: vectors(BlockName::JointPositions),
            velocities_root: vectors(BlockName::JointVelocities),
            rotations_local,
            root_velocity: Vec2::new(root[0], root[1]),
            yaw_rate: root[2],
            gait,
            trajectory,
            phase_codes: y[self.y_range(BlockName::PhaseCodes)].into(),
            phase_parameters: y[self.y_range(BlockName::PhaseParameters)].into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{InputFrame, KEYS, Rotations, WindowKey};
    use crate::{GlobalPose, Pose, Skeleton, rotation};

    fn walker(skeleton: &Skeleton, at: Vec3, yaw: f32) -> (GlobalPose, Vec<Vec3>) {
        let mut pose = Pose::rest(skeleton);
        pose.root_position = at + Vec3::Y;
        pose.local_rotations[0] = rotation::from_yaw(yaw) * rotation::exp(Vec3::new(0.2, 0.0, 0.1));
        pose.local_rotations[5] = rotation::exp(Vec3::new(0.4, -0.2, 0.1));
        let velocities = (0..skeleton.len()).map(|j| Vec3::new(j as f32 * 0.1, 0.2, 1.0)).collect();
        (skeleton.forward_kinematics(&pose), velocities)
    }

    #[test]
    fn y_read_back_and_put_into_the_next_root_frame_is_the_next_pose() {
        let skeleton = Skeleton::humanoid(1.75);
        let layout = FeatureLayout::new(22, 22, 5, Rotations::SixD);
        let (now, velocities) = walker(&skeleton, Vec3::new(3.0, 0.0, -2.0), 1.0);
        let (then, next_velocities) = walker(&skeleton, Vec3::new(3.1, 0.0, -1.9), 1.1);
        let state = CharacterState::from_world(&skeleton, &now, &velocities, 0.0, 0.0);
        let next = CharacterState::from_world(&skeleton, &then, &next_velocities, 0.0, 0.0);
        let keys = [(Vec2::new(3.5, -1.0), 1.5); FUTURE_KEYS];
        let (codes, parameters) = (vec![0.3; FUTURE_KEYS * 10], vec![0.7; FUTURE_KEYS * 15]);
        let mut y = vec![0.0; layout.y_len()];
        layout.write_y(
            &state.frame,
            &next,
            &Gait::Walk.one_hot(),
            &keys,
            &codes,
            &parameters,
            1.0 / 60.0,
            &mut y,
        );
        let read = layout.read_y(&y);
        let rebuilt = read.state_in(read.next_frame(&state.frame, 1.0 / 60.0));
        let world = skeleton.forward_kinematics(&rebuilt.to_pose());
        for (a, b) in world.positions.iter().zip(&then.positions) {
            assert!((*a - *b).length() < 1e-4, "{a} is not {b}");
        }
        assert!((rebuilt.frame.ground_to_world(read.trajectory[3].0) - Vec2::new(3.5, -1.0)).length() < 1e-4);
        assert!((read.trajectory[3].1 - (1.5 - next.frame.yaw)).abs() < 1e-4);
        assert_eq!(read.phase_codes.as_slice(), codes);
        assert_eq!(Gait::dominant(&read.gait), Gait::Walk);
    }

    #[test]
    fn the_base_of_y_is_what_x_says_of_the_present_and_the_future() {
        let layout = FeatureLayout::new(22, 22, 5, Rotations::SixD);
        let x: Vec<f32> = (0..layout.x_len()).map(|i| i as f32).collect();
        let mut base = vec![-1.0; layout.y_len()];
        layout.write_base(&x, &mut base);
        let at = |name| base[layout.y_range(name)][0];
        assert_eq!(at(BlockName::JointPositions), x[layout.x_range(BlockName::JointPositions).start]);
        assert_eq!(at(BlockName::Gait), x[layout.x_range(BlockName::Gait).start + 6 * 8]);
        assert_eq!(at(BlockName::Trajectory), x[layout.x_range(BlockName::Trajectory).start + 6 * 4]);
        assert_eq!(at(BlockName::PhaseCodes), x[layout.x_range(BlockName::PhaseCodes).start + 6 * 10]);
        assert!(base[layout.y_range(BlockName::PhaseParameters)].iter().all(|v| *v == 0.0));
    }

    #[test]
    fn x_does_not_change_when_the_world_is_moved_and_turned() {
        let skeleton = Skeleton::humanoid(1.75);
        let layout = FeatureLayout::new(22, 22, 5, Rotations::SixD);
        let x_at = |offset: Vec3, yaw: f32| {
            let turn = |v: Vec3| rotation::from_yaw(yaw) * v;
            let (pose, velocities) = walker(&skeleton, Vec3::ZERO, 0.0);
            let pose = GlobalPose {
                positions: pose.positions.iter().map(|p| turn(*p) + offset).collect(),
                rotations: pose.rotations.iter().map(|q| rotation::from_yaw(yaw) * *q).collect(),
            };
            let velocities: Vec<Vec3> = velocities.iter().map(|v| turn(*v)).collect();
            let state = CharacterState::from_world(&skeleton, &pose, &velocities, 0.3, offset.y);
            let keys: [WindowKey; KEYS] = std::array::from_fn(|k| {
                let p = turn(Vec3::new(0.1, 0.0, k as f32 * 0.2)) + offset;
                WindowKey { position: Vec2::new(p.x, p.z), yaw: yaw + 0.1, gait: Gait::Walk.one_hot() }
            });
            let impulses: Vec<Vec3> = (0..22).map(|b| turn(Vec3::new(1.0, b as f32, 0.5))).collect();
            let mut x = vec![0.0; layout.x_len()];
            let input = InputFrame {
                state: &state,
                keys: &keys,
                phase_codes: &[0.25; KEYS * 10],
                contact_impulse: &impulses,
                weight_impulse_ns: 12.0,
            };
            layout.write_x(&input, |_, _| offset.y + 0.5, &mut x);
            x
        };
        let (a, b) = (x_at(Vec3::ZERO, 0.0), x_at(Vec3::new(5.0, 1.0, -7.0), 2.2));
        for (i, (a, b)) in a.iter().zip(&b).enumerate() {
            assert!((a - b).abs() < 1e-4, "feature {i}: {a} is not {b}");
        }
    }
}
