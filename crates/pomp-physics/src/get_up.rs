//! After a fall: it lies until it is at rest, gets up by its own joints and a bounded assist, and hands back to what led
//! it before (ours; the paper says only that one falls, lies and gets up).
//!
//! What led it before, a network or a clip, has no part in it: it may hold no getting up at all. The drives track a
//! [`Route`] of key postures, laid where the body lies, from the pose that the fall has made. Nothing is placed: what the
//! drives, the assist and the ground do not bring about does not happen, and an attempt that fails is made again. In place
//! of the postures, they can track a recorded person ([`RecordedWay`]).

mod config;
mod edge;
mod fallen;
mod patience;
mod posture;
mod recorded;
mod rolling;
mod route;

pub use config::GetUpConfig;
use edge::Edge;
pub use fallen::Fallen;
pub use recorded::RecordedWay;

use patience::{Patience, Place};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::rotation::{log, yaw_of_direction};
use pomp_motion::{Gait, GlobalPose, Pose, RootFrame, Skeleton, humanoid, smoothstep};
use pomp_terrain::HeightMap;
use rolling::{ROLL_S, Roll};
use route::{Route, Side};
use std::sync::Arc;

/// Time in which drives and assist come back, and the lying pose gives way to the route's first posture, seconds.
const WAKE_S: f32 = 0.6;
const FIND_S: f32 = 0.9;
/// Time in which a falling body lets go of its last target, seconds.
const RELAX_S: f32 = 0.3;
/// The route slows down beyond the first of these errors of the pelvis and nearly stops at the second.
const TILT_RAD: (f32, f32) = (0.5, 1.1);
const SINK_M: (f32, f32) = (0.07, 0.20);
/// Slowest pace of a route that the body does not follow.
const SLOWEST: f32 = 0.1;
/// The same while it rolls over: a target that waits for a body on its side does not draw it farther.
const SLOWEST_ROLL: f32 = 0.35;
/// Share of the way that the place to stand moves to the body each sixtieth of a second, so that a body that has slipped is
/// not dragged back.
const FOLLOW: f32 = 0.04;
const FOLLOW_RATE_HZ: f32 = 60.0;
/// Standing: the trunk within this of upright, the pelvis no more than this below its target, joints no faster than this
/// on average, for this long.
const UPRIGHT_COSINE: f32 = 0.94;
const UPRIGHT_SINK_M: f32 = 0.06;
const STILL_M_S: f32 = 0.2;
const STILL_S: f32 = 0.15;
/// Share of a way beyond which the target is on its feet.
const ON_ITS_FEET: f32 = 0.62;
/// A body that has stood upright and too low for this long gets no farther, seconds.
const SUNK_S: f32 = 0.3;
/// Ground as much below that which others are led over is a hole, metres.
const HOLE_M: f32 = 0.2;
/// A pelvis whose front looks up more than this lies on its back.
const FACE_UP: f32 = 0.3;
/// A pelvis more upright than this sits.
const SITTING: f32 = 0.6;

/// What sets the target of a frame.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "it lives for one call; in a box it would ask for memory")]
pub enum Leader {
    /// What leads a character that stands.
    Module,
    /// The same, from this frame on anew: the character stands.
    ModuleAnew {
        /// Where it stands.
        stance: RootFrame,
        /// The target in which it has come to stand.
        target: Pose,
    },
    /// The recovery: the body lies, or gets up.
    Recovery {
        /// The target at the start of the frame, where it is not that of the frame before.
        from: Option<Pose>,
        /// The target at its end.
        to: Pose,
    },
}

/// How much the body is helped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Help {
    /// Share of the configured root assist.
    pub assist: f32,
    /// Share of the drives' strength.
    pub strength: f32,
    /// Whether the root assist also holds a body up that otherwise balances by its legs.
    pub held: bool,
}

#[derive(Clone, Debug)]
enum Phase {
    Up,
    Lying { frames: usize, still_frames: usize, from: Pose },
    Rising(Box<Rising>),
    HandedBack { frames: usize, stood: Pose },
}

/// What the drives track on the way up.
#[derive(Clone, Debug)]
enum Way {
    Postures(Route),
    Recorded(Arc<RecordedWay>),
    /// Onto an edge that it stands below.
    StepUp(Route),
}

impl Way {
    fn duration_s(&self) -> f32 {
        match self {
            Self::Postures(route) | Self::StepUp(route) => route.duration_s(),
            // Its first pose is come to before it begins.
            Self::Recorded(way) => FIND_S + way.duration_s(),
        }
    }

    /// The pose at a time, of a body that will stand in `stance`.
    fn pose(&self, time_s: f32, fallen: &Fallen<'_>, height_m: f32, stance: &RootFrame) -> Pose {
        match self {
            Self::Postures(route) => {
                route.posture(time_s).pose(fallen.skeleton, height_m, stance, fallen.terrain)
            }
            Self::Recorded(way) => way.pose(time_s - FIND_S, stance),
            Self::StepUp(route) => route.posture(time_s).pose_over_level(fallen.skeleton, height_m, stance),
        }
    }
}

/// How far a body has come that gets up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RisingProgress {
    /// Share of the way that the target has gone, 0 to 1.
    pub share: f32,
}

impl RisingProgress {
    /// Whether the target is on a foot again, from half-kneeling on: a body that balances by its legs can.
    pub fn is_on_its_feet(&self) -> bool {
        self.share >= ON_ITS_FEET
    }
}

/// An attempt.
#[derive(Clone, Debug)]
struct Rising {
    way: Way,
    /// Where it will stand.
    stance: RootFrame,
    /// How it rolls over before, if it does.
    roll: Option<Roll>,
    patience: Patience,
    /// For how long the body has been hopelessly behind, seconds.
    hopeless_s: f32,
    /// How it lay.
    lay: Pose,
    /// Time on the route, and in all, seconds.
    time_s: f32,
    elapsed_s: f32,
    still_frames: usize,
    /// For how long it has stood upright, and too low.
    sunk_frames: usize,
}

/// What follows a fall.
#[derive(Clone, Debug)]
pub struct Recovery {
    config: GetUpConfig,
    /// Of the body, metres.
    height_m: f32,
    limp: f32,
    frame_s: f32,
    recorded: Vec<Arc<RecordedWay>>,
    /// Whether it rolls over from its back instead of sitting up.
    rolls_over: bool,
    /// The one of them that it got up by last.
    taken: Option<Arc<RecordedWay>>,
    phase: Phase,
}

impl Recovery {
    /// A character of `height_m` metres that stands. `limp` is the strength of its joints while it lies, `frame_s` the
    /// length of a frame in seconds.
    pub fn new(config: GetUpConfig, height_m: f32, limp: f32, frame_s: f32) -> Self {
        Self {
            config,
            height_m,
            limp,
            frame_s,
            recorded: Vec::new(),
            rolls_over: false,
            taken: None,
            phase: Phase::Up,
        }
    }

    /// The same, but for the way up: the one of these `ways`, if there are any, that begins nearest to how it lies.
    pub fn by_recorded_ways(self, ways: Vec<Arc<RecordedWay>>) -> Self {
        Self { recorded: ways, ..self }
    }

    /// The same, but from its back it rolls over to its front: to sit up takes a pull from outside.
    pub fn rolling_over(self) -> Self {
        Self { rolls_over: true, ..self }
    }

    /// The recorded way that it got up by last.
    pub fn recorded_way(&self) -> Option<&RecordedWay> {
        self.taken.as_deref()
    }

    /// Whether it has fallen and does not stand again yet.
    pub fn is_down(&self) -> bool {
        matches!(self.phase, Phase::Lying { .. } | Phase::Rising(_))
    }

    /// What it does while nothing leads it.
    pub fn gait(&self) -> Option<Gait> {
        match self.phase {
            Phase::Lying { .. } => Some(Gait::Lie),
            Phase::Rising(_) => Some(Gait::GetUp),
            Phase::Up | Phase::HandedBack { .. } => None,
        }
    }

    /// How far it has come, if it gets up over key postures.
    pub fn rising(&self) -> Option<RisingProgress> {
        let Phase::Rising(rising) = &self.phase else { return None };
        let Way::Postures(route) = &rising.way else { return None };
        let share = (rising.time_s / route.duration_s()).clamp(0.0, 1.0);
        Some(RisingProgress { share })
    }

    /// It has fallen; `target` is the last target that led it.
    pub fn fall(&mut self, target: Pose) {
        self.phase = Phase::Lying { frames: 0, still_frames: 0, from: target };
    }

    /// The target of the next frame of what has `fallen`, unless it stands.
    pub fn lead(&mut self, fallen: &Fallen<'_>) -> Leader {
        let seconds = |frames: usize| seconds(frames, self.frame_s);
        let mut begins = None;
        match &mut self.phase {
            Phase::Up | Phase::HandedBack { .. } => return Leader::Module,
            Phase::Lying { frames, still_frames, from } => {
                *frames += 1;
                let still = fallen.mean_joint_speed_m_s < self.config.rest_speed_m_s;
                *still_frames = if still { *still_frames + 1 } else { 0 };
                let rested = seconds(*still_frames) >= self.config.rest_s
                    || seconds(*frames) >= self.config.longest_rest_s;
                if !(self.config.enabled && rested) {
                    let to = from.lerp(&relaxed(fallen), (seconds(*frames) / RELAX_S).min(1.0));
                    return Leader::Recovery { from: None, to };
                }
                let rising = Rising::new(fallen, self.height_m, &self.recorded, self.rolls_over);
                self.taken = match &rising.way {
                    Way::Recorded(way) => Some(Arc::clone(way)),
                    Way::Postures(_) | Way::StepUp(_) => None,
                };
                begins = Some(rising.lay.clone());
                self.phase = Phase::Rising(Box::new(rising));
            }
            Phase::Rising(_) => {}
        }
        let Phase::Rising(rising) = &mut self.phase else {
            unreachable!("a body that neither stands nor lies gets up");
        };
        let seen = Fallen { target: begins.as_ref().unwrap_or(fallen.target), ..*fallen };
        let (target, attempt) = rising.advance(&seen, self.config.pace, self.height_m, self.frame_s);
        match attempt {
            Attempt::UnderWay => {}
            Attempt::Failed => self.fall(target.clone()),
            Attempt::Stands => {
                let stance = rising.stance;
                self.phase = Phase::HandedBack { frames: 0, stood: target.clone() };
                return Leader::ModuleAnew { stance, target };
            }
        }
        Leader::Recovery { from: begins, to: target }
    }

    /// For each frame that is led again: the pose that it stood up in, and the share of the target that is not that pose
    /// any more; `None` once it is all of it.
    pub fn fade(&mut self) -> Option<(&Pose, f32)> {
        if let Phase::HandedBack { frames, .. } = &mut self.phase {
            *frames += 1;
            if seconds(*frames, self.frame_s) / self.config.hand_back_s >= 1.0 {
                self.phase = Phase::Up;
            }
        }
        let Phase::HandedBack { frames, stood } = &self.phase else { return None };
        Some((stood, smoothstep(seconds(*frames, self.frame_s) / self.config.hand_back_s)))
    }

    /// What drives and assist give in the next frame.
    pub fn help(&self) -> Help {
        match &self.phase {
            Phase::Up | Phase::HandedBack { .. } => Help { assist: 1.0, strength: 1.0, held: false },
            Phase::Lying { .. } => Help { assist: 0.0, strength: self.limp, held: false },
            Phase::Rising(rising) => {
                let awake = smoothstep(rising.elapsed_s / WAKE_S);
                let strength = self.limp + (1.0 - self.limp) * awake;
                Help { assist: awake, strength, held: self.config.assisted }
            }
        }
    }
}

/// The pose of standing at ease in `frame`, for a body of `height_m` metres.
pub fn standing_pose(skeleton: &Skeleton, height_m: f32, frame: &RootFrame, terrain: &HeightMap) -> Pose {
    route::standing().pose(skeleton, height_m, frame, terrain)
}

enum Attempt {
    UnderWay,
    Stands,
    Failed,
}

impl Rising {
    fn new(fallen: &Fallen<'_>, height_m: f32, recorded: &[Arc<RecordedWay>], rolls_over: bool) -> Self {
        let lies = fallen.pose;
        let lay = lies.to_local(fallen.skeleton);
        let hips = lies.positions[humanoid::HIPS.0];
        let ground = |x: f32, z: f32| fallen.terrain.smoothed_height(x, z);
        let far = |way: &Arc<RecordedWay>| way.distance(lies, ground(hips.x, hips.z));
        let nearest = recorded.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
        let (way, RootFrame { origin, yaw }) = match nearest {
            Some(way) => (Way::Recorded(Arc::clone(way)), way.stance(lies)),
            None => {
                let (route, yaw) = choose(lies, rolls_over);
                let origin = RootFrame { origin: hips, yaw }.to_world(-route.first().pelvis * height_m);
                (Way::Postures(route), RootFrame { origin, yaw })
            }
        };
        let stance = RootFrame { origin: Vec3::new(origin.x, ground(origin.x, origin.z), origin.z), yaw };
        let patience = if rolls_over { Patience::OF_ROLLING } else { Patience::OF_HELPED };
        let rolls = rolls_over && (lies.rotations[humanoid::HIPS.0] * Vec3::Z).y > 0.0;
        let roll = rolls.then(|| Roll::of(fallen));
        Self {
            way,
            stance,
            roll,
            patience,
            hopeless_s: 0.0,
            lay,
            time_s: if rolls { FIND_S - ROLL_S } else { 0.0 },
            elapsed_s: 0.0,
            still_frames: 0,
            sunk_frames: 0,
        }
    }

    /// The next target, and what has come of the attempt.
    fn advance(&mut self, fallen: &Fallen<'_>, pace: f32, height_m: f32, frame_s: f32) -> (Pose, Attempt) {
        self.elapsed_s += frame_s;
        self.look_for_an_edge(fallen, height_m, frame_s);
        let lag = rising_lag(fallen.pose, fallen.target);
        self.hopeless_s = if lag >= 1.0 { self.hopeless_s + frame_s } else { 0.0 };
        let slowest = if self.roll.is_some() && self.time_s < FIND_S { SLOWEST_ROLL } else { SLOWEST };
        self.time_s += frame_s * pace * (1.0 - lag).max(slowest);
        if !matches!(self.way, Way::StepUp(_)) {
            let slip = fallen.pose.positions[0] - fallen.target.root_position;
            let follow = (FOLLOW * (frame_s * FOLLOW_RATE_HZ)).min(1.0);
            let origin = self.stance.origin + slip.with_y(0.0) * follow;
            let ground = fallen.terrain.smoothed_height(origin.x, origin.z);
            self.stance.origin = origin.with_y(ground);
        }
        let wanted = self.way.pose(self.time_s, fallen, height_m, &self.stance);
        let target = match &self.roll {
            None => self.lay.lerp(&wanted, smoothstep(self.time_s / FIND_S)),
            Some(roll) => roll.target(&self.lay, &wanted, (self.time_s - FIND_S + ROLL_S) / ROLL_S),
        };
        let over = self.time_s >= self.way.duration_s();
        let stands = over && stands(fallen, &target) && !self.is_in_a_hole(fallen);
        self.still_frames = if stands { self.still_frames + 1 } else { 0 };
        let attempt = if self.still_frames >= (STILL_S / frame_s).round() as usize {
            Attempt::Stands
        } else if self.patience.is_over(&Place {
            elapsed: self.elapsed_s * pace / self.way.duration_s(),
            lies_s: if self.time_s < FIND_S { self.elapsed_s } else { 0.0 },
            hopeless_s: self.hopeless_s,
            on_its_feet: self.time_s / self.way.duration_s() >= ON_ITS_FEET,
        }) {
            Attempt::Failed
        } else {
            Attempt::UnderWay
        };
        (target, attempt)
    }
}

impl Rising {
    /// Whether it is to stand in what others are led over.
    fn is_in_a_hole(&self, fallen: &Fallen<'_>) -> bool {
        let Vec3 { x, y, z } = self.stance.origin;
        fallen.led_over.height(x, z) - y > HOLE_M
    }

    /// A body upright in a hole, or on lower ground than it was to stand on, goes on from there onto the edge, if there is
    /// one in reach.
    fn look_for_an_edge(&mut self, fallen: &Fallen<'_>, height_m: f32, frame_s: f32) {
        let sunk = fallen.target.root_position.y - fallen.pose.positions[0].y > SINK_M.0;
        let over = self.time_s >= self.way.duration_s();
        let stuck = !matches!(self.way, Way::StepUp(_))
            && (sunk || (over && self.is_in_a_hole(fallen)))
            && upright_and_still(fallen);
        self.sunk_frames = if stuck { self.sunk_frames + 1 } else { 0 };
        if seconds(self.sunk_frames, frame_s) < SUNK_S {
            return;
        }
        self.sunk_frames = 0;
        if let Some(Edge { stance, below_m, ahead_m }) = Edge::nearest(fallen, height_m) {
            self.way = Way::StepUp(Route::step_up(below_m / height_m, ahead_m / height_m));
            self.lay = fallen.pose.to_local(fallen.skeleton);
            self.stance = stance;
            (self.time_s, self.elapsed_s) = (0.0, WAKE_S);
        }
    }
}

/// How far the pelvis of a body that gets up is behind its target: 0 close, 1 and more hopelessly.
fn rising_lag(body: &GlobalPose, target: &Pose) -> f32 {
    let turn = log(target.local_rotations[0] * body.rotations[0].inverse()).length();
    let sink = target.root_position.y - body.positions[0].y;
    let share = |value: f32, (from, to): (f32, f32)| (value - from) / (to - from);
    share(turn, TILT_RAD).max(share(sink, SINK_M)).max(0.0)
}

fn stands(fallen: &Fallen<'_>, target: &Pose) -> bool {
    let hips = fallen.pose.positions[humanoid::HIPS.0];
    target.root_position.y - hips.y < UPRIGHT_SINK_M && upright_and_still(fallen)
}

fn upright_and_still(fallen: &Fallen<'_>) -> bool {
    let body = fallen.pose;
    let trunk = body.positions[humanoid::NECK.0] - body.positions[humanoid::HIPS.0];
    trunk.normalize_or_zero().y > UPRIGHT_COSINE && fallen.mean_joint_speed_m_s < STILL_M_S
}

/// The way up from a lying pose, and which way to face on it. The pelvis decides: a limp trunk may hang anywhere.
fn choose(lies: &GlobalPose, rolls_over: bool) -> (Route, f32) {
    let pelvis = lies.rotations[humanoid::HIPS.0];
    let (left, up, front) = (pelvis * Vec3::X, pelvis * Vec3::Y, pelvis * Vec3::Z);
    let prone = || Route::prone(if left.y >= 0.0 { Side::Left } else { Side::Right });
    if rolls_over {
        (prone(), yaw_of_direction(if up.y > SITTING { front } else { up }))
    } else if up.y > SITTING {
        (Route::supine(), yaw_of_direction(front))
    } else if front.y > FACE_UP {
        // The feet are ahead of a body that sits up.
        (Route::supine(), yaw_of_direction(-up))
    } else {
        (prone(), yaw_of_direction(up))
    }
}

/// The body where it is, joints drawn in a little: what the tone of a limp body holds.
fn relaxed(fallen: &Fallen<'_>) -> Pose {
    let mut pose = fallen.pose.to_local(fallen.skeleton);
    let flexion = Quat::from_rotation_x;
    let mut set = |joint: pomp_motion::JointIndex, rotation: Quat| pose.local_rotations[joint.0] = rotation;
    for joint in [humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG] {
        set(joint, flexion(-0.5));
    }
    for joint in [humanoid::LEFT_LEG, humanoid::RIGHT_LEG] {
        set(joint, flexion(0.7));
    }
    for joint in [humanoid::SPINE, humanoid::SPINE1, humanoid::SPINE2] {
        set(joint, flexion(0.12));
    }
    set(humanoid::NECK, flexion(0.25));
    set(humanoid::HEAD, flexion(0.1));
    let arms = [
        (humanoid::LEFT_ARM, humanoid::LEFT_FORE_ARM, 1.0),
        (humanoid::RIGHT_ARM, humanoid::RIGHT_FORE_ARM, -1.0),
    ];
    for (shoulder, elbow, side) in arms {
        set(shoulder, Quat::from_rotation_y(-0.6 * side) * Quat::from_rotation_z(-0.9 * side));
        set(elbow, Quat::from_rotation_y(-side));
    }
    for joint in [humanoid::LEFT_HAND, humanoid::RIGHT_HAND, humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT] {
        set(joint, Quat::IDENTITY);
    }
    pose
}

fn seconds(frames: usize, frame_s: f32) -> f32 {
    frames as f32 * frame_s
}
