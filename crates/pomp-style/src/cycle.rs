//! Walking cycles, cut from recordings at the strikes of the left foot.

use crate::config::CycleConfig;
use glam::{Quat, Vec3};
use pomp_motion::rotation::{from_yaw, wrap_angle, yaw_of_direction};
use pomp_motion::{MotionError, Pose, Recording, RootFrame, Skeleton, humanoid};
use std::sync::Arc;

/// Key frames of a cycle: left strike, right lift-off, right strike, left lift-off, next left strike.
pub const KEY_FRAMES: usize = 5;
/// The points of the feet in the order of contacts: left heel, left toe, right heel, right toe.
const POINTS: [usize; 4] =
    [humanoid::LEFT_FOOT.0, humanoid::LEFT_TOE.0, humanoid::RIGHT_FOOT.0, humanoid::RIGHT_TOE.0];

/// One walking cycle, from a strike of the left foot to the next.
///
/// Its poses are in the frame of the cycle: the pelvis begins above the origin, the ground is y = 0, and the pelvis travels
/// along +Z.
#[derive(Clone, Debug)]
pub struct WalkCycle {
    /// Clip and number: `CLIP#3`.
    pub name: String,
    /// Name of the clip.
    pub clip: String,
    /// Label of the style.
    pub style: String,
    /// The skeleton of the poses.
    pub skeleton: Arc<Skeleton>,
    /// Frames per second.
    pub frame_rate_hz: f32,
    /// The poses; the last is the first of the next cycle.
    pub poses: Vec<Pose>,
    /// World positions of the joints of each pose, metres.
    pub positions: Vec<Vec<Vec3>>,
    /// Ground contact of left heel, left toe, right heel and right toe per frame.
    pub contact: Vec<[bool; 4]>,
    /// The key frames.
    pub keys: [usize; KEY_FRAMES],
    /// Frame of the clip at which it begins.
    pub first_frame: usize,
    /// The frame of the cycle in the clip's world.
    pub frame: RootFrame,
}

impl WalkCycle {
    /// Number of frames, with both strikes.
    pub fn frames(&self) -> usize {
        self.poses.len()
    }

    /// Time from strike to strike, seconds.
    pub fn duration_s(&self) -> f32 {
        (self.frames() - 1) as f32 / self.frame_rate_hz
    }
}

/// The cycles of a clip, and why others of its strides are none.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// The cycles in order.
    pub cycles: Vec<WalkCycle>,
    /// The reason for each stride that is left out.
    pub left_out: Vec<String>,
}

/// Cuts the walking cycles of `recording`, whose contacts are known; `style` is its label.
///
/// # Errors
/// A recording whose poses are not finite.
pub fn cut(recording: &Recording, style: &str, config: &CycleConfig) -> Result<Cut, MotionError> {
    let clip = recording.to_clip()?;
    let rest = clip.skeleton.forward_kinematics(&Pose::rest(&clip.skeleton));
    let source = Source {
        recording,
        poses: clip.poses,
        skeleton: clip.skeleton,
        sole_heights: POINTS.map(|joint| rest.positions[joint].y),
        style,
        config,
    };
    let events = events(&recording.foot_contact);
    let strikes: Vec<usize> =
        (0..events.len()).filter(|&at| events[at].kind == EventKind::LeftStrike).collect();
    let mut cut = Cut::default();
    for pair in strikes.windows(2) {
        match source.cycle(&events[pair[0]..=pair[1]], cut.cycles.len()) {
            Ok(cycle) => cut.cycles.push(cycle),
            Err(reason) => {
                let at_s = events[pair[0]].frame as f32 / recording.frame_rate_hz;
                cut.left_out.push(format!("{} at {at_s:.2} s: {reason}", recording.name));
            }
        }
    }
    Ok(cut)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventKind {
    LeftStrike,
    LeftLift,
    RightStrike,
    RightLift,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    frame: usize,
    kind: EventKind,
}

/// Strikes and lift-offs in order; at one frame lift-offs come first.
fn events(contact: &[[bool; 4]]) -> Vec<Event> {
    let down = |frame: usize, foot: usize| contact[frame][2 * foot] || contact[frame][2 * foot + 1];
    let mut events = Vec::new();
    for frame in 1..contact.len() {
        for (foot, lift) in [EventKind::LeftLift, EventKind::RightLift].into_iter().enumerate() {
            if down(frame - 1, foot) && !down(frame, foot) {
                events.push(Event { frame, kind: lift });
            }
        }
        for (foot, strike) in [EventKind::LeftStrike, EventKind::RightStrike].into_iter().enumerate() {
            if !down(frame - 1, foot) && down(frame, foot) {
                events.push(Event { frame, kind: strike });
            }
        }
    }
    events
}

/// A clip that is cut.
struct Source<'a> {
    recording: &'a Recording,
    poses: Vec<Pose>,
    skeleton: Arc<Skeleton>,
    /// Heights of the points of the feet above the ground where they stand, metres.
    sole_heights: [f32; 4],
    style: &'a str,
    config: &'a CycleConfig,
}

impl Source<'_> {
    /// The cycle between two strikes of the left foot, which are the first and the last of `events`, or why it is none.
    fn cycle(&self, events: &[Event], number: usize) -> Result<WalkCycle, String> {
        use EventKind::{LeftLift, LeftStrike, RightLift, RightStrike};
        let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
        if kinds != [LeftStrike, RightLift, RightStrike, LeftLift, LeftStrike] {
            return Err("its feet do not strike and lift off in the order of a walk".to_owned());
        }
        let begin = events[0].frame;
        let frames = begin..=events[KEY_FRAMES - 1].frame;
        let keys = std::array::from_fn(|key| events[key].frame - begin);
        let rate = self.recording.frame_rate_hz;
        let seconds = keys[KEY_FRAMES - 1] as f32 / rate;
        let [shortest, longest] = self.config.duration_s;
        if !(shortest..=longest).contains(&seconds) {
            return Err(format!(
                "it takes {seconds:.2} s, not {shortest} to {longest} s (cycles.duration_s)"
            ));
        }
        let ground = self.ground(frames.clone())?;
        let frame = self.frame(begin, *frames.end(), ground)?;
        let poses: Vec<Pose> = frames.clone().map(|at| in_frame(&self.poses[at], &frame)).collect();
        let positions =
            poses.iter().map(|pose| self.skeleton.forward_kinematics(pose).positions.into_vec()).collect();
        Ok(WalkCycle {
            name: format!("{}#{number}", self.recording.name),
            clip: self.recording.name.clone(),
            style: self.style.to_owned(),
            skeleton: Arc::clone(&self.skeleton),
            frame_rate_hz: rate,
            poses,
            positions,
            contact: self.recording.foot_contact[frames].to_vec(),
            keys,
            first_frame: begin,
            frame,
        })
    }

    /// The frame of a cycle that stands on ground of this height.
    fn frame(&self, begin: usize, end: usize, ground: f32) -> Result<RootFrame, String> {
        let at = |frame: usize| self.recording.positions[frame][0];
        let travel = (at(end) - at(begin)) * Vec3::new(1.0, 0.0, 1.0);
        if travel.length() < self.config.least_travel_m {
            return Err(format!(
                "the pelvis travels {:.2} m, less than {} m (cycles.least_travel_m)",
                travel.length(),
                self.config.least_travel_m
            ));
        }
        let facing = |frame: usize| RootFrame::of_pose(&self.recording.global_pose(frame), 0.0).yaw;
        let most = self.config.most_turn_deg;
        let turn = wrap_angle(facing(end) - facing(begin)).to_degrees();
        if turn.abs() > most {
            return Err(format!("it turns by {turn:.0}°, more than {most}° (cycles.most_turn_deg)"));
        }
        let yaw = yaw_of_direction(travel);
        let mean = (begin..=end).map(|frame| wrap_angle(facing(frame) - yaw)).sum::<f32>()
            / (end - begin + 1) as f32;
        if mean.to_degrees().abs() > most {
            return Err(format!(
                "it faces {:.0}° away from where it goes, more than {most}° (cycles.most_turn_deg)",
                mean.to_degrees().abs()
            ));
        }
        let start = at(begin);
        Ok(RootFrame { origin: Vec3::new(start.x, ground, start.z), yaw })
    }

    /// Mean height of the soles of planted feet.
    fn ground(&self, frames: std::ops::RangeInclusive<usize>) -> Result<f32, String> {
        let heights: Vec<f32> = frames
            .flat_map(|frame| (0..POINTS.len()).map(move |point| (frame, point)))
            .filter(|&(frame, point)| self.recording.foot_contact[frame][point])
            .map(|(frame, point)| self.recording.positions[frame][POINTS[point]].y - self.sole_heights[point])
            .collect();
        let (low, high) =
            heights.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), &y| (l.min(y), h.max(y)));
        let most = self.config.most_rise_m;
        if high - low > most {
            return Err(format!(
                "its planted feet differ by {:.2} m in height, more than {most} m (cycles.most_rise_m)",
                high - low
            ));
        }
        Ok(heights.iter().sum::<f32>() / heights.len() as f32)
    }
}

/// A pose of the world in a root frame.
fn in_frame(pose: &Pose, frame: &RootFrame) -> Pose {
    let mut pose = pose.clone();
    pose.root_position = frame.to_root(pose.root_position);
    pose.local_rotations[0] = turned(-frame.yaw, pose.local_rotations[0]);
    pose
}

/// A pose of a root frame in the world.
pub(crate) fn in_world(pose: &Pose, frame: &RootFrame) -> Pose {
    let mut pose = pose.clone();
    pose.root_position = frame.to_world(pose.root_position);
    pose.local_rotations[0] = turned(frame.yaw, pose.local_rotations[0]);
    pose
}

fn turned(yaw: f32, rotation: Quat) -> Quat {
    (from_yaw(yaw) * rotation).normalize()
}
