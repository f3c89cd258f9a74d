//! Gait recovery: a lost gait restarts from its last good stride (ours).
//!
//! Acts at `after_simulation`, where a walk or jog is lost, and at `on_target` for a quarter of a second after that. The
//! [`super::phase_stabiliser`] keeps most gaits. Now and then a step goes wrong all the same: legs cross or trail, and a
//! kinematic module that is shown such legs has no way back to walking; a second or two later the body falls. Until then it is
//! upright, and how it walked is known. So the layer remembers the last stride that was on its cycle, takes from it the moment
//! whose legs are nearest to those of the body, and the loop goes on from there where the body is: past, phases and state are
//! that moment's, and the joints of the target pass over to it. Nothing is placed: the body follows by its drives.
//!
//! Cost: below 0.1 % of a frame.
//!
//! Evidence: `pomp bench --config configs/bench/layers.toml`, with its figures in docs/layers.md.

use super::phase_stabiliser::CycleTracker;
use crate::character::Character;
use crate::loop_state::{History, LoopState};
use crate::phase_feedback::{Past, PhaseWindow};
use pomp_motion::features::{CharacterState, FuturePhases, OutputFrame};
use pomp_motion::rotation::{from_yaw, wrap_angle};
use pomp_motion::{JointIndex, Pose, RootFrame, humanoid, smoothstep};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const FRAME_S: f32 = 1.0 / pomp_motion::FRAME_RATE_HZ;

/// Frames between two moments, how many are kept (a stride and a half), and how many are a stride.
const SPACING_FRAMES: usize = 4;
const MOST: usize = 24;
const STRIDE: usize = 16;
/// Share of the way by which the two signs of a lost gait follow the present frame: over a tenth of a second.
const SMOOTHING: f32 = 1.0 / 6.0;
/// A gait is lost when its codes agree less with the cycle than this, on the average of that time, or when the left foot is so
/// far on the right of the right one, in metres for a body of 1.75 m. In an hour of walking over hills far from any fall the
/// first happens some fourteen times and the second some eighteen; before most falls one does, mostly by 0.7 s or more.
const LEAST_AGREEMENT: f32 = 0.89;
const CROSSED_M: f32 = 0.12;
/// Frames after taking up a stride in which it is neither changed nor taken up again.
const REST_FRAMES: usize = 45;
/// Time that a joint's velocity counts for when legs are compared, seconds.
const VELOCITY_S: f32 = 0.1;
/// Time in which the target passes over to the stride that is taken up, seconds.
const PASSAGE_S: f32 = 0.25;
/// What of the body is compared.
const LEGS: [JointIndex; 6] = [
    humanoid::LEFT_LEG,
    humanoid::LEFT_FOOT,
    humanoid::LEFT_TOE,
    humanoid::RIGHT_LEG,
    humanoid::RIGHT_FOOT,
    humanoid::RIGHT_TOE,
];

/// Settings of gait recovery.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GaitRecoveryConfig {
    /// If off, a lost gait is not restarted. Default true.
    pub enabled: bool,
}

impl Default for GaitRecoveryConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// The layer.
#[derive(Clone, Debug)]
pub(crate) struct GaitRecovery {
    enabled: bool,
    memory: StrideMemory,
}

impl GaitRecovery {
    /// For a body of `height_m`.
    pub fn new(config: GaitRecoveryConfig, height_m: f32) -> Self {
        Self { enabled: config.enabled, memory: StrideMemory::new(height_m) }
    }

    /// `after_simulation`: remembers the stride of the simulated `body`, and goes on from it where the gait is lost; a character
    /// that `is_down` has no stride.
    pub fn after_simulation(
        &mut self,
        is_down: bool,
        body: &CharacterState,
        tracker: &mut CycleTracker,
        state: &mut LoopState,
        phase_window: &mut PhaseWindow,
        character: &mut Character,
    ) {
        if is_down || !self.enabled {
            self.memory.forget();
            return;
        }
        if self.memory.is_due(tracker)
            && let Some(prediction) = &state.prediction
        {
            let (history, past) = (&state.history, phase_window.past());
            let rest = |history, phase_past| Moment {
                state: character.state().clone(),
                target_frame: *character.target_frame(),
                history,
                future_codes: state.future_codes.clone(),
                prediction: prediction.clone(),
                phase_past,
                cycle_tracker: *tracker,
            };
            self.memory.remember(|oldest| match oldest {
                // The second that a moment holds is most of it: it is written over the oldest one's.
                Some(mut oldest) => {
                    oldest.history.copy_from(history);
                    oldest.phase_past.copy_from(past);
                    rest(oldest.history, oldest.phase_past)
                }
                None => rest(history.clone(), past.clone()),
            });
        }
        if !self.memory.is_lost(tracker, body) {
            return;
        }
        let left = Passage::from(character.target_pose(), character.target_frame());
        let Some(moment) = self.memory.take_up(body, left) else { return };
        character.go_on_from(moment.state, moment.target_frame);
        state.history = moment.history;
        state.future_codes = moment.future_codes;
        state.prediction = Some(moment.prediction);
        phase_window.restore(moment.phase_past);
        *tracker = moment.cycle_tracker;
    }

    /// `on_target`: the target that was left when a stride was taken up gives way to the next one.
    pub fn on_target(&mut self, character: &mut Character) {
        if let Some((left, share)) = self.memory.passage(character.target_frame(), FRAME_S) {
            character.mix_world_target(&left, share);
        }
    }

    /// The stride that is remembered.
    #[cfg(test)]
    pub fn memory(&mut self) -> &mut StrideMemory {
        &mut self.memory
    }
}

/// All that the kinematic module goes on from.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// What the module was shown.
    pub state: CharacterState,
    pub target_frame: RootFrame,
    pub history: History,
    pub future_codes: FuturePhases,
    pub prediction: OutputFrame,
    pub phase_past: Past,
    pub cycle_tracker: CycleTracker,
}

impl Moment {
    /// The same with the body in `frame`.
    fn moved_to(mut self, frame: RootFrame) -> Self {
        let from = self.state.frame;
        self.history.each_key(|key| {
            key.position = frame.ground_to_world(from.ground_to_root(key.position.x, key.position.y));
            key.yaw = wrap_angle(frame.yaw + key.yaw - from.yaw);
        });
        self.target_frame = RootFrame {
            origin: frame.to_world(from.to_root(self.target_frame.origin)),
            yaw: wrap_angle(frame.yaw + self.target_frame.yaw - from.yaw),
        };
        self.state.frame = frame;
        self
    }

    /// How far its legs are from those of `body`, m².
    fn distance(&self, body: &CharacterState) -> f32 {
        let of = |joint: &JointIndex| {
            let [there, here] = [&self.state, body];
            there.positions_root[joint.0].distance_squared(here.positions_root[joint.0])
                + VELOCITY_S.powi(2)
                    * there.velocities_root[joint.0].distance_squared(here.velocities_root[joint.0])
        };
        LEGS.iter().map(of).sum()
    }
}

/// A target that is left behind: it goes along with the root while it gives way.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    /// In the root frame of the target.
    pose: Pose,
    elapsed_s: f32,
}

impl Passage {
    /// From the target `pose`, whose root is in `frame`.
    pub fn from(pose: &Pose, frame: &RootFrame) -> Self {
        let mut pose = pose.clone();
        pose.root_position = frame.to_root(pose.root_position);
        pose.local_rotations[0] = frame.rotation_to_root(pose.local_rotations[0]);
        Self { pose, elapsed_s: 0.0 }
    }

    fn in_frame(&self, frame: &RootFrame) -> Pose {
        let mut pose = self.pose.clone();
        pose.root_position = frame.to_world(pose.root_position);
        pose.local_rotations[0] = (from_yaw(frame.yaw) * pose.local_rotations[0]).normalize();
        pose
    }
}

/// The last stride that was on its cycle.
#[derive(Clone, Debug)]
pub(crate) struct StrideMemory {
    crossed_m: f32,
    moments: VecDeque<Moment>,
    frames: usize,
    rest_frames: usize,
    /// Agreement with the cycle, and how far the left foot is on the left of the right one, metres; averages of late.
    agreement: f32,
    apart_m: f32,
    left: Option<Passage>,
}

impl StrideMemory {
    /// That of a body of `height_m` which has not walked yet.
    pub fn new(height_m: f32) -> Self {
        Self {
            crossed_m: CROSSED_M * height_m / 1.75,
            moments: VecDeque::with_capacity(MOST),
            frames: 0,
            rest_frames: 0,
            agreement: 1.0,
            apart_m: 0.0,
            left: None,
        }
    }

    /// Drops the stride.
    pub fn forget(&mut self) {
        self.moments.clear();
        (self.agreement, self.apart_m, self.left) = (1.0, 0.0, None);
    }

    /// Counts a frame; whether its moment is to be remembered.
    pub fn is_due(&mut self, tracker: &CycleTracker) -> bool {
        self.frames += 1;
        self.rest_frames = self.rest_frames.saturating_sub(1);
        if !tracker.is_found() {
            self.moments.clear();
        }
        tracker.is_found()
            && tracker.is_on_cycle()
            && self.rest_frames == 0
            && self.frames.is_multiple_of(SPACING_FRAMES)
    }

    /// Remembers a moment that is made of the oldest, when that gives way to it.
    pub fn remember(&mut self, moment: impl FnOnce(Option<Moment>) -> Moment) {
        let oldest = (self.moments.len() == MOST).then(|| self.moments.pop_front()).flatten();
        self.moments.push_back(moment(oldest));
    }

    /// Whether the gait of `body` is lost and there is a stride to be taken up.
    pub fn is_lost(&mut self, tracker: &CycleTracker, body: &CharacterState) -> bool {
        if !tracker.is_found() {
            (self.agreement, self.apart_m) = (1.0, 0.0);
            return false;
        }
        let side = |foot: JointIndex| body.positions_root[foot.0].x;
        let apart_m = side(humanoid::LEFT_FOOT) - side(humanoid::RIGHT_FOOT);
        self.agreement += SMOOTHING * (tracker.agreement() - self.agreement);
        self.apart_m += SMOOTHING * (apart_m - self.apart_m);
        let signs = self.agreement < LEAST_AGREEMENT || self.apart_m < -self.crossed_m;
        signs && self.rest_frames == 0 && self.moments.len() >= STRIDE
    }

    /// The moment whose legs are nearest to those of `body`, moved to where the body is; `left` gives way to it.
    pub fn take_up(&mut self, body: &CharacterState, left: Passage) -> Option<Moment> {
        let nearest = self.moments.iter().min_by(|a, b| a.distance(body).total_cmp(&b.distance(body)))?;
        self.rest_frames = REST_FRAMES;
        self.left = Some(left);
        Some(nearest.clone().moved_to(body.frame))
    }

    /// The target that was left, where the root of the target is now, and the share of the new one.
    pub fn passage(&mut self, target_frame: &RootFrame, dt_s: f32) -> Option<(Pose, f32)> {
        let left = self.left.as_mut()?;
        left.elapsed_s += dt_s;
        let share = left.elapsed_s / PASSAGE_S;
        if share >= 1.0 {
            self.left = None;
            return None;
        }
        Some((left.in_frame(target_frame), smoothstep(share)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
    use glam::Vec3;
    use pomp_motion::Gait;
    use pomp_motion::features::WindowKey;
    use pomp_terrain::TerrainSpec;

    /// A walker on level ground after some seconds.
    fn walker(seconds: f32) -> Generator {
        let model = pomp_embedded::load(&pomp_embedded::Device::flex()).expect("the embedded model loads");
        let spec: TerrainSpec = toml::from_str("shape = { kind = \"flat\" }").expect("a spec");
        let terrain = pomp_terrain::generate(&spec, 1).expect("valid");
        let config = GeneratorConfig::default();
        let mut generator = Generator::new(&model, terrain, &config, Gait::Walk, 1).expect("whole");
        let plan = ControlPlan::preset(Preset::Walk, seconds + 2.0, FRAME_RATE_HZ);
        for _ in 0..(seconds * FRAME_RATE_HZ) as usize {
            generator.step(&plan, &[]).expect("everything is finite");
        }
        generator
    }

    #[test]
    fn legs_that_stay_crossed_are_a_lost_gait_once_a_stride_is_known() {
        for (seconds, known) in [(1.5, false), (5.0, true)] {
            let mut generator = walker(seconds);
            let (memory, tracker, body) = generator.stride();
            let mut crossed = body.clone();
            crossed.positions_root[humanoid::LEFT_FOOT.0].x = -0.15;
            crossed.positions_root[humanoid::RIGHT_FOOT.0].x = 0.15;
            let lost: Vec<bool> = (0..30).map(|_| memory.is_lost(&tracker, &crossed)).collect();
            assert!(!lost[0], "one frame is not enough");
            assert_eq!(lost[29], known, "after {seconds} s");
            let settled: Vec<bool> = (0..60).map(|_| memory.is_lost(&tracker, &body)).collect();
            assert!(!settled[59], "a body that walks is not lost");
        }
    }

    #[test]
    fn the_moment_that_is_taken_up_is_the_one_with_the_nearest_legs_and_is_moved_as_a_whole() {
        let mut generator = walker(5.0);
        let (memory, _, _) = generator.stride();
        let wanted = memory.moments[7].clone();
        let mut body = wanted.state.clone();
        body.frame = RootFrame { origin: Vec3::new(3.0, 0.5, -2.0), yaw: 2.0 };
        let left = Passage::from(&body.to_pose(), &body.frame);
        let taken = memory.take_up(&body, left).expect("a stride is known");
        assert_eq!(taken.future_codes, wanted.future_codes);
        assert_eq!(taken.state.frame, body.frame);
        let seen = |moment: &Moment, offset: i32| -> WindowKey {
            let (key, frame) = (moment.history.at(offset).key, moment.state.frame);
            let position = frame.ground_to_root(key.position.x, key.position.y);
            WindowKey { position, yaw: wrap_angle(key.yaw - frame.yaw), gait: key.gait }
        };
        for offset in [-60, -31, 0] {
            let (before, after) = (seen(&wanted, offset), seen(&taken, offset));
            assert!(before.position.distance(after.position) < 1e-4);
            assert!(wrap_angle(before.yaw - after.yaw).abs() < 1e-4);
        }
        let ahead = |moment: &Moment| moment.state.frame.to_root(moment.target_frame.origin);
        assert!(ahead(&wanted).distance(ahead(&taken)) < 1e-4);
        assert!(!memory.is_due(&wanted.cycle_tracker), "it rests");
    }

    #[test]
    fn what_is_left_goes_along_with_the_root_and_gives_way_steadily() {
        let mut generator = walker(5.0);
        let (memory, _, body) = generator.stride();
        let pose = body.to_pose();
        memory.take_up(&body, Passage::from(&pose, &body.frame)).expect("a stride is known");
        let (mut shares, mut frame) = (vec![0.0], body.frame);
        while let Some((left, share)) = memory.passage(&frame, 1.0 / FRAME_RATE_HZ) {
            assert!(share > shares[shares.len() - 1]);
            let way = frame.origin - body.frame.origin;
            assert!((left.root_position - pose.root_position).distance(way) < 1e-5);
            assert!(left.local_rotations[0].angle_between(pose.local_rotations[0]) < 1e-3);
            shares.push(share);
            frame.origin.z += 0.02;
        }
        assert!(shares.len() > 10 && shares[shares.len() - 1] > 0.97, "{shares:?}");
        assert!(memory.passage(&frame, 0.1).is_none());
    }
}
