//! The window that the loop would show a controller that leads a character along a clip by itself: its own past, and ahead a command
//! mixed with what it said of its path.
//!
//! The keys of the clip itself sway with its steps. A network that is shown them reads the moment of the gait from them; in the loop it
//! finds its own past and a smooth command there.

use crate::dataset::{Dataset, TrainingClip};
use crate::example::phase_code_at;
use glam::Vec2;
use pomp_generator::GeneratorConfig;
use pomp_motion::features::{
    CharacterState, FUTURE_KEYS, KEY_OFFSETS, KEYS, OutputFrame, PAST_KEYS, WindowKey,
};
use pomp_motion::rotation::wrap_angle;
use pomp_motion::{Gait, RootFrame};
use rayon::prelude::*;
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
    /// Those of all clips in memory.
    pub fn of_all(dataset: &Dataset) -> Vec<Self> {
        dataset.clips.par_iter().map(Self::of).collect()
    }

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

    /// The window of a character that is carried from a root to another: it lies around the other as it did around the first.
    pub fn carry(&mut self, from: &RootFrame, to: &RootFrame) {
        let carried = |position: Vec2, yaw: f32| {
            let seen = from.ground_to_root(position.x, position.y);
            (to.ground_to_world(seen), wrap_angle(yaw - from.yaw + to.yaw))
        };
        for (key, _) in &mut self.past {
            (key.position, key.yaw) = carried(key.position, key.yaw);
        }
        for key in self.ahead.iter_mut().flatten() {
            *key = carried(key.0, key.1);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{OwnState, StateSource, write_example};
    use crate::recorded_walk::walk;
    use crate::rollout_pool::Rollout;
    use glam::Vec3;
    use pomp_motion::features::{BlockName, FeatureLayout};

    /// x and y of a frame, in their own units.
    fn example(
        clip: &TrainingClip,
        layout: &FeatureLayout,
        frame: usize,
        source: &StateSource<'_>,
    ) -> (Vec<f32>, Vec<f32>) {
        let (mut x, mut y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
        write_example(layout, clip, frame, source, 12.0, &mut x, &mut y);
        (x, y)
    }

    #[test]
    fn the_command_of_a_clip_goes_its_way_without_its_sway() {
        let (dataset, _) = walk();
        let clip = &dataset.clips[0];
        let command = ClipCommand::of(clip);
        let middle = 60..clip.frames() - 60;
        // How much each bends within ten frames.
        let bend = |at: &dyn Fn(usize) -> Vec2| -> f32 {
            middle.clone().map(|f| (at(f + 10) - 2.0 * at(f) + at(f - 10)).length()).sum()
        };
        let root = |frame: usize| TrainingClip::root_at(&clip.clean, frame as i64).0;
        let (own, commanded) = (bend(&root), bend(&|frame| command.at(frame).0));
        assert!(commanded < 0.5 * own, "{commanded} {own}");
        let farthest = middle.map(|f| command.at(f).0.distance(root(f))).fold(0.0, f32::max);
        assert!(farthest < 0.12, "{farthest} m");
    }

    #[test]
    fn a_character_on_its_clip_has_the_past_of_the_clip_and_the_command_at_the_end_of_the_window() {
        let (dataset, layout) = walk();
        let (clip, start) = (&dataset.clips[0], 80);
        let command = ClipCommand::of(clip);
        let (x, _) = example(clip, &layout, start, &StateSource::Clean);
        let mut rollout = Rollout::start_of_length(&dataset, &layout, (0, start), 1000, &x)
            .with_own_window(&dataset, &layout);
        let mut went = Vec::new();
        for _ in 0..70 {
            let (keys, codes) = rollout.own_window(&dataset, &command);
            let (state, pose_frame) = (&rollout.state, rollout.pose_frame);
            let contact_impulse = &vec![Vec3::ZERO; dataset.body_names.len()];
            let own =
                StateSource::Own(OwnState { state, pose_frame, keys: &keys, codes: &codes, contact_impulse });
            let (_, y) = example(clip, &layout, rollout.frame, &own);
            went.push(state.frame);
            assert!(rollout.advance(&dataset, &layout, &y, 12));
        }
        let (keys, codes) = rollout.own_window(&dataset, &command);
        assert_eq!(codes.len(), 2 * KEYS);
        for (key, offset) in keys.iter().zip(KEY_OFFSETS).take(PAST_KEYS) {
            let was = went[(went.len() as i32 + offset) as usize];
            assert_eq!((key.position, key.yaw), (ground(&was), was.yaw), "{offset}");
        }
        assert_eq!(keys[PAST_KEYS].position, ground(&rollout.state.frame));
        let (end, yaw) = command.at(rollout.frame + 60);
        assert!(keys[KEYS - 1].position.distance(end) < 1e-4);
        assert!(wrap_angle(keys[KEYS - 1].yaw - yaw).abs() < 1e-4);
        // Led by what it is to learn, it stays on the clip.
        let clean = &clip.clean[rollout.frame];
        assert!(ground(&rollout.state.frame).distance(ground(&clean.frame)) < 0.01);
    }

    #[test]
    fn a_character_that_is_carried_to_another_clip_has_the_window_that_it_had() {
        let (dataset, layout) = walk();
        let command = ClipCommand::of(&dataset.clips[0]);
        let (x, _) = example(&dataset.clips[0], &layout, 80, &StateSource::Clean);
        let mut rollout =
            Rollout::start_of_length(&dataset, &layout, (0, 80), 1000, &x).with_own_window(&dataset, &layout);
        // Its past, as it sees it.
        let seen = |rollout: &Rollout| {
            let (keys, codes) = rollout.own_window(&dataset, &command);
            let frame = rollout.state.frame;
            let past = keys.iter().take(PAST_KEYS + 1).map(|key| {
                (frame.ground_to_root(key.position.x, key.position.y), wrap_angle(key.yaw - frame.yaw))
            });
            (past.collect::<Vec<_>>(), codes)
        };
        let (before, pose) = (seen(&rollout), rollout.state.positions_root.clone());
        assert!(rollout.has_frames(&dataset, 16, 12));
        rollout.carry_to(&dataset, (0, 150), 16);
        assert!(!rollout.has_frames(&dataset, 16, 12), "it was given no more");
        let after = seen(&rollout);
        assert_eq!(rollout.state.frame, dataset.clips[0].clean[150].frame);
        assert_eq!((before.1, pose), (after.1, rollout.state.positions_root.clone()));
        for ((was, turned), (is, turns)) in before.0.iter().zip(&after.0) {
            assert!(was.distance(*is) < 1e-4 && wrap_angle(turned - turns).abs() < 1e-4, "{was} {is}");
        }
    }

    #[test]
    fn a_character_in_another_moment_of_the_gait_is_led_on_from_there_and_back_to_its_path() {
        let (dataset, layout) = walk();
        let clip = &dataset.clips[0];
        let (start, ahead) = (100, 17);
        let (x, clean_y) = example(clip, &layout, start, &StateSource::Clean);
        let mut rollout = Rollout::start_of_length(&dataset, &layout, (0, start), 1000, &x)
            .with_own_window(&dataset, &layout);
        let frame = rollout.state.frame;
        rollout.state = clip.clean[start + ahead].clone();
        rollout.state.frame = frame;
        rollout.retime(&dataset, None, (0, 16), 12);
        assert_eq!(rollout.pose_frame, start, "0 keeps the clip's time");
        rollout.retime(&dataset, None, (40, 16), 12);
        assert_eq!(rollout.pose_frame, start + ahead);

        let command = ClipCommand::of(clip);
        let (keys, codes) = rollout.own_window(&dataset, &command);
        let y_at = |pose_frame: usize| {
            let state = &rollout.state;
            let contact_impulse = &vec![Vec3::ZERO; dataset.body_names.len()];
            let own = OwnState { state, pose_frame, keys: &keys, codes: &codes, contact_impulse };
            example(clip, &layout, start, &StateSource::Own(own)).1
        };
        let block = |y: &[f32], name| y[layout.y_range(name)].to_vec();
        let (_, there) = example(clip, &layout, start + ahead, &StateSource::Clean);
        for name in [BlockName::JointPositions, BlockName::PhaseCodes] {
            let (found, wanted) = (block(&y_at(start + ahead), name), block(&there, name));
            let worst = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            // Of the pose half of the distance is left, and that is nothing but what a frame moves.
            assert!(worst < 0.03, "{name:?}: {worst}");
        }
        // It is where its path is: its root moves as in the clip at that moment, with nothing to correct.
        let moves = |y: &[f32]| block(y, BlockName::RootMotion);
        for (found, wanted) in moves(&y_at(start + ahead)).iter().zip(moves(&there)) {
            assert!((found - wanted).abs() < 1e-3, "{found} {wanted}");
        }
        for (found, wanted) in moves(&y_at(start)).iter().zip(moves(&clean_y)) {
            assert!((found - wanted).abs() < 1e-3, "{found} {wanted}");
        }
    }
}
