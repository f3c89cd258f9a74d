//! What motion matching and its learned form keep from frame to frame: when to search, what is left of seams, the lead of the root.

use super::features::{AHEAD, Ahead};
use super::inertia::Offset;
use crate::gated::held;
use glam::{Quat, Vec2, Vec3};
use pomp_motion::features::{
    CharacterState, FUTURE_KEYS, FuturePhases, InputFrame, KEY_OFFSETS, KEYS, OutputFrame, WindowKey,
};
use pomp_motion::rotation::{angular_velocity, exp, from_yaw, log, wrap_angle};
use pomp_motion::{FRAME_RATE_HZ, Gait, PerJoint, Pose, RootFrame, Skeleton};

pub(crate) const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;
/// Frames between searches.
const SEARCH_EVERY: usize = 6;
/// A change of the velocity that is asked for, since the last search, at which the next one is at once, m/s.
const VELOCITY_JUMP_M_S: f32 = 0.4;
/// A change of the turn that is asked for within a second, likewise, radians.
const TURN_JUMP_RAD: f32 = 0.5;

/// Time in which the root takes up half of a change of its adjustment, seconds.
const ADJUSTMENT_HALF_LIFE_S: f32 = 0.1;
/// Largest adjustment of the root, as a share of the clip's speed: feet slide by it. On 25 recordings it takes the mean distance from a
/// straight path from 8 to 5 cm, from a jog's from 49 to 26 cm; feet slide no more in walking, by a third in jogging. An adjustment of
/// the heading made circles worse.
const ADJUSTMENT_SHARE: f32 = 0.2;

/// What `keys` ask of a character in `frame`.
pub(crate) fn asked_of(frame: &RootFrame, keys: &[WindowKey; KEYS]) -> Ahead {
    AHEAD.map(|ahead| {
        let key = KEY_OFFSETS.iter().position(|offset| *offset == ahead as i32);
        let key = &keys[key.expect("the window has keys at 20, 40 and 60 frames")];
        let place = frame.ground_to_root(key.position.x, key.position.y);
        (place, wrap_angle(key.yaw - frame.yaw))
    })
}

/// A pose over its root's place on the ground, facing +Z, and how it moves on from there.
pub(crate) struct Moment {
    pub pose: Pose,
    /// Per joint, in the parent's frame, rad/s.
    angular: Vec<Vec3>,
    /// Of the pelvis, m/s.
    climb: f32,
    /// Velocity on the ground (x, z) and rate of the heading (y) in the root frame.
    motion: Vec3,
}

impl Moment {
    /// `pose`, whose motion is that `from` → `to`, a frame apart, while the root is displaced and turned in its own frame.
    pub fn new(pose: Pose, [from, to]: [&Pose; 2], displacement: Vec2, turn: f32) -> Self {
        let pairs = from.local_rotations.iter().zip(&to.local_rotations);
        Self {
            pose,
            angular: pairs.map(|(a, b)| angular_velocity(*a, *b, FRAME_S)).collect(),
            climb: (to.root_position.y - from.root_position.y) / FRAME_S,
            motion: Vec3::new(displacement.x, turn, displacement.y) / FRAME_S,
        }
    }
}

/// What is played of a frame beside its pose.
#[derive(Clone, Copy)]
pub(crate) struct Played {
    pub gait: [f32; Gait::COUNT],
    pub trajectory: [(Vec2, f32); FUTURE_KEYS],
}

/// What a character that plays motion remembers beside what it plays.
#[derive(Clone, Debug)]
pub(crate) struct Playback {
    frames_since_search: usize,
    /// What was asked for at the last search.
    asked: Ahead,
    /// Per joint: rotation vectors in the parent's frame, applied on the left; the root's in the root frame.
    rotations: Vec<Offset>,
    /// Height of the pelvis above the ground, in y.
    height: Offset,
    /// Velocity on the ground (x, z) and rate of the heading (y) in the root frame.
    motion: Offset,
    /// Velocity on the ground (x, z) that is added to the clip's, towards what is asked for.
    adjustment: Vec2,
    /// Joint positions that were shown last, in the root frame of then.
    shown: PerJoint<Vec3>,
}

impl Playback {
    /// Begins at `pose`, when `asked` is asked for.
    pub fn begin(skeleton: &Skeleton, pose: &Pose, asked: &Ahead) -> Self {
        Self {
            frames_since_search: 0,
            asked: *asked,
            rotations: vec![Offset::default(); skeleton.len()],
            height: Offset::default(),
            motion: Offset::default(),
            adjustment: Vec2::ZERO,
            shown: skeleton.forward_kinematics(pose).positions,
        }
    }

    /// Follows on `state`, which is before the frame that `new` is of: what it lacks to that stays, and decays, so that a character in
    /// another pose, or that moves otherwise, is not torn out of it.
    pub fn follow(&mut self, state: &CharacterState, new: &Moment) {
        let pose = Pose {
            root_position: Vec3::Y * state.positions_root[0].y,
            local_rotations: state.rotations_local.clone(),
        };
        let motion = Vec3::new(state.root_velocity.x, state.yaw_rate, state.root_velocity.y);
        self.jump(&Moment { pose, angular: new.angular.clone(), climb: new.climb, motion }, new);
        self.shown.clone_from(&state.positions_root);
    }

    /// Whether this frame is one to search in; `ends` when what is played does. A search begins the count anew.
    pub fn searches(&mut self, asked: &Ahead, ends: bool) -> bool {
        let (before, now) = (self.asked[AHEAD.len() - 1], asked[AHEAD.len() - 1]);
        let seconds = AHEAD[AHEAD.len() - 1] as f32 * FRAME_S;
        let is_due = ends
            || self.frames_since_search >= SEARCH_EVERY
            || before.0.distance(now.0) > VELOCITY_JUMP_M_S * seconds
            || wrap_angle(now.1 - before.1).abs() > TURN_JUMP_RAD * seconds;
        if is_due {
            (self.frames_since_search, self.asked) = (0, *asked);
        }
        is_due
    }

    /// What is played jumps: what the old lacks to the new stays, and decays.
    pub fn jump(&mut self, old: &Moment, new: &Moment) {
        let pairs = old.pose.local_rotations.iter().zip(&new.pose.local_rotations);
        for (joint, (offset, (from, to))) in self.rotations.iter_mut().zip(pairs).enumerate() {
            // The old offset stands on the left of the seam.
            let value = log((exp(offset.value) * *from * to.inverse()).normalize());
            *offset = Offset { value, rate: offset.rate + old.angular[joint] - new.angular[joint] };
        }
        let height = old.pose.root_position.y - new.pose.root_position.y;
        self.height.add(Vec3::Y * height, Vec3::Y * (old.climb - new.climb));
        self.motion.add(old.motion - new.motion, Vec3::ZERO);
    }

    /// Moves on by a frame in which what is played is displaced and turns, and would be at `goes` at the last time of [`AHEAD`]:
    /// displacement and turn of the character, whose root is led towards what is asked for as far as the speed hides it.
    pub fn advance(&mut self, asked: &Ahead, goes: Vec2, displacement: Vec2, turn: f32) -> (Vec2, f32) {
        let last = AHEAD.len() - 1;
        let wanted = (asked[last].0 - goes) / (AHEAD[last] as f32 * FRAME_S);
        let wanted = wanted.clamp_length_max(ADJUSTMENT_SHARE * displacement.length() / FRAME_S);
        self.adjustment += (wanted - self.adjustment) * (1.0 - (-FRAME_S / ADJUSTMENT_HALF_LIFE_S).exp2());
        self.frames_since_search += 1;
        for offset in self.rotations.iter_mut().chain([&mut self.height, &mut self.motion]) {
            offset.decay(FRAME_S);
        }
        let rest = self.motion.value;
        let velocity = Vec2::new(rest.x, rest.z) + self.adjustment;
        (displacement + velocity * FRAME_S, turn + rest.y * FRAME_S)
    }

    /// The next frame: `pose` with what is left of the seams, after the character was displaced and turned, and `played`. It has the
    /// phase codes of `input`, held.
    pub fn show(
        &mut self,
        skeleton: &Skeleton,
        pose: Pose,
        (displacement, turn): (Vec2, f32),
        played: Played,
        input: &InputFrame<'_>,
    ) -> OutputFrame {
        let Pose { mut root_position, local_rotations } = pose;
        root_position += self.height.value;
        let pairs = local_rotations.iter().zip(&self.rotations);
        let local_rotations: PerJoint<Quat> =
            pairs.map(|(rotation, offset)| (exp(offset.value) * *rotation).normalize()).collect();
        let pose = Pose { root_position, local_rotations };
        let positions = skeleton.forward_kinematics(&pose).positions;
        let way = Vec3::new(displacement.x, 0.0, displacement.y);
        let velocities = positions
            .iter()
            .zip(&self.shown)
            .map(|(now, before)| (*now - from_yaw(-turn) * (*before - way)) / FRAME_S)
            .collect();
        self.shown.clone_from(&positions);
        let mut output = OutputFrame {
            positions_root: positions,
            velocities_root: velocities,
            rotations_local: pose.local_rotations,
            root_velocity: displacement / FRAME_S,
            yaw_rate: turn / FRAME_S,
            gait: played.gait,
            trajectory: played.trajectory,
            phase_codes: FuturePhases::new(),
            phase_parameters: FuturePhases::new(),
        };
        held(&mut output, input.phase_codes, input.phase_codes.len() / (2 * KEYS));
        output
    }
}
