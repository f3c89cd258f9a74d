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
    /// A state that the simulator made of the model's own targets.
    Led(LedBody<'a>),
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
    let clean = &clip.clean[frame];
    // The root motion in y is the target's, in the clip and in rollouts without a simulator that of the state itself.
    let (state, target_frame, contact_impulse) = match source {
        StateSource::Clean => (clean, &clean.frame, clip.sim_contact_impulse(frame)),
        StateSource::Replayed => (&clip.simulated[frame], &clean.frame, clip.sim_contact_impulse(frame)),
        StateSource::Predicted(state, _) => (*state, &state.frame, clip.sim_contact_impulse(frame)),
        StateSource::Led(body) => {
            (body.character.state(), body.character.target_frame(), body.contact_impulse)
        }
    };
    let drift = ground(&state.frame) - ground(&clean.frame);
    let yaw_drift = wrap_angle(state.frame.yaw - clean.frame.yaw);
    let target_drift = ground(target_frame) - ground(&clean.frame);
    let target_yaw_drift = wrap_angle(target_frame.yaw - clean.frame.yaw);
    // Future keys of the loop lie between what the command asks of the body and what was predicted for the target.
    let drift_ahead = (drift + target_drift) * 0.5;

    let keys: [WindowKey; KEYS] = std::array::from_fn(|k| {
        let at = frame as i64 + i64::from(KEY_OFFSETS[k]);
        let gait = clip.recording.gait[at.clamp(0, clip.frames() as i64 - 1) as usize];
        let (position, yaw) = if k == PAST_KEYS {
            (ground(&state.frame), state.frame.yaw)
        } else if k < PAST_KEYS {
            match source {
                StateSource::Replayed => TrainingClip::root_at(&clip.simulated, at),
                StateSource::Clean | StateSource::Predicted(..) | StateSource::Led(_) => {
                    let (position, yaw) = TrainingClip::root_at(&clip.clean, at);
                    let share = k as f32 / PAST_KEYS as f32;
                    (position + drift * share, yaw + yaw_drift * share)
                }
            }
        } else {
            led_back(clip, at, drift_ahead, (k - PAST_KEYS) as f32 / (FUTURE_KEYS - 1) as f32)
        };
        WindowKey { position, yaw: wrap_angle(yaw), gait }
    });

    let channels = layout.channels();
    let mut codes = vec![0.0; KEYS * 2 * channels];
    for (slot, offset) in codes.chunks_exact_mut(2 * channels).zip(KEY_OFFSETS) {
        phase_code_at(clip, frame as i64 + i64::from(offset), slot);
    }
    if let StateSource::Predicted(_, future) | StateSource::Led(LedBody { codes: future, .. }) = source {
        codes[PAST_KEYS * 2 * channels..].copy_from_slice(future);
    }
    let input = InputFrame { state, keys: &keys, phase_codes: &codes, contact_impulse, weight_impulse_ns };
    match source {
        StateSource::Led(body) => layout.write_x(&input, |x, z| body.character.shown_ground(x, z), x),
        _ => layout.write_x(&input, |x, z| clip.terrain.height(x, z), x),
    }

    let dt = 1.0 / FRAME_RATE_HZ;
    let next_clean = &clip.clean[frame + 1];
    let back = dt / RETURN_TIME_S;
    let next_drift = target_drift * (1.0 - back);
    let next_position = ground(&next_clean.frame) + next_drift;
    let mut next = next_clean.clone();
    next.frame = RootFrame {
        origin: Vec3::new(next_position.x, next_clean.frame.origin.y, next_position.y),
        yaw: wrap_angle(next_clean.frame.yaw + target_yaw_drift * (1.0 - back)),
    };
    let future: [(Vec2, f32); FUTURE_KEYS] = std::array::from_fn(|k| {
        let at = frame as i64 + 1 + i64::from(KEY_OFFSETS[PAST_KEYS + k]);
        if k == 0 {
            (next_position, next.frame.yaw)
        } else {
            led_back(clip, at, next_drift, k as f32 / (FUTURE_KEYS - 1) as f32)
        }
    });
    let mut future_codes = vec![0.0; FUTURE_KEYS * 2 * channels];
    let mut future_parameters = vec![0.0; FUTURE_KEYS * 3 * channels];
    for k in 0..FUTURE_KEYS {
        let at = frame as i64 + 1 + i64::from(KEY_OFFSETS[PAST_KEYS + k]);
        phase_code_at(clip, at, &mut future_codes[k * 2 * channels..(k + 1) * 2 * channels]);
        let inside = at.clamp(0, clip.frames() as i64 - 1) as usize;
        future_parameters[k * 3 * channels..(k + 1) * 3 * channels]
            .copy_from_slice(&clip.phase_parameters[inside]);
    }
    let gait = clip.recording.gait[frame + 1];
    layout.write_y(target_frame, &next, &gait, &future, &future_codes, &future_parameters, dt, y);
    match source {
        StateSource::Replayed | StateSource::Predicted(..) => {
            keep_what_is_left(layout, clean, state, POSE_LEFT_PER_FRAME, y);
        }
        StateSource::Led(body) => {
            let away = mean_distance(&clean.positions_root, &state.positions_root);
            let left = (1.0 - FARTHEST_LEAD_M / away.max(FARTHEST_LEAD_M)).max(body.pose_left);
            keep_what_is_left(layout, clean, state, left, y);
        }
        StateSource::Clean => {}
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
fn phase_code_at(clip: &TrainingClip, at: i64, code: &mut [f32]) {
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

fn ground(frame: &RootFrame) -> Vec2 {
    Vec2::new(frame.origin.x, frame.origin.z)
}
