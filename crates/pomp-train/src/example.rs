//! One training example of the kinematic module: x and y of a frame, from the clip itself, from its physics
//! replay, or from the model's own earlier prediction.

use crate::dataset::{FRAME_RATE_HZ, TrainingClip};
use glam::{Vec2, Vec3};
use pomp_generator::Character;
use pomp_motion::RootFrame;
use pomp_motion::features::{
    BlockName, CharacterState, FUTURE_KEYS, FeatureLayout, InputFrame, KEY_OFFSETS, KEYS, PAST_KEYS,
    WindowKey,
};
use pomp_motion::rotation::wrap_angle;
use pomp_phase::extrapolate_code;

/// Time in which a character beside its clip is to be back on it, seconds: the root motion in y carries the
/// correction, so that the closed loop learns to steer.
const RETURN_TIME_S: f32 = 0.5;

/// Share of a pose's distance from its clip that is left after one frame: a jump all the way would teach jerks, a slow return
/// would let the body sag in a loop that shows little of it.
const POSE_LEFT_PER_FRAME: f32 = 0.5;

/// Farthest that the target of a body in a simulated rollout leads it towards the clip's pose in one frame, mean distance of
/// joints, metres: who is far off, after a push, is led back steadily.
const FARTHEST_LEAD_M: f32 = 0.06;

/// A body under way and the target that leads it, as the closed loop has them.
#[derive(Clone, Copy)]
pub struct LedBody<'a> {
    /// The body, its target and the ground that the kinematic module is shown.
    pub character: &'a Character,
    /// Contact impulses of the last frame, N·s, world `[B]`.
    pub contact_impulse: &'a [Vec3],
    /// Phase codes of present and future keys (`FUTURE_KEYS` × 2C).
    pub codes: &'a [f32],
    /// Share of the pose's distance from its clip that is left after one frame, at least.
    pub pose_left: f32,
}

/// Where the state in x comes from.
#[derive(Clone, Copy)]
pub enum StateSource<'a> {
    /// The clip.
    Clean,
    /// The physics replay.
    Replayed,
    /// A state that the model's own targets led to, with nothing to hold them back, and its phase codes of present and
    /// future keys (`FUTURE_KEYS` × 2C).
    Predicted(&'a CharacterState, &'a [f32]),
    /// A state that a controller's own targets led to, as [`Self::Predicted`], with the window that the loop would show there.
    Own(OwnState<'a>),
    /// A state that the simulator made of the model's own targets.
    Led(LedBody<'a>),
}

/// A state under way, and the window around it.
#[derive(Clone, Copy)]
pub struct OwnState<'a> {
    /// The state.
    pub state: &'a CharacterState,
    /// Frame of the clip whose pose it is led on from; the path that it is led back to is that of the example's frame.
    pub pose_frame: usize,
    /// Keys of the window.
    pub keys: &'a [WindowKey; KEYS],
    /// Phase codes of all keys (`KEYS` × 2C).
    pub codes: &'a [f32],
    /// Contact impulses that the loop would show, N·s, world `[B]`: none where it goes on from its target.
    pub contact_impulse: &'a [Vec3],
}

/// Writes x and y of `frame` → `frame` + 1.
///
/// # Panics
/// When `frame` + 1 is outside the clip or phases are missing.
pub fn write_example(
    layout: &FeatureLayout,
    clip: &TrainingClip,
    frame: usize,
    source: &StateSource<'_>,
    weight_impulse_ns: f32,
    x: &mut [f32],
    y: &mut [f32],
) {
    let example = ExampleWriter::new(layout, clip, frame, source, weight_impulse_ns);
    example.write_x(x);
    example.write_y(y);
}

/// An example on its way into x and y.
struct ExampleWriter<'a> {
    layout: &'a FeatureLayout,
    clip: &'a TrainingClip,
    frame: usize,
    /// Frame of the clip's pose and phases; another one only where the moment of the gait is not that of the path.
    pose_frame: usize,
    source: &'a StateSource<'a>,
    weight_impulse_ns: f32,
    /// The clip's own state, where its path is.
    clean: &'a CharacterState,
    /// The state in x.
    state: &'a CharacterState,
    /// The root that the root motion in y is of: the target's, in the clip and in rollouts without a simulator that of the state
    /// itself.
    target_frame: &'a RootFrame,
    contact_impulse: &'a [Vec3],
    /// How far the target is from the clip: on the ground and in heading.
    target_drift: (Vec2, f32),
}

impl<'a> ExampleWriter<'a> {
    fn new(
        layout: &'a FeatureLayout,
        clip: &'a TrainingClip,
        frame: usize,
        source: &'a StateSource<'a>,
        weight_impulse_ns: f32,
    ) -> Self {
        let clean = &clip.clean[frame];
        let pose_frame = match source {
            StateSource::Own(own) => own.pose_frame,
            _ => frame,
        };
        let (state, target_frame, contact_impulse) = match source {
            StateSource::Clean => (clean, &clean.frame, clip.sim_contact_impulse(frame)),
            StateSource::Replayed => (&clip.simulated[frame], &clean.frame, clip.sim_contact_impulse(frame)),
            StateSource::Predicted(state, _) => (*state, &state.frame, clip.sim_contact_impulse(frame)),
            StateSource::Own(own) => (own.state, &own.state.frame, own.contact_impulse),
            StateSource::Led(body) => {
                (body.character.state(), body.character.target_frame(), body.contact_impulse)
            }
        };
        let target_drift = drift(target_frame, &clean.frame);
        Self {
            layout,
            clip,
            frame,
            pose_frame,
            source,
            weight_impulse_ns,
            clean,
            state,
            target_frame,
            contact_impulse,
            target_drift,
        }
    }

    fn write_x(&self, x: &mut [f32]) {
        let (keys, phase_codes) = (self.keys(), self.phase_codes());
        let input = InputFrame {
            state: self.state,
            keys: &keys,
            phase_codes: &phase_codes,
            contact_impulse: self.contact_impulse,
            weight_impulse_ns: self.weight_impulse_ns,
        };
        match self.source {
            StateSource::Led(body) => {
                self.layout.write_x(&input, |x, z| body.character.shown_ground(x, z), x);
            }
            _ => self.layout.write_x(&input, |x, z| self.clip.terrain.height(x, z), x),
        }
    }

    /// The window of x.
    fn keys(&self) -> [WindowKey; KEYS] {
        if let StateSource::Own(own) = self.source {
            return *own.keys;
        }
        let clip = self.clip;
        let (own_drift, yaw_drift) = drift(&self.state.frame, &self.clean.frame);
        // Future keys of the loop lie between what the command asks of the body and what was predicted for the target.
        let drift_ahead = (own_drift + self.target_drift.0) * 0.5;
        std::array::from_fn(|k| {
            let at = self.frame as i64 + i64::from(KEY_OFFSETS[k]);
            let gait = clip.recording.gait[at.clamp(0, clip.frames() as i64 - 1) as usize];
            let (position, yaw) = if k == PAST_KEYS {
                (ground(&self.state.frame), self.state.frame.yaw)
            } else if k < PAST_KEYS {
                match self.source {
                    StateSource::Replayed => TrainingClip::root_at(&clip.simulated, at),
                    StateSource::Clean
                    | StateSource::Predicted(..)
                    | StateSource::Own(_)
                    | StateSource::Led(_) => {
                        let (position, yaw) = TrainingClip::root_at(&clip.clean, at);
                        let share = k as f32 / PAST_KEYS as f32;
                        (position + own_drift * share, yaw + yaw_drift * share)
                    }
                }
            } else {
                led_back(clip, at, drift_ahead, (k - PAST_KEYS) as f32 / (FUTURE_KEYS - 1) as f32)
            };
            WindowKey { position, yaw: wrap_angle(yaw), gait }
        })
    }

    /// Phase codes of the keys of x.
    fn phase_codes(&self) -> Vec<f32> {
        if let StateSource::Own(own) = self.source {
            return own.codes.to_vec();
        }
        let channels = self.layout.channels();
        let mut codes = vec![0.0; KEYS * 2 * channels];
        for (slot, offset) in codes.chunks_exact_mut(2 * channels).zip(KEY_OFFSETS) {
            phase_code_at(self.clip, self.frame as i64 + i64::from(offset), slot);
        }
        if let StateSource::Predicted(_, future) | StateSource::Led(LedBody { codes: future, .. }) =
            self.source
        {
            codes[PAST_KEYS * 2 * channels..].copy_from_slice(future);
        }
        codes
    }

    fn write_y(&self, y: &mut [f32]) {
        let dt = 1.0 / FRAME_RATE_HZ;
        let left = 1.0 - dt / RETURN_TIME_S;
        let next_clean = &self.clip.clean[self.pose_frame + 1];
        let next_drift = self.target_drift.0 * left;
        let (next_position, next_yaw) = if self.pose_frame == self.frame {
            (ground(&next_clean.frame) + next_drift, next_clean.frame.yaw + self.target_drift.1 * left)
        } else {
            // The way of the pose's own step, and of the way back to the path what a frame takes.
            let now = &self.clip.clean[self.pose_frame].frame;
            let step = now.ground_to_root(next_clean.frame.origin.x, next_clean.frame.origin.z);
            let (back, turn) = (self.target_drift.0 * (left - 1.0), self.target_drift.1 * (left - 1.0));
            let turned = wrap_angle(next_clean.frame.yaw - now.yaw);
            (self.state.frame.ground_to_world(step) + back, self.state.frame.yaw + turned + turn)
        };
        let mut next = next_clean.clone();
        next.frame = RootFrame {
            origin: Vec3::new(next_position.x, next_clean.frame.origin.y, next_position.y),
            yaw: wrap_angle(next_yaw),
        };
        let future: [(Vec2, f32); FUTURE_KEYS] = std::array::from_fn(|k| match k {
            0 => (next_position, next.frame.yaw),
            _ => led_back(self.clip, self.next_key(k), next_drift, k as f32 / (FUTURE_KEYS - 1) as f32),
        });
        let (codes, parameters) = self.next_phases();
        let gait = self.clip.recording.gait[self.frame + 1];
        self.layout.write_y(self.target_frame, &next, &gait, &future, &codes, &parameters, dt, y);
        self.keep_distance(y);
    }

    /// Frame of future key `k` of y.
    fn next_key(&self, k: usize) -> i64 {
        self.frame as i64 + 1 + i64::from(KEY_OFFSETS[PAST_KEYS + k])
    }

    /// Phase codes, and frequencies, amplitudes and offsets, of the future keys of y.
    fn next_phases(&self) -> (Vec<f32>, Vec<f32>) {
        let (clip, channels) = (self.clip, self.layout.channels());
        let mut codes = vec![0.0; FUTURE_KEYS * 2 * channels];
        let mut parameters = vec![0.0; FUTURE_KEYS * 3 * channels];
        let slots = codes.chunks_exact_mut(2 * channels).zip(parameters.chunks_exact_mut(3 * channels));
        for (k, (code, parameter)) in slots.enumerate() {
            let at = self.next_key(k) + self.pose_frame as i64 - self.frame as i64;
            phase_code_at(clip, at, code);
            let inside = at.clamp(0, clip.frames() as i64 - 1) as usize;
            parameter.copy_from_slice(&clip.phase_parameters[inside]);
        }
        (codes, parameters)
    }

    /// Leaves in y a share of the pose's distance from the clip.
    fn keep_distance(&self, y: &mut [f32]) {
        let left = match self.source {
            StateSource::Clean => return,
            StateSource::Replayed | StateSource::Predicted(..) | StateSource::Own(_) => POSE_LEFT_PER_FRAME,
            StateSource::Led(body) => {
                let away = mean_distance(&self.clean.positions_root, &self.state.positions_root);
                (1.0 - FARTHEST_LEAD_M / away.max(FARTHEST_LEAD_M)).max(body.pose_left)
            }
        };
        let clean = &self.clip.clean[self.pose_frame];
        keep_what_is_left(self.layout, clean, self.state, left, y);
    }
}

/// Adds to the pose in y what a frame leaves of the distance between the state and its clip.
fn keep_what_is_left(
    layout: &FeatureLayout,
    clean: &CharacterState,
    state: &CharacterState,
    left: f32,
    y: &mut [f32],
) {
    let (mut from, mut to) = (vec![0.0; y.len()], vec![0.0; y.len()]);
    layout.write_state_of_y(clean, &mut from);
    layout.write_state_of_y(state, &mut to);
    for name in [BlockName::JointPositions, BlockName::JointVelocities, BlockName::JointRotations] {
        for i in layout.y_range(name) {
            y[i] += (to[i] - from[i]) * left;
        }
    }
}

/// Mean distance of joints, metres.
pub(crate) fn mean_distance(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).sum::<f32>() / a.len() as f32
}

/// The clip's root at frame `at`, moved by what is left of `drift` when `share` of the window has passed.
fn led_back(clip: &TrainingClip, at: i64, drift: Vec2, share: f32) -> (Vec2, f32) {
    let (position, yaw) = TrainingClip::root_at(&clip.clean, at);
    (position + drift.clamp_length_max(1.0) * (1.0 - share), yaw)
}

/// Phase code at a frame that may lie outside the clip: there the phase runs on at its frequency.
pub(crate) fn phase_code_at(clip: &TrainingClip, at: i64, code: &mut [f32]) {
    let inside = at.clamp(0, clip.frames() as i64 - 1);
    code.copy_from_slice(&clip.phase_codes[inside as usize]);
    if at != inside {
        let seconds = (at - inside) as f32 / FRAME_RATE_HZ;
        let channels = code.len() / 2;
        let frequencies = &clip.phase_parameters[inside as usize][..channels];
        let moved =
            extrapolate_code(code, frequencies, seconds).expect("a clip has C codes and C frequencies");
        code.copy_from_slice(&moved);
    }
}

/// How far a root is from another: on the ground and in heading.
fn drift(from: &RootFrame, clean: &RootFrame) -> (Vec2, f32) {
    (ground(from) - ground(clean), wrap_angle(from.yaw - clean.yaw))
}

fn ground(frame: &RootFrame) -> Vec2 {
    Vec2::new(frame.origin.x, frame.origin.z)
}
