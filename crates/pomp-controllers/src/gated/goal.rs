//! The goal of a neural state machine: what it reads of it, and the path that it predicts as seen from there (NSM §5–6).
//!
//! The goal of a frame is its last key, a second ahead: a moving place while a path goes on, its end when it ends. Place and heading of
//! a key count twice, as seen from the character and as seen from the goal. Far from the goal the first prediction leads, near it the
//! second, which does not add up errors on the way.

use pomp_motion::features::{BlockName, FUTURE_KEYS, FeatureLayout, KEYS, PAST_KEYS};
use pomp_motion::glam::Vec3;
use pomp_motion::rotation::wrap_angle;
use pomp_motion::{FRAME_RATE_HZ, Gait, RootFrame, smoothstep_between};

const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;
/// Numbers of a key: place, and sine and cosine of the heading.
const KEY: usize = 4;
/// The keys but the last, which is the goal, as seen from it.
pub(super) const GOAL_INPUTS: usize = (KEYS - 1) * KEY;
/// What decides beside the phase: gaits of now and of the goal, its distance, and sine and cosine of its heading.
const DECIDING: usize = 2 * Gait::COUNT + 3;
/// All of it, times cosine and sine of the phase.
pub(super) const GOAL_GATE: usize = 2 * DECIDING;
/// Changes of the future keys, the present among them, as seen from the goal.
pub(super) const GOAL_OUTPUTS: usize = FUTURE_KEYS * KEY;
/// Unit of these changes: what a frame of a walk changes, in metres and radians.
const CHANGE: f32 = 0.02;
/// Distances of the goal at which the path as seen from it leads alone, and from which on it does not count, metres.
const NEAR_M: f32 = 0.25;
const FAR_M: f32 = 1.0;

/// A key as a frame on the ground.
fn place(key: &[f32]) -> RootFrame {
    RootFrame { origin: Vec3::new(key[0], 0.0, key[1]), yaw: key[2].atan2(key[3]) }
}

fn numbers(place: RootFrame) -> [f32; KEY] {
    let (sin, cos) = place.yaw.sin_cos();
    [place.origin.x, place.origin.z, sin, cos]
}

/// A place that is given in `frame`, in the frame that `frame` is given in.
fn outward(frame: &RootFrame, inner: &RootFrame) -> RootFrame {
    RootFrame { origin: frame.to_world(inner.origin), yaw: frame.yaw + inner.yaw }
}

/// The other way.
fn inward(frame: &RootFrame, outer: &RootFrame) -> RootFrame {
    RootFrame { origin: frame.to_root(outer.origin), yaw: outer.yaw - frame.yaw }
}

/// The goal of a frame, and its keys as seen from there.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// In the root frame.
    goal: RootFrame,
    /// As seen from the goal.
    keys: [RootFrame; KEYS],
}

impl Goal {
    /// That of x, in its own units.
    pub fn of(layout: &FeatureLayout, x: &[f32]) -> Self {
        let ego = &x[layout.x_range(BlockName::Trajectory)];
        let goal = place(&ego[(KEYS - 1) * KEY..]);
        Self { goal, keys: std::array::from_fn(|key| inward(&goal, &place(&ego[key * KEY..][..KEY]))) }
    }

    /// Its keys, as seen from the goal.
    pub fn inputs(&self) -> impl Iterator<Item = f32> {
        self.keys.into_iter().take(KEYS - 1).flat_map(numbers)
    }

    /// What the gate reads: the phase of the cycle, times gaits and goal (Kronecker product). Nothing of it is normalised.
    pub fn gate(&self, layout: &FeatureLayout, x: &[f32]) -> [f32; GOAL_GATE] {
        let code = layout.x_range(BlockName::PhaseCodes).start + PAST_KEYS * 2 * layout.channels();
        let gaits = &x[layout.x_range(BlockName::Gait)];
        let mut deciding = [0.0; DECIDING];
        let (now, rest) = deciding.split_at_mut(Gait::COUNT);
        now.copy_from_slice(&gaits[PAST_KEYS * Gait::COUNT..][..Gait::COUNT]);
        rest[..Gait::COUNT].copy_from_slice(&gaits[(KEYS - 1) * Gait::COUNT..]);
        let (sin, cos) = self.goal.yaw.sin_cos();
        rest[Gait::COUNT..].copy_from_slice(&[self.distance_m(), sin, cos]);
        std::array::from_fn(|i| x[code + i / DECIDING] * deciding[i % DECIDING])
    }

    /// What the network is to say of the path of `y`, in its own units, as seen from the goal.
    pub fn wanted(&self, layout: &FeatureLayout, y: &[f32]) -> [f32; GOAL_OUTPUTS] {
        let next = next_place(layout, y);
        let ahead = &y[layout.y_range(BlockName::Trajectory)];
        let mut changes = [0.0; GOAL_OUTPUTS];
        for (key, change) in changes.chunks_exact_mut(KEY).enumerate() {
            let seen = inward(&self.goal, &outward(&next, &place(&ahead[key * KEY..][..KEY])));
            let held = numbers(self.keys[PAST_KEYS + key]);
            for ((change, new), old) in change.iter_mut().zip(numbers(seen)).zip(held) {
                *change = (new - old) / CHANGE;
            }
        }
        changes
    }

    fn distance_m(&self) -> f32 {
        self.goal.origin.x.hypot(self.goal.origin.z)
    }

    /// Share of the path as seen from the goal.
    fn share(&self) -> f32 {
        1.0 - smoothstep_between(NEAR_M, FAR_M, self.distance_m())
    }

    /// Mixes what the network says of the path as seen from the goal, `changes`, into that of `y`, in its own units, which is seen from
    /// the character.
    pub fn blend(&self, layout: &FeatureLayout, changes: &[f32], y: &mut [f32]) {
        let share = self.share();
        let from_goal = |key: usize| {
            let mut seen = numbers(self.keys[PAST_KEYS + key]);
            seen.iter_mut().zip(&changes[key * KEY..]).for_each(|(value, change)| *value += change * CHANGE);
            outward(&self.goal, &place(&seen))
        };
        let mixed = |ego: &RootFrame, goal: &RootFrame| RootFrame {
            origin: ego.origin.lerp(goal.origin, share),
            yaw: ego.yaw + wrap_angle(goal.yaw - ego.yaw) * share,
        };
        let ego_next = next_place(layout, y);
        let next = mixed(&ego_next, &from_goal(0));
        y[layout.y_range(BlockName::RootMotion)].copy_from_slice(&[
            next.origin.x / FRAME_S,
            next.origin.z / FRAME_S,
            wrap_angle(next.yaw) / FRAME_S,
        ]);
        let ahead = &mut y[layout.y_range(BlockName::Trajectory)];
        for (key, slot) in ahead.chunks_exact_mut(KEY).enumerate().skip(1) {
            let ego = outward(&ego_next, &place(slot));
            slot.copy_from_slice(&numbers(inward(&next, &mixed(&ego, &from_goal(key)))));
        }
    }
}

/// Where the root motion of y leads, in the root frame before it.
fn next_place(layout: &FeatureLayout, y: &[f32]) -> RootFrame {
    let motion = &y[layout.y_range(BlockName::RootMotion)];
    RootFrame { origin: Vec3::new(motion[0], 0.0, motion[1]) * FRAME_S, yaw: motion[2] * FRAME_S }
}
