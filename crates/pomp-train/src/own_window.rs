//! The window that the loop would show a controller that leads a character along a clip by itself: its own past, and ahead a command
//! mixed with what it said of its path.
//!
//! The keys of the clip itself sway with its steps. A network that is shown them reads the moment of the gait from them; in the loop it
//! finds its own past and a smooth command there.

use crate::dataset::TrainingClip;
use crate::example::phase_code_at;
use glam::Vec2;
use pomp_generator::GeneratorConfig;
use pomp_motion::features::{
    CharacterState, FUTURE_KEYS, KEY_OFFSETS, KEYS, OutputFrame, PAST_KEYS, WindowKey,
};
use pomp_motion::rotation::wrap_angle;
use pomp_motion::{Gait, RootFrame};
use std::collections::VecDeque;

/// Frames on either side over which a clip's path is averaged to a command: a step.
const COMMAND_REACH: i64 = 30;
/// Frames of past, without the present.
const PAST_FRAMES: usize = 60;

/// Where a clip's root goes and faces, without the sway of its steps: what a command would ask for.
pub(crate) struct ClipCommand {
    /// Place and heading of every frame, and of those up to a second after the last.
    samples: Vec<(Vec2, f32)>,
}

impl ClipCommand {
    pub fn of(clip: &TrainingClip) -> Self {
        let last = clip.frames() as i64 + PAST_FRAMES as i64;
        let count = (2 * COMMAND_REACH + 1) as f32;
        // Headings, without jumps by whole turns.
        let (mut roots, mut yaw) = (Vec::new(), None);
        for frame in -COMMAND_REACH..=last + COMMAND_REACH {
            let (position, found) = TrainingClip::root_at(&clip.clean, frame);
            let unwrapped = yaw.map_or(found, |before: f32| before + wrap_angle(found - before));
            yaw = Some(unwrapped);
            roots.push((position, unwrapped));
        }
        let samples = roots
            .windows(2 * COMMAND_REACH as usize + 1)
            .map(|window| {
                let [position, yaw] = window
                    .iter()
                    .fold([Vec2::ZERO, Vec2::ZERO], |[p, y], root| [p + root.0, y + Vec2::splat(root.1)]);
                (position / count, yaw.x / count)
            })
            .collect();
        Self { samples }
    }

    fn at(&self, frame: usize) -> (Vec2, f32) {
        self.samples[frame.min(self.samples.len() - 1)]
    }
}

/// What a character that a controller leads remembers for its window.
#[derive(Clone)]
pub(crate) struct OwnWindow {
    /// Keys and phase codes of the last second, oldest first, without the present.
    past: VecDeque<(WindowKey, Vec<f32>)>,
    gait: [f32; Gait::COUNT],
    /// What was said of the path ahead: places and headings in the world.
    ahead: Option<[(Vec2, f32); FUTURE_KEYS]>,
}

impl OwnWindow {
    /// That of a character on its clip: the past is the clip's, and so is what it would say of its path.
    pub fn of_clip(clip: &TrainingClip, frame: usize, code_width: usize) -> Self {
        let gait = |at: i64| clip.recording.gait[at.clamp(0, clip.frames() as i64 - 1) as usize];
        let past = (1..=PAST_FRAMES as i64).rev().map(|before| {
            let at = frame as i64 - before;
            let (position, yaw) = TrainingClip::root_at(&clip.clean, at);
            let mut code = vec![0.0; code_width];
            phase_code_at(clip, at, &mut code);
            (WindowKey { position, yaw, gait: gait(at) }, code)
        });
        let ahead = std::array::from_fn(|key| {
            TrainingClip::root_at(&clip.clean, frame as i64 + i64::from(KEY_OFFSETS[PAST_KEYS + key]))
        });
        Self { past: past.collect(), gait: gait(frame as i64), ahead: Some(ahead) }
    }

    /// Moves on from `state` with its phase code to the state that `output` led to in `next`.
    pub fn follow(&mut self, state: &CharacterState, code: &[f32], output: &OutputFrame, next: &RootFrame) {
        let mut oldest = self.past.pop_front().expect("a window has its whole past");
        oldest.0 = WindowKey { position: ground(&state.frame), yaw: state.frame.yaw, gait: self.gait };
        oldest.1.clear();
        oldest.1.extend_from_slice(code);
        self.past.push_back(oldest);
        self.gait = output.gait;
        self.ahead =
            Some(output.trajectory.map(|(place, turn)| (next.ground_to_world(place), next.yaw + turn)));
    }

    /// The 13 keys around a character in `state`, at a frame of a clip with this command, as the loop mixes them.
    pub fn keys(
        &self,
        clip: &TrainingClip,
        command: &ClipCommand,
        frame: usize,
        state: &CharacterState,
    ) -> [WindowKey; KEYS] {
        let config = GeneratorConfig::default();
        let now = ground(&state.frame);
        let (wanted_now, _) = command.at(frame);
        std::array::from_fn(|key| {
            if key < PAST_KEYS {
                return self.past[(PAST_FRAMES as i32 + KEY_OFFSETS[key]) as usize].0;
            }
            if key == PAST_KEYS {
                return WindowKey { position: now, yaw: state.frame.yaw, gait: self.gait };
            }
            let at = frame + KEY_OFFSETS[key] as usize;
            let share = (key - PAST_KEYS) as f32 / (FUTURE_KEYS - 1) as f32;
            let (wanted, wanted_yaw) = command.at(at);
            let led = now + (wanted - wanted_now) + (wanted_now - now).clamp_length_max(1.0) * share;
            let (mut position, mut yaw) = (led, wanted_yaw);
            if let Some(ahead) = &self.ahead {
                let (said, said_yaw) = ahead[key - PAST_KEYS];
                position = said.lerp(led, share.powf(config.position_bias));
                yaw = said_yaw + wrap_angle(wanted_yaw - said_yaw) * share.powf(config.direction_bias);
            }
            let gait = Gait::dominant(&clip.recording.gait[at.min(clip.frames() - 1)]);
            WindowKey { position, yaw: wrap_angle(yaw), gait: gait.one_hot() }
        })
    }

    /// Phase codes of all keys, `of_future` from the present on.
    pub fn codes(&self, of_future: &[f32]) -> Vec<f32> {
        let behind = KEY_OFFSETS[..PAST_KEYS]
            .iter()
            .flat_map(|offset| &self.past[(PAST_FRAMES as i32 + offset) as usize].1);
        behind.chain(of_future).copied().collect()
    }
}

fn ground(frame: &RootFrame) -> Vec2 {
    Vec2::new(frame.origin.x, frame.origin.z)
}
