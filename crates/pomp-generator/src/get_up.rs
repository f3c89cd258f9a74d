//! After a fall: it lies until it is at rest, gets up by its own joints and a bounded assist, and hands back to the
//! kinematic module (ours; the paper says only that one falls, lies and gets up).
//!
//! The kinematic module has no part in it: what it was trained on may hold no getting up at all. The drives track a
//! [`Route`] of key postures, laid where the body lies, from the pose that the fall has made. Nothing is placed: what the
//! drives, the assist and the ground do not bring about does not happen, and an attempt that fails is made again.

mod config;
mod posture;
mod route;

pub use config::GetUpConfig;

use crate::character::Character;
use glam::{Quat, Vec3};
use pomp_motion::rotation::{log, yaw_of_direction};
use pomp_motion::{Gait, GlobalPose, Pose, RootFrame, Skeleton, humanoid};
use pomp_terrain::HeightMap;
use route::{Route, Side};

const FRAME_S: f32 = 1.0 / crate::FRAME_RATE_HZ;

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
/// Share of the way that the place to stand moves to the body each frame, so that who has slipped is not dragged back.
const FOLLOW: f32 = 0.04;
/// An attempt is given up after this multiple of the route's own time.
const GIVEN_UP_AFTER: f32 = 2.0;
/// Standing: the trunk within this of upright, the pelvis no more than this below its target, joints no faster than this
/// on average, for this long.
const UPRIGHT_COSINE: f32 = 0.94;
const UPRIGHT_SINK_M: f32 = 0.06;
const STILL_M_S: f32 = 0.2;
const STILL_FRAMES: usize = 9;
/// A pelvis whose front looks up more than this lies on its back.
const FACE_UP: f32 = 0.3;
/// A pelvis more upright than this sits.
const SITTING: f32 = 0.6;

/// Who sets the target of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Leader {
    /// The kinematic module.
    Module,
    /// The kinematic module, from this frame on anew: the character stands here.
    ModuleAnew(RootFrame),
    /// Nobody: it lies, or gets up.
    Recovery,
}

/// How much the body is helped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Help {
    /// Share of the configured root assist.
    pub assist: f32,
    /// Share of the drives' strength.
    pub strength: f32,
}

#[derive(Clone, Debug)]
enum Phase {
    Up,
    Lying {
        frames: usize,
        still_frames: usize,
        from: Pose,
    },
    Rising(Box<Rising>),
    /// Standing again; the pose that it stood up in fades out of the target.
    HandedBack {
        frames: usize,
        stood: Pose,
    },
}

/// An attempt.
#[derive(Clone, Debug)]
struct Rising {
    route: Route,
    /// Where it will stand.
    stance: RootFrame,
    /// How it lay.
    lay: Pose,
    /// Time on the route, and in all, seconds.
    time_s: f32,
    elapsed_s: f32,
    still_frames: usize,
}

/// What follows a fall.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    config: GetUpConfig,
    height_m: f32,
    limp: f32,
    phase: Phase,
}

impl Recovery {
    /// A character that stands. `limp` is the strength of its joints while it lies.
    pub fn new(config: GetUpConfig, height_m: f32, limp: f32) -> Self {
        Self { config, height_m, limp, phase: Phase::Up }
    }

    /// Whether it has fallen and the kinematic module does not lead it yet.
    pub fn is_down(&self) -> bool {
        matches!(self.phase, Phase::Lying { .. } | Phase::Rising(_))
    }

    /// What it does, when the kinematic module does not say.
    pub fn gait(&self) -> Option<Gait> {
        match self.phase {
            Phase::Lying { .. } => Some(Gait::Lie),
            Phase::Rising(_) => Some(Gait::GetUp),
            Phase::Up | Phase::HandedBack { .. } => None,
        }
    }

    /// It has fallen.
    pub fn fall(&mut self, character: &mut Character) {
        self.phase = Phase::Lying { frames: 0, still_frames: 0, from: character.target_pose().clone() };
        character.let_go();
    }

    /// Sets the target of the next frame, unless the kinematic module does.
    pub fn lead(&mut self, character: &mut Character) -> Leader {
        match &mut self.phase {
            Phase::Up | Phase::HandedBack { .. } => return Leader::Module,
            Phase::Lying { frames, still_frames, from } => {
                *frames += 1;
                let still = character.mean_joint_speed_m_s() < self.config.rest_speed_m_s;
                *still_frames = if still { *still_frames + 1 } else { 0 };
                let rested = seconds(*still_frames) >= self.config.rest_s
                    || seconds(*frames) >= self.config.longest_rest_s;
                if !(self.config.enabled && rested) {
                    let relaxed = relaxed(character);
                    character.lead(from.lerp(&relaxed, (seconds(*frames) / RELAX_S).min(1.0)));
                    return Leader::Recovery;
                }
                let rising = Rising::new(character, self.height_m);
                character.place_target(rising.lay.clone());
                self.phase = Phase::Rising(Box::new(rising));
            }
            Phase::Rising(_) => {}
        }
        let Phase::Rising(rising) = &mut self.phase else { return Leader::Recovery };
        match rising.advance(character, self.config.pace, self.height_m) {
            Attempt::UnderWay => {}
            Attempt::Failed => self.fall(character),
            Attempt::Stands => {
                let stance = rising.stance;
                self.phase = Phase::HandedBack { frames: 0, stood: character.target_pose().clone() };
                character.hand_back(stance);
                return Leader::ModuleAnew(stance);
            }
        }
        Leader::Recovery
    }

    /// After the kinematic module has set its first targets: the pose that the character stood up in gives way to them.
    pub fn fade(&mut self, character: &mut Character) {
        let Phase::HandedBack { frames, stood } = &mut self.phase else { return };
        *frames += 1;
        let share = seconds(*frames) / self.config.hand_back_s;
        if share < 1.0 {
            character.mix_target(stood, smooth(share));
        } else {
            self.phase = Phase::Up;
        }
    }

    /// What drives and assist give in the next frame.
    pub fn help(&self) -> Help {
        match &self.phase {
            Phase::Up | Phase::HandedBack { .. } => Help { assist: 1.0, strength: 1.0 },
            Phase::Lying { .. } => Help { assist: 0.0, strength: self.limp },
            Phase::Rising(rising) => {
                let awake = smooth(rising.elapsed_s / WAKE_S);
                Help { assist: awake, strength: self.limp + (1.0 - self.limp) * awake }
            }
        }
    }
}

/// The pose of standing at ease in `frame`, for a body of `height_m`.
pub(crate) fn standing_pose(
    skeleton: &Skeleton,
    height_m: f32,
    frame: &RootFrame,
    terrain: &HeightMap,
) -> Pose {
    route::standing().pose(skeleton, height_m, frame, terrain)
}

enum Attempt {
    UnderWay,
    Stands,
    Failed,
}

impl Rising {
    fn new(character: &Character, height_m: f32) -> Self {
        let lies = character.body().pose();
        let lay = lies.to_local(character.skeleton());
        let (route, yaw) = choose(&lies);
        let hips = lies.positions[humanoid::HIPS.0];
        let here = RootFrame { origin: hips, yaw };
        let origin = here.to_world(-route.first().pelvis * height_m);
        let ground = character.terrain().smoothed_height(origin.x, origin.z);
        let stance = RootFrame { origin: Vec3::new(origin.x, ground, origin.z), yaw };
        Self { route, stance, lay, time_s: 0.0, elapsed_s: 0.0, still_frames: 0 }
    }

    fn advance(&mut self, character: &mut Character, pace: f32, height_m: f32) -> Attempt {
        self.elapsed_s += FRAME_S;
        let lag = lag(character);
        self.time_s += FRAME_S * pace * (1.0 - lag).max(SLOWEST);
        let slip = character.body().pose().positions[0] - character.target_pose().root_position;
        let origin = self.stance.origin + slip.with_y(0.0) * FOLLOW;
        let ground = character.terrain().smoothed_height(origin.x, origin.z);
        self.stance.origin = origin.with_y(ground);
        let posture = self.route.posture(self.time_s);
        let wanted = posture.pose(character.skeleton(), height_m, &self.stance, character.terrain());
        let found = smooth(self.time_s / FIND_S);
        let target = self.lay.lerp(&wanted, found);
        character.lead(target);
        let over = self.time_s >= self.route.duration_s();
        let stands = over && stands(character);
        self.still_frames = if stands { self.still_frames + 1 } else { 0 };
        if self.still_frames >= STILL_FRAMES {
            Attempt::Stands
        } else if self.elapsed_s * pace > self.route.duration_s() * GIVEN_UP_AFTER {
            Attempt::Failed
        } else {
            Attempt::UnderWay
        }
    }
}

/// How far the pelvis is behind its target: 0 close, 1 and more hopelessly.
fn lag(character: &Character) -> f32 {
    let (body, target) = (character.body().pose(), character.target_pose());
    let turn = log(target.local_rotations[0] * body.rotations[0].inverse()).length();
    let sink = target.root_position.y - body.positions[0].y;
    let share = |value: f32, (from, to): (f32, f32)| (value - from) / (to - from);
    share(turn, TILT_RAD).max(share(sink, SINK_M)).max(0.0)
}

fn stands(character: &Character) -> bool {
    let body = character.body().pose();
    let hips = body.positions[humanoid::HIPS.0];
    let trunk = (body.positions[humanoid::NECK.0] - hips).normalize_or_zero();
    trunk.y > UPRIGHT_COSINE
        && character.target_pose().root_position.y - hips.y < UPRIGHT_SINK_M
        && character.mean_joint_speed_m_s() < STILL_M_S
}

/// The way up from a lying pose, and which way to face on it. The pelvis decides: a limp trunk may hang anywhere.
fn choose(lies: &GlobalPose) -> (Route, f32) {
    let pelvis = lies.rotations[humanoid::HIPS.0];
    let (left, up, front) = (pelvis * Vec3::X, pelvis * Vec3::Y, pelvis * Vec3::Z);
    if up.y > SITTING {
        (Route::supine(), yaw_of_direction(front))
    } else if front.y > FACE_UP {
        // The feet are ahead of one who sits up.
        (Route::supine(), yaw_of_direction(-up))
    } else {
        (Route::prone(if left.y >= 0.0 { Side::Left } else { Side::Right }), yaw_of_direction(up))
    }
}

/// The body where it is, joints drawn in a little: what the tone of a limp body holds.
fn relaxed(character: &Character) -> Pose {
    let mut pose = character.body().pose().to_local(character.skeleton());
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

fn seconds(frames: usize) -> f32 {
    frames as f32 * FRAME_S
}

/// 0 to 1 with zero slope at both ends.
fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
