//! One frame of a clip on the figure of a target: rotations of the project joints, and where the pelvis is.

use crate::figure::{Figure, Placed, Roles};
use crate::lengths::{ARMS, LEGS, Lengths};
use glam::{Quat, Vec3};
use pomp_motion::retarget::{arm_turn, softly_limited};
use pomp_motion::two_bone_ik::{Limb, LimbShape, reach};
use pomp_motion::{GlobalPose, JointIndex, humanoid};

// The limits are those of the way onto the project skeleton, whose steps these are.
/// The spine turns by at most this much to bring the shoulders over those of the clip, radians.
const MAX_SPINE_CORRECTION: f32 = 0.4;
/// The collar bones turn by at most this much to bring the shoulders to their places, radians.
const MAX_COLLAR_CORRECTION: f32 = 0.7;
/// The collar bones turn by at most this much further towards where the clip has its shoulders in space, radians.
const MAX_GIRDLE_TURN: f32 = 0.25;
/// The pelvis gives way by at most this much to let the feet reach the ground, as a share of the leg.
const MAX_PELVIS_SHIFT: f32 = 0.07;
const SPINE: [JointIndex; 3] = [humanoid::SPINE, humanoid::SPINE1, humanoid::SPINE2];

/// Ratios of target to clip.
pub struct Solver<'a> {
    pub figure: &'a Figure,
    /// Legs and path.
    pub scale: f32,
    /// Height that is added to everything, metres.
    pub rise: f32,
    leg: f32,
    torso: f32,
    shoulder_width: f32,
    arm: f32,
}

/// Rotations of the project joints, and the place of the joint that plays the pelvis.
pub struct Solved {
    pub given: Roles<Quat>,
    pub pelvis: Vec3,
}

impl<'a> Solver<'a> {
    /// `from` are the lengths of the clip's body, `to` those of the target; both have legs.
    pub fn new(figure: &'a Figure, from: &Lengths, to: &Lengths, scale: f32, rise: f32) -> Self {
        let ratio = |to: Option<f32>, from: Option<f32>| {
            to.zip(from).filter(|(_, from)| *from > 1e-3).map_or(scale, |(to, from)| to / from)
        };
        Self {
            figure,
            scale,
            rise,
            leg: to.leg.unwrap_or(1.0),
            torso: ratio(to.torso, from.torso),
            shoulder_width: ratio(to.shoulder_width, from.shoulder_width),
            arm: ratio(to.arm, from.arm),
        }
    }

    /// Where a place of the clip is for the target.
    pub fn in_space(&self, clip: Vec3) -> Vec3 {
        clip * self.scale + Vec3::Y * self.rise
    }

    /// One frame; `shifts` move the targets of the left and right ankle, metres.
    pub fn solve(&self, clip: &GlobalPose, shifts: [Vec3; 2]) -> Solved {
        let at = |joint: JointIndex| clip.positions[joint.0];
        let mut given: Roles<Quat> = std::array::from_fn(|role| clip.rotations[role]);
        self.place_shoulders(&mut given, clip);
        let hips = (at(LEGS[0]) + at(LEGS[1])) * 0.5;
        let ankles = [0, 1].map(|side| self.in_space(at(JointIndex(LEGS[side].0 + 2))) + shifts[side]);
        let at_origin = self.figure.place(Vec3::ZERO, &given);
        let below = self.figure.middle(&at_origin, LEGS).unwrap_or_default();
        let mut pelvis = self.in_space(hips) - below;
        pelvis += self.pelvis_shift(pelvis, &at_origin, ankles);
        let placed = self.figure.place(pelvis, &given);
        for (side, hip) in LEGS.into_iter().enumerate() {
            let Some(root) = self.figure.at(&placed, hip) else { continue };
            let hint = root + (at(JointIndex(hip.0 + 1)) - at(hip)) * self.scale;
            self.bend(&mut given, &placed, hip, [root, ankles[side], hint], Vec3::Z);
        }
        for shoulder in ARMS {
            let Some(root) = self.figure.at(&placed, shoulder) else { continue };
            let [elbow, wrist] = [1, 2].map(|i| JointIndex(shoulder.0 + i));
            let target = root + (at(wrist) - at(shoulder)) * self.arm;
            let hint = root + (at(elbow) - at(shoulder)) * self.arm;
            if self.bend(&mut given, &placed, shoulder, [root, target, hint], Vec3::NEG_Z) {
                let wanted = [elbow, wrist].map(|joint| self.in_space(at(joint)) - root);
                self.turn_arm(&mut given, pelvis, shoulder, wanted);
            }
        }
        Solved { given, pelvis }
    }

    /// One frame by its rotations alone.
    pub fn copied(&self, clip: &GlobalPose) -> Solved {
        let given: Roles<Quat> = std::array::from_fn(|role| clip.rotations[role]);
        let hips = (clip.positions[LEGS[0].0] + clip.positions[LEGS[1].0]) * 0.5;
        let below = self.figure.middle(&self.figure.place(Vec3::ZERO, &given), LEGS).unwrap_or_default();
        Solved { given, pelvis: self.in_space(hips) - below }
    }

    /// Turns the spine so that the middle of the shoulders lies in the clip's direction from the hips, then the collar bones
    /// so that the arms begin where the clip's do.
    fn place_shoulders(&self, given: &mut Roles<Quat>, clip: &GlobalPose) {
        let at = |joint: JointIndex| clip.positions[joint.0];
        let shoulders = (at(ARMS[0]) + at(ARMS[1])) * 0.5;
        let hips = (at(LEGS[0]) + at(LEGS[1])) * 0.5;
        let from_hips = shoulders - hips;
        let wanted = from_hips.normalize_or(Vec3::Y);
        for _ in 0..2 {
            let placed = self.figure.place(Vec3::ZERO, given);
            let middles = self.figure.middle(&placed, ARMS).zip(self.figure.middle(&placed, LEGS));
            let Some((above, below)) = middles else { return };
            let turn = limited_arc((above - below).normalize_or(Vec3::Y), wanted, MAX_SPINE_CORRECTION);
            for joint in SPINE {
                given[joint.0] = (turn * given[joint.0]).normalize();
            }
        }
        let placed = self.figure.place(Vec3::ZERO, given);
        let Some(below) = self.figure.middle(&placed, LEGS) else { return };
        let centre = below + from_hips * self.torso;
        for (collar, arm) in
            [(humanoid::LEFT_SHOULDER, humanoid::LEFT_ARM), (humanoid::RIGHT_SHOULDER, humanoid::RIGHT_ARM)]
        {
            let places = self.figure.at(&placed, collar).zip(self.figure.at(&placed, arm));
            let Some((collar_at, arm_at)) = places else { continue };
            let target = centre + (at(arm) - shoulders) * self.shoulder_width - collar_at;
            let (Some(now), Some(target)) = ((arm_at - collar_at).try_normalize(), target.try_normalize())
            else {
                continue;
            };
            let turn = limited_arc(now, target, MAX_COLLAR_CORRECTION);
            let in_space = below + (at(arm) - hips) * self.scale - collar_at;
            let further = in_space
                .try_normalize()
                .map_or(Vec3::ZERO, |there| Quat::from_rotation_arc(turn * now, there).to_scaled_axis());
            let girdle = Quat::from_scaled_axis(softly_limited(further, MAX_GIRDLE_TURN));
            given[collar.0] = (girdle * turn * given[collar.0]).normalize();
        }
    }

    /// How far the pelvis gives way so that both ankles are within reach. `at_origin` is the figure with its pelvis there.
    fn pelvis_shift(&self, pelvis: Vec3, at_origin: &Placed, ankles: [Vec3; 2]) -> Vec3 {
        let mut shift = Vec3::ZERO;
        for _ in 0..4 {
            for (hip, ankle) in LEGS.into_iter().zip(ankles) {
                let chain = [0, 1, 2].map(|i| self.figure.at(at_origin, JointIndex(hip.0 + i)));
                let [Some(hip_at), Some(knee), Some(foot)] = chain else { continue };
                let length = hip_at.distance(knee) + knee.distance(foot);
                let leg = ankle - (pelvis + shift + hip_at);
                let excess = leg.length() - 0.9995 * length;
                if excess > 0.0 {
                    shift += leg.normalize() * excess;
                }
            }
        }
        shift.clamp_length_max(MAX_PELVIS_SHIFT * self.leg)
    }

    /// Two-bone inverse kinematics of a limb that the target has whole: from `root` to `target`, middle joint near `hint`.
    fn bend(
        &self,
        given: &mut Roles<Quat>,
        placed: &Placed,
        upper: JointIndex,
        [root, target, hint]: [Vec3; 3],
        bend_local: Vec3,
    ) -> bool {
        let (lower, end) = (JointIndex(upper.0 + 1), JointIndex(upper.0 + 2));
        let (Some(lower_at), Some(end_at)) = (self.figure.at(placed, lower), self.figure.at(placed, end))
        else {
            return false;
        };
        let shape = LimbShape {
            upper_bone: given[upper.0].inverse() * (lower_at - root),
            lower_bone: given[lower.0].inverse() * (end_at - lower_at),
            bend_local,
        };
        if shape.upper_bone.length() < 1e-4 * self.leg || shape.lower_bone.length() < 1e-4 * self.leg {
            return false;
        }
        let pose = Limb { upper_rotation: given[upper.0], lower_rotation: given[lower.0] };
        let limb = reach(root, target, hint, pose, &shape);
        given[upper.0] = limb.upper_rotation;
        given[lower.0] = limb.lower_rotation;
        true
    }

    /// Turns a solved arm about its shoulder towards where the clip has elbow and wrist in space, relative to the shoulder.
    fn turn_arm(&self, given: &mut Roles<Quat>, pelvis: Vec3, shoulder: JointIndex, wanted: [Vec3; 2]) {
        let placed = self.figure.place(pelvis, given);
        let [upper, lower, hand] = [0, 1, 2].map(|i| JointIndex(shoulder.0 + i));
        let places = [upper, lower, hand].map(|joint| self.figure.at(&placed, joint));
        let [Some(root), Some(elbow), Some(wrist)] = places else { return };
        let turn = arm_turn([elbow - root, wrist - root], wanted);
        for joint in [upper, lower] {
            given[joint.0] = (turn * given[joint.0]).normalize();
        }
    }
}

/// The smallest rotation from one unit vector to another, cut off at `limit` radians.
fn limited_arc(from: Vec3, to: Vec3, limit: f32) -> Quat {
    let (axis, angle) = Quat::from_rotation_arc(from, to).to_axis_angle();
    Quat::from_axis_angle(axis, angle.min(limit))
}
