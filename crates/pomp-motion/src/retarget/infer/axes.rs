//! Axes of joints whose rest pose means nothing, as T-pose frame or motion show them: knees and elbows are hinges, soles
//! are level where they stand, and the trunk is upright on average.

use super::anatomy::Anatomy;
use super::sample::Sample;
use super::t_pose::is_t_pose;
use crate::retarget::JointAxes;
use crate::{JointIndex, Skeleton, humanoid};
use glam::{Mat3, Quat, Vec3, Vec4};
use std::collections::BTreeMap;

/// Cosine of the trunk's lean up to which a frame counts as upright.
const UPRIGHT: f32 = 0.85;
/// Upright frames that are enough to go by them alone.
const ENOUGH: usize = 5;
/// The line from the hip joints to the shoulder joints of upright people leans back by this, radians: 5°, as the measured
/// axes of two families of skeletons have it.
const TORSO_LEAN: f32 = 0.087;
/// Sine of the bend from which on a hinge shows its axis.
const BENT: f32 = 0.2;
/// A foot below this speed, leg lengths per second, stands.
const STANDING: f32 = 0.25;
/// Sine of the slope from the ankle down to the tip of a flat foot.
const FLAT: std::ops::Range<f32> = 0.0..0.8;
/// Sines of slopes within this are one stance.
const SAME_SLOPE: f32 = 0.12;
/// A standing foot is at most this far above its lowest, leg lengths.
const LOW: f32 = 0.12;

/// The axes of every mapped joint, and what they were taken from.
pub(super) fn joint_axes(
    sample: &Sample<'_>,
    anatomy: &Anatomy,
    up: Vec3,
) -> (BTreeMap<JointIndex, JointAxes>, String) {
    let body = Body { sample, anatomy, up, project: Skeleton::humanoid(1.0) };
    let joints = anatomy.roles.map(|joint| joint.map(JointIndex));
    let shown =
        (0..sample.source.frames()).take(5).find(|&f| is_t_pose(&sample.source.global_pose(f), &joints));
    let mut axes = BTreeMap::new();
    for role in (0..humanoid::JOINTS).map(JointIndex) {
        let Some(joint) = anatomy.roles[role.0] else { continue };
        let turn = match shown {
            Some(frame) => body.of_t_pose(frame, joint),
            None => body.of_motion(role, joint),
        };
        axes.insert(role, JointAxes { up: rounded(turn * Vec3::Y), forward: rounded(turn * Vec3::Z) });
    }
    let from = match shown {
        Some(frame) => format!("frame {} of the motion, which is a T-pose", frame + 1),
        None => "the motion (hinges of knees and elbows, standing soles, upright trunk)".to_owned(),
    };
    (axes, from)
}

/// To four digits, as a person reads them in a file.
fn rounded(v: Vec3) -> Vec3 {
    (v * 1e4).round() * 1e-4
}

struct Body<'a> {
    sample: &'a Sample<'a>,
    anatomy: &'a Anatomy,
    up: Vec3,
    project: Skeleton,
}

impl Body<'_> {
    fn at(&self, f: usize, role: JointIndex) -> Option<Vec3> {
        self.anatomy.roles[role.0].map(|joint| self.sample.positions[f][joint])
    }

    fn bone(&self, f: usize, from: JointIndex, to: JointIndex) -> Option<Vec3> {
        (self.at(f, to)? - self.at(f, from)?).try_normalize()
    }

    fn between(&self, f: usize, left: JointIndex, right: JointIndex) -> Option<Vec3> {
        Some((self.at(f, left)? + self.at(f, right)?) * 0.5)
    }

    fn hips_left(&self, f: usize) -> Vec3 {
        self.bone(f, humanoid::RIGHT_UP_LEG, humanoid::LEFT_UP_LEG).unwrap_or(Vec3::X)
    }

    fn shoulders_left(&self, f: usize) -> Vec3 {
        self.bone(f, humanoid::RIGHT_ARM, humanoid::LEFT_ARM).unwrap_or_else(|| self.hips_left(f))
    }

    fn torso(&self, f: usize) -> Vec3 {
        let hips = self.between(f, humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG);
        let shoulders = self
            .between(f, humanoid::LEFT_ARM, humanoid::RIGHT_ARM)
            .or_else(|| self.at(f, humanoid::HEAD).or_else(|| self.at(f, humanoid::SPINE2)));
        let torso = hips.zip(shoulders).and_then(|(hips, shoulders)| (shoulders - hips).try_normalize());
        torso.unwrap_or(self.up)
    }

    /// Frames with an upright trunk, or all where there are hardly any.
    fn upright(&self) -> Vec<usize> {
        let all = 0..self.sample.positions.len();
        let upright: Vec<usize> = all.clone().filter(|&f| self.torso(f).dot(self.up) > UPRIGHT).collect();
        if upright.len() >= ENOUGH { upright } else { all.collect() }
    }

    /// Rotation of the joint's frame against the body's in a T-pose.
    fn of_t_pose(&self, frame: usize, joint: usize) -> Quat {
        let pose = self.sample.source.global_pose(frame);
        let at = |role: JointIndex| self.anatomy.roles[role.0].map_or(Vec3::ZERO, |j| pose.positions[j]);
        let hips = at(humanoid::LEFT_UP_LEG) + at(humanoid::RIGHT_UP_LEG);
        let ankles = at(humanoid::LEFT_FOOT) + at(humanoid::RIGHT_FOOT);
        let body = with_up(hips - ankles, at(humanoid::LEFT_UP_LEG) - at(humanoid::RIGHT_UP_LEG));
        (pose.rotations[joint].inverse() * body).normalize()
    }

    /// Mean over the frames of the T-pose frame of a bone, as seen from its joint.
    fn of_motion(&self, role: JointIndex, joint: usize) -> Quat {
        let seen = |f: usize, wanted: Quat| self.sample.poses[f].rotations[joint].inverse() * wanted;
        let shown = self.frames_for(role);
        let turns = shown.iter().filter_map(|&(f, weight)| Some((seen(f, self.wanted(f, role)?), weight)));
        mean_turn(turns).unwrap_or_else(|| {
            let all = (0..self.sample.positions.len()).map(|f| (seen(f, self.unbent(f, role)), 1.0));
            mean_turn(all).unwrap_or(Quat::IDENTITY)
        })
    }

    /// Frames that show the axes of a joint, with their weights.
    fn frames_for(&self, role: JointIndex) -> Vec<(usize, f32)> {
        match role {
            humanoid::HIPS | humanoid::HEAD => self.upright().into_iter().map(|f| (f, 1.0)).collect(),
            humanoid::LEFT_FOOT | humanoid::LEFT_TOE => self.standing(humanoid::LEFT_FOOT),
            humanoid::RIGHT_FOOT | humanoid::RIGHT_TOE => self.standing(humanoid::RIGHT_FOOT),
            _ => (0..self.sample.positions.len())
                .map(|f| (f, limb_of(role).map_or(1.0, |limb| self.hinge(f, limb).map_or(0.0, Vec3::length))))
                .filter(|(_, weight)| *weight > BENT)
                .collect(),
        }
    }

    /// The frames in which a foot stands flattest: near its lowest place, ankle and tip at rest.
    fn standing(&self, foot: JointIndex) -> Vec<(usize, f32)> {
        let leg = self.anatomy.plan.legs.length();
        let Some((ankle, tip)) = self.foot(foot) else { return Vec::new() };
        let height = |f: usize| self.sample.positions[f][ankle].dot(self.up);
        let all = 0..self.sample.positions.len();
        let lowest = all.clone().map(height).fold(f32::INFINITY, f32::min);
        let speed = |f: usize| self.speed(f, ankle).max(self.speed(f, tip)) / leg;
        // The ball of a flat foot is below the ankle, and not much: dancers stand on their toes as well.
        let slope = |f: usize| {
            let at = &self.sample.positions[f];
            (at[ankle] - at[tip]).normalize_or_zero().dot(self.up)
        };
        let flat: Vec<usize> = all.clone().filter(|&f| tip == ankle || FLAT.contains(&slope(f))).collect();
        let flat = if flat.len() >= ENOUGH { flat } else { all.collect() };
        let low: Vec<usize> = flat.into_iter().filter(|&f| height(f) - lowest < LOW * leg).collect();
        let still: Vec<usize> = low.iter().copied().filter(|&f| speed(f) < STANDING).collect();
        let shown = if still.len() >= ENOUGH { still } else { low };
        self.most_alike(&shown, ankle, tip).into_iter().map(|f| (f, 1.0)).collect()
    }

    /// Of the frames those in which the slope of a foot is nearest to that of most.
    fn most_alike(&self, frames: &[usize], ankle: usize, tip: usize) -> Vec<usize> {
        let slope = |f: usize| {
            let at = &self.sample.positions[f];
            (at[ankle] - at[tip]).normalize_or_zero().dot(self.up)
        };
        let alike = |a: usize| {
            frames.iter().copied().filter(|&b| (slope(a) - slope(b)).abs() < SAME_SLOPE).collect::<Vec<_>>()
        };
        frames.iter().map(|&f| alike(f)).max_by_key(Vec::len).unwrap_or_default()
    }

    /// Ankle and tip of a foot; the tip is the ankle where there is nothing beyond.
    fn foot(&self, foot: JointIndex) -> Option<(usize, usize)> {
        let (knee, ankle) = (self.anatomy.roles[foot.0 - 1]?, self.anatomy.roles[foot.0]?);
        Some((ankle, super::sides::foot_tip(self.sample, knee, ankle).unwrap_or(ankle)))
    }

    /// Speed of a node at a frame looked at, file units a second.
    fn speed(&self, f: usize, node: usize) -> f32 {
        let source = self.sample.source;
        let next = (self.sample.frames[f] + 1).min(source.frames() - 1);
        let before = next.saturating_sub(1);
        self.sample.place(next, node).distance(self.sample.place(before, node)) * source.frame_rate_hz
    }

    /// Upper bone × lower bone of a limb, as long as the sine of its bend.
    fn hinge(&self, f: usize, first: JointIndex) -> Option<Vec3> {
        let [root, middle, end] = [0, 1, 2].map(|i| JointIndex(first.0 + i));
        Some(self.bone(f, root, middle)?.cross(self.bone(f, middle, end)?))
    }

    /// T-pose frame of the joint's bone in a frame, file axes; `None` where the frame does not show it.
    fn wanted(&self, f: usize, role: JointIndex) -> Option<Quat> {
        match role {
            humanoid::HIPS => Some(with_left(self.hips_left(f), self.upright_up(f))),
            humanoid::SPINE => Some(self.trunk(f, self.hips_left(f) * 2.0 + self.shoulders_left(f))),
            humanoid::SPINE1 => Some(self.trunk(f, self.hips_left(f) + self.shoulders_left(f))),
            humanoid::SPINE2 => Some(self.trunk(f, self.shoulders_left(f))),
            humanoid::NECK => {
                let bone = self.bone(f, humanoid::NECK, humanoid::HEAD);
                Some(with_up(bone.unwrap_or_else(|| self.torso(f)), self.shoulders_left(f)))
            }
            humanoid::HEAD => Some(with_up(self.upright_up(f), self.shoulders_left(f))),
            humanoid::LEFT_SHOULDER | humanoid::RIGHT_SHOULDER => {
                Some(with_left(self.shoulders_left(f), self.torso(f)))
            }
            humanoid::LEFT_FOOT | humanoid::LEFT_TOE => Some(self.flat_foot(f, humanoid::LEFT_FOOT)),
            humanoid::RIGHT_FOOT | humanoid::RIGHT_TOE => Some(self.flat_foot(f, humanoid::RIGHT_FOOT)),
            _ => self.of_limb(f, role),
        }
    }

    /// Frame of an upright trunk with this left.
    fn trunk(&self, f: usize, left: Vec3) -> Quat {
        with_up(self.torso(f), left) * Quat::from_rotation_x(TORSO_LEAN)
    }

    /// The world's up, or the trunk's where no frame is upright.
    fn upright_up(&self, f: usize) -> Vec3 {
        if self.torso(f).dot(self.up) > UPRIGHT { self.up } else { self.torso(f) }
    }

    fn of_limb(&self, f: usize, role: JointIndex) -> Option<Quat> {
        let first = limb_of(role)?;
        let hinge = self.hinge(f, first)?;
        let bone_of = if role.0 > first.0 + 1 { JointIndex(first.0 + 1) } else { role };
        let bone = self.bone(f, bone_of, JointIndex(bone_of.0 + 1))?;
        Some(match first {
            humanoid::LEFT_ARM => with_left(bone, -hinge),
            humanoid::RIGHT_ARM => with_left(-bone, hinge),
            _ => with_up(-bone, hinge),
        })
    }

    /// For limbs that never bend: the T-pose turned as little as it goes towards the bone.
    fn unbent(&self, f: usize, role: JointIndex) -> Quat {
        let trunk = match role.0 {
            0..=8 => with_left(self.hips_left(f), self.torso(f)),
            _ => with_up(self.torso(f), self.shoulders_left(f)),
        };
        let bone_of = match limb_of(role) {
            Some(first) if role.0 > first.0 + 1 => JointIndex(first.0 + 1),
            Some(_) => role,
            None => return trunk,
        };
        let child = JointIndex(bone_of.0 + 1);
        self.bone(f, bone_of, child).map_or(trunk, |bone| swung(trunk, self.offset(child), bone))
    }

    fn flat_foot(&self, f: usize, foot: JointIndex) -> Quat {
        let toe = self.bone(f, foot, JointIndex(foot.0 + 1)).or_else(|| {
            let (ankle, tip) = self.foot(foot)?;
            (self.sample.positions[f][tip] - self.sample.positions[f][ankle]).try_normalize()
        });
        let ahead = toe.unwrap_or_else(|| self.hips_left(f).cross(self.up));
        with_up(self.up, self.up.cross(ahead))
    }

    fn offset(&self, joint: JointIndex) -> Vec3 {
        self.project.joints()[joint.0].offset
    }
}

/// First joint of the limb that a hinge joint, or the hand at its end, belongs to.
fn limb_of(role: JointIndex) -> Option<JointIndex> {
    [
        (humanoid::LEFT_UP_LEG, 2),
        (humanoid::RIGHT_UP_LEG, 2),
        (humanoid::LEFT_ARM, 3),
        (humanoid::RIGHT_ARM, 3),
    ]
    .into_iter()
    .find(|(first, count)| (first.0..first.0 + count).contains(&role.0))
    .map(|(first, _)| first)
}

/// Weighted mean; `None` of nothing.
fn mean_turn(turns: impl Iterator<Item = (Quat, f32)>) -> Option<Quat> {
    let sum = turns.fold(Vec4::ZERO, |sum, (turn, weight)| {
        let turn = Vec4::from(turn);
        sum + turn * weight * if sum.dot(turn) < 0.0 { -1.0 } else { 1.0 }
    });
    (sum.length_squared() > 1e-12).then(|| Quat::from_vec4(sum.normalize()))
}

/// The frame with this up and, as nearly as it goes, this left.
fn with_up(up: Vec3, left: Vec3) -> Quat {
    let up = up.normalize_or(Vec3::Y);
    let left = (left - up * up.dot(left)).try_normalize().unwrap_or_else(|| up.any_orthonormal_vector());
    Quat::from_mat3(&Mat3::from_cols(left, up, left.cross(up))).normalize()
}

/// The frame with this left and, as nearly as it goes, this up.
fn with_left(left: Vec3, up: Vec3) -> Quat {
    let left = left.normalize_or(Vec3::X);
    let up = (up - left * left.dot(up)).try_normalize().unwrap_or_else(|| left.any_orthonormal_vector());
    Quat::from_mat3(&Mat3::from_cols(left, up, left.cross(up))).normalize()
}

/// `frame` turned as little as possible so that it takes the project's bone to the source's.
fn swung(frame: Quat, project_bone: Vec3, source_bone: Vec3) -> Quat {
    let now = frame * project_bone.normalize_or(Vec3::Y);
    (Quat::from_rotation_arc(now, source_bone) * frame).normalize()
}
