//! One training example of the kinematic module: x and y of a frame, from the clip itself, from its physics
//! replay, or from the model's own earlier prediction.

use crate::dataset::{FRAME_RATE_HZ, TrainingClip};
use glam::Vec2;
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

/// Share of a pose's distance from its clip that is left after one frame. A jump all the way back would teach jerks; a
/// slow return would let the body sag: a drive holds weight by the distance between target and body, so the
/// target must stay near the clip's pose while the body hangs below it.
const POSE_LEFT_PER_FRAME: f32 = 0.5;

/// Where the state in x comes from.
#[derive(Clone, Debug)]
pub enum StateSource<'a> {
    /// The clip.
    Clean,
    /// The physics replay.
    Simulated,
    /// A state that the model led to, with its phase codes of present and future keys (`FUTURE_KEYS` × 2C).
    Predicted(&'a CharacterState, &'a [f32]),
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
    let state = match source {
        StateSource::Clean => clean,
        StateSource::Simulated => &clip.simulated[frame],
        StateSource::Predicted(state, _) => state,
    };
    let drift = ground(&state.frame) - ground(&clean.frame);
    let yaw_drift = wrap_angle(state.frame.yaw - clean.frame.yaw);

    let keys: [WindowKey; KEYS] = std::array::from_fn(|k| {
        let at = frame as i64 + i64::from(KEY_OFFSETS[k]);
        let gait = clip.recording.gait[at.clamp(0, clip.frames() as i64 - 1) as usize];
        let (position, yaw) = if k == PAST_KEYS {
            (ground(&state.frame), state.frame.yaw)
        } else if k < PAST_KEYS {
            match source {
                StateSource::Simulated => TrainingClip::root_at(&clip.simulated, at),
                StateSource::Clean | StateSource::Predicted(..) => {
                    let (position, yaw) = TrainingClip::root_at(&clip.clean, at);
                    let share = k as f32 / PAST_KEYS as f32;
                    (position + drift * share, yaw + yaw_drift * share)
                }
            }
        } else {
            led_back(clip, at, drift, (k - PAST_KEYS) as f32 / (FUTURE_KEYS - 1) as f32)
        };
        WindowKey { position, yaw: wrap_angle(yaw), gait }
    });

    let channels = layout.channels();
    let mut codes = vec![0.0; KEYS * 2 * channels];
    for (slot, offset) in codes.chunks_exact_mut(2 * channels).zip(KEY_OFFSETS) {
        phase_code_at(clip, frame as i64 + i64::from(offset), slot);
    }
    if let StateSource::Predicted(_, future) = source {
        codes[PAST_KEYS * 2 * channels..].copy_from_slice(future);
    }
    let input = InputFrame {
        state,
        keys: &keys,
        phase_codes: &codes,
        contact_impulse: clip.contact_impulse(frame),
        weight_impulse_ns,
    };
    layout.write_x(&input, |x, z| clip.terrain.height(x, z), x);

    let dt = 1.0 / FRAME_RATE_HZ;
    let next_clean = &clip.clean[frame + 1];
    let back = dt / RETURN_TIME_S;
    let next_drift = drift * (1.0 - back);
    let next_position = ground(&next_clean.frame) + next_drift;
    let mut next = next_clean.clone();
    next.frame = RootFrame {
        origin: glam::Vec3::new(next_position.x, next_clean.frame.origin.y, next_position.y),
        yaw: wrap_angle(next_clean.frame.yaw + yaw_drift * (1.0 - back)),
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
    layout.write_y(&state.frame, &next, &gait, &future, &future_codes, &future_parameters, dt, y);
    if !matches!(source, StateSource::Clean) {
        keep_what_is_left(layout, clean, state, POSE_LEFT_PER_FRAME, y);
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
