//! Clips as motion matching plays them.

use glam::{Quat, Vec2, Vec3};
use pomp_motion::features::{CharacterState, FUTURE_KEYS, KEY_OFFSETS, PAST_KEYS};
use pomp_motion::rotation::{from_yaw, wrap_angle};
use pomp_motion::{FRAME_RATE_HZ, FrameTable, Gait, PerJoint, Pose, Skeleton};

/// Frames at the end of a clip whose mean motion goes on beyond it.
const END_FRAMES: usize = 15;

/// A character on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipRoot {
    /// The pelvis on the ground plane, x and z, metres.
    pub position: Vec2,
    /// Heading, radians; successive frames differ by less than half a turn.
    pub yaw: f32,
    /// Height of the pelvis above the ground, metres.
    pub height_m: f32,
}

impl ClipRoot {
    /// A place and a heading of the ground, in this root's frame.
    pub fn to_root(&self, position: Vec2, yaw: f32) -> (Vec2, f32) {
        let way = position - self.position;
        let way = from_yaw(-self.yaw) * Vec3::new(way.x, 0.0, way.y);
        (Vec2::new(way.x, way.z), wrap_angle(yaw - self.yaw))
    }

    /// Velocity on the ground, of a point that moves by `way` in a frame, in this root's frame, m/s.
    pub(crate) fn velocity(&self, way: Vec3) -> Vec3 {
        from_yaw(-self.yaw) * way * FRAME_RATE_HZ
    }
}

/// A clip to match against, at 60 Hz.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchingClip {
    /// Local rotations `[T, J]`; the root's relative to its heading.
    pub rotations_local: FrameTable<Quat>,
    /// Roots `[T]`.
    pub roots: Vec<ClipRoot>,
    /// Gait weights `[T]`.
    pub gaits: Vec<[f32; Gait::COUNT]>,
    /// Whether a frame may be jumped to `[T]`.
    pub usable: Vec<bool>,
    /// Phase codes `[T]`; empty when phases are not matched.
    pub phase_codes: Vec<Vec<f32>>,
    /// Phase codes of the clip's mirror image `[T]`, which do not follow from those of the clip; empty when it is not played.
    pub mirrored_codes: Vec<Vec<f32>>,
}

impl MatchingClip {
    /// The clip of the states, gaits and usable frames of a recording.
    ///
    /// # Panics
    /// When there are not as many gaits, or flags, as states.
    pub fn of_states(states: &[CharacterState], gaits: Vec<[f32; Gait::COUNT]>, usable: Vec<bool>) -> Self {
        assert_eq!((states.len(), states.len()), (gaits.len(), usable.len()), "one gait and flag per state");
        let mut rotations_local =
            FrameTable::with_columns(states.first().map_or(0, |state| state.rotations_local.len()));
        let mut roots: Vec<ClipRoot> = Vec::with_capacity(states.len());
        for state in states {
            rotations_local.push(&state.rotations_local);
            let before = roots.last().map_or(0.0, |root| root.yaw);
            roots.push(ClipRoot {
                position: Vec2::new(state.frame.origin.x, state.frame.origin.z),
                yaw: before + wrap_angle(state.frame.yaw - before),
                height_m: state.positions_root[0].y,
            });
        }
        Self { rotations_local, roots, gaits, usable, phase_codes: Vec::new(), mirrored_codes: Vec::new() }
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.roots.len()
    }

    /// Frames `range` alone.
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        let mut rotations_local = FrameTable::with_columns(self.rotations_local.columns());
        range.clone().for_each(|frame| rotations_local.push(&self.rotations_local[frame]));
        let codes = |codes: &[Vec<f32>]| codes.get(range.clone()).unwrap_or_default().to_vec();
        Self {
            rotations_local,
            roots: self.roots[range.clone()].to_vec(),
            gaits: self.gaits[range.clone()].to_vec(),
            usable: self.usable[range.clone()].to_vec(),
            phase_codes: codes(&self.phase_codes),
            mirrored_codes: codes(&self.mirrored_codes),
        }
    }

    /// The clip reflected in the plane x = 0, left and right of a symmetric `skeleton` swapped.
    pub fn mirrored(&self, skeleton: &Skeleton) -> Self {
        let map = skeleton.mirror_map();
        let mut rotations_local = FrameTable::with_columns(map.len());
        for row in self.rotations_local.rows() {
            let swapped = map.iter().map(|source| {
                let q = row[source.0];
                Quat::from_xyzw(q.x, -q.y, -q.z, q.w)
            });
            rotations_local.push(&swapped.collect::<Vec<_>>());
        }
        let mirror = |root: &ClipRoot| ClipRoot {
            position: Vec2::new(-root.position.x, root.position.y),
            yaw: -root.yaw,
            ..*root
        };
        Self {
            rotations_local,
            roots: self.roots.iter().map(mirror).collect(),
            gaits: self.gaits.clone(),
            usable: self.usable.clone(),
            phase_codes: self.mirrored_codes.clone(),
            mirrored_codes: self.phase_codes.clone(),
        }
    }

    /// The root at a frame that may lie beyond the clip: there the mean motion of its last quarter of a second goes on straight
    /// ahead.
    pub fn root_at(&self, frame: usize) -> (Vec2, f32) {
        let last = self.frames() - 1;
        let root = &self.roots[frame.min(last)];
        let beyond = frame.saturating_sub(last);
        let over = END_FRAMES.min(last);
        if beyond == 0 || over == 0 {
            return (root.position, root.yaw);
        }
        let pace = (root.position - self.roots[last - over].position) / over as f32;
        (root.position + pace * beyond as f32, root.yaw)
    }

    /// Future keys from a frame on, in its root frame: where the clip goes.
    pub(crate) fn future_keys(&self, frame: usize) -> [(Vec2, f32); FUTURE_KEYS] {
        std::array::from_fn(|key| {
            let (position, yaw) = self.root_at(frame + KEY_OFFSETS[PAST_KEYS + key] as usize);
            self.roots[frame].to_root(position, yaw)
        })
    }

    /// Displacement (x, z) from a frame to the next in the first one's root frame, metres, and turn, radians. The last frame moves as
    /// the one before it.
    pub(crate) fn advance(&self, frame: usize) -> (Vec2, f32) {
        let from = frame.min(self.frames().saturating_sub(2));
        let to = &self.roots[(from + 1).min(self.frames() - 1)];
        self.roots[from].to_root(to.position, to.yaw)
    }

    /// The pose at a frame over its root's place on the ground, facing +Z.
    pub(crate) fn pose_root(&self, frame: usize) -> Pose {
        Pose {
            root_position: Vec3::Y * self.roots[frame].height_m,
            local_rotations: self.rotations_local[frame].into(),
        }
    }

    /// Positions of all joints at a frame in its root frame, metres.
    pub(crate) fn positions_root(&self, skeleton: &Skeleton, frame: usize) -> PerJoint<Vec3> {
        skeleton.forward_kinematics(&self.pose_root(frame)).positions
    }

    /// Velocities of all joints at a frame in its root frame by central differences, m/s; one-sided at the ends.
    pub(crate) fn velocities_root(&self, skeleton: &Skeleton, frame: usize) -> Vec<Vec3> {
        let (before, after) = (frame.saturating_sub(1), (frame + 1).min(self.frames() - 1));
        let world = |at: usize| {
            let root = &self.roots[at];
            let origin = Vec3::new(root.position.x, 0.0, root.position.y);
            let positions = self.positions_root(skeleton, at).into_iter();
            positions.map(move |position| origin + from_yaw(root.yaw) * position)
        };
        let frames = (after - before).max(1) as f32;
        let root = &self.roots[frame];
        world(before).zip(world(after)).map(|(a, b)| root.velocity((b - a) / frames)).collect()
    }
}
