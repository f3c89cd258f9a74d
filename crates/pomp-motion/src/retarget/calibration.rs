use super::rig_map::frame;
use super::{JointAxes, MatchReport, RetargetError, RigMap};
use crate::{GlobalPose, JointIndex, Skeleton, SourceMotion, humanoid};
use glam::{Mat3, Quat, Vec3};
use std::collections::BTreeMap;

/// Per project joint the constant rotation from its T-pose frame to the frame of its source joint, so that
/// world rotation of the project joint = world rotation of the source joint × this. `None` for joints that
/// the source lacks.
pub(super) type Calibration = [Option<Quat>; humanoid::JOINTS];

/// Joints whose bone means the same in every skeleton: the direction to the child fixes two of three angles
/// exactly. Not the collar bones: some skeletons hang them from the chest, some from the neck.
const BONES: [(JointIndex, JointIndex); 8] = [
    (humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG),
    (humanoid::LEFT_LEG, humanoid::LEFT_FOOT),
    (humanoid::RIGHT_UP_LEG, humanoid::RIGHT_LEG),
    (humanoid::RIGHT_LEG, humanoid::RIGHT_FOOT),
    (humanoid::LEFT_ARM, humanoid::LEFT_FORE_ARM),
    (humanoid::LEFT_FORE_ARM, humanoid::LEFT_HAND),
    (humanoid::RIGHT_ARM, humanoid::RIGHT_FORE_ARM),
    (humanoid::RIGHT_FORE_ARM, humanoid::RIGHT_HAND),
];

/// Cosine of the angle from which on a bone contradicts the axes of its joint: 60°, far above what skeletons differ by.
const CONTRADICTION: f32 = 0.5;

/// Finds the calibration from the axes of the rig map or, for joints without, from a standing rest pose.
///
/// Axes describe the files that the map was made for. A file of the same joint names whose rest pose stands and
/// contradicts them, as other programs write it, is read by its rest pose.
///
/// The rest pose counts with all rotations identity: every source joint frame is then aligned with the file's
/// axes. Whatever the arms do there, the smallest rotation from the T-pose bone to the rest bone keeps the
/// hinge of the elbow: arms down about the forward axis, arms forward about the vertical.
pub(super) fn calibrate(
    source: &SourceMotion,
    rig: &RigMap,
    joints: &MatchReport,
) -> Result<Calibration, RetargetError> {
    let rest = Rest { pose: source.rest_pose(), source, joints };
    let body = rest.body();
    let project = Skeleton::humanoid(1.0);
    let no_axes = BTreeMap::new();
    let axes = if body.is_ok() && rest.contradicts(&rig.axes, &project) { &no_axes } else { &rig.axes };
    let mut calibration: Calibration = [None; humanoid::JOINTS];
    for index in (0..humanoid::JOINTS).map(JointIndex).filter(|&j| joints.source_joints[j.0].is_some()) {
        let general = match (axes.get(&index), &body) {
            (Some(axes), _) => axes.source_from_t_pose(),
            (None, Ok(body)) => rest.joint_frame(index, *body, &project),
            (None, Err(reason)) => {
                return Err(RetargetError::RestPoseNotStanding {
                    clip: source.name.clone(),
                    rig: rig.name.clone(),
                    joint: project.joints()[index.0].name.clone(),
                    reason: reason.clone(),
                });
            }
        };
        calibration[index.0] = Some(general);
    }
    for (joint, child) in BONES {
        if let (Some(general), Some(bone)) = (calibration[joint.0], rest.bone(joint, child)) {
            calibration[joint.0] = Some(swung(general, project.joints()[child.0].offset, bone));
        }
    }
    for (hand, fore_arm) in
        [(humanoid::LEFT_HAND, humanoid::LEFT_FORE_ARM), (humanoid::RIGHT_HAND, humanoid::RIGHT_FORE_ARM)]
    {
        if calibration[hand.0].is_some() && !axes.contains_key(&hand) && calibration[fore_arm.0].is_some() {
            calibration[hand.0] = calibration[fore_arm.0];
        }
    }
    let pitch = Quat::from_rotation_x(rig.sole_pitch_degrees.to_radians());
    for joint in [humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE] {
        calibration[joint.0] = calibration[joint.0].map(|q| q * pitch);
    }
    Ok(calibration)
}

/// Up in the file's axes as the rest pose has it, when that is a standing pose.
pub(super) fn rest_up(source: &SourceMotion, joints: &MatchReport) -> Option<Vec3> {
    let rest = Rest { pose: source.rest_pose(), source, joints };
    rest.body().ok().map(|body| body * Vec3::Y)
}

/// The way that a standing rest pose stands and what its arms do, or why it is no standing pose.
pub(super) fn rest_kind(source: &SourceMotion, joints: &MatchReport) -> Result<(Vec3, &'static str), String> {
    let rest = Rest { pose: source.rest_pose(), source, joints };
    let body = rest.body()?;
    let down = |shoulder: JointIndex| {
        Some(-(body * Vec3::Y).dot(rest.bone(shoulder, JointIndex(shoulder.0 + 1))?.try_normalize()?))
    };
    let arms =
        down(humanoid::LEFT_ARM).zip(down(humanoid::RIGHT_ARM)).map(|(left, right)| 0.5 * (left + right));
    let kind = match arms {
        None => "standing, no arms",
        Some(down) if down.abs() < 0.34 => "T-pose",
        Some(down) if down > 0.85 => "arms down",
        Some(down) if down > 0.0 => "A-pose",
        Some(_) => "standing, arms raised",
    };
    Ok((body * Vec3::Y, kind))
}

/// `general` turned as little as possible so that it takes the project's bone to the source's.
fn swung(general: Quat, project_bone: Vec3, source_bone: Vec3) -> Quat {
    let now = general * project_bone.normalize();
    (Quat::from_rotation_arc(now, source_bone.normalize()) * general).normalize()
}

struct Rest<'a> {
    pose: GlobalPose,
    source: &'a SourceMotion,
    joints: &'a MatchReport,
}

impl Rest<'_> {
    fn at(&self, joint: JointIndex) -> Option<Vec3> {
        self.joints.source_joints[joint.0].map(|j| self.pose.positions[j.0])
    }

    fn middle(&self, left: JointIndex, right: JointIndex) -> Option<Vec3> {
        Some((self.at(left)? + self.at(right)?) * 0.5)
    }

    /// Vector between two mapped joints; `None` when they coincide.
    fn bone(&self, joint: JointIndex, child: JointIndex) -> Option<Vec3> {
        let bone = self.at(child)? - self.at(joint)?;
        (bone.length() > 1e-4 * self.leg_length()).then_some(bone)
    }

    fn leg_length(&self) -> f32 {
        let hip = self.at(humanoid::LEFT_UP_LEG).unwrap_or_default();
        let knee = self.at(humanoid::LEFT_LEG).unwrap_or_default();
        let ankle = self.at(humanoid::LEFT_FOOT).unwrap_or_default();
        hip.distance(knee) + knee.distance(ankle)
    }

    /// Whether a limb's bone points elsewhere than the axes of its joint say.
    fn contradicts(&self, axes: &BTreeMap<JointIndex, JointAxes>, project: &Skeleton) -> bool {
        BONES.iter().any(|&(joint, child)| {
            axes.get(&joint).zip(self.bone(joint, child)).is_some_and(|(axes, bone)| {
                let stated = axes.source_from_t_pose() * project.joints()[child.0].offset.normalize();
                stated.dot(bone.normalize()) < CONTRADICTION
            })
        })
    }

    /// Rotation from the project's T-pose axes to the body's axes at rest, or why the rest pose is no standing pose.
    fn body(&self) -> Result<Quat, String> {
        let hips = self.middle(humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG).unwrap_or_default();
        let ankles = self.middle(humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT).unwrap_or_default();
        let raw_up = hips - ankles;
        if raw_up.length() < 0.5 * self.leg_length() {
            return Err("the legs point in opposite directions or are folded".to_owned());
        }
        let up = snapped(raw_up.normalize(), 30.0);
        for (hip, ankle) in
            [(humanoid::LEFT_UP_LEG, humanoid::LEFT_FOOT), (humanoid::RIGHT_UP_LEG, humanoid::RIGHT_FOOT)]
        {
            if self.bone(hip, ankle).is_none_or(|leg| leg.normalize().dot(-up) < 0.7) {
                return Err("the legs do not point the same way".to_owned());
            }
        }
        let across = self.at(humanoid::LEFT_UP_LEG).unwrap_or_default()
            - self.at(humanoid::RIGHT_UP_LEG).unwrap_or_default();
        let left = (across - up * across.dot(up)).try_normalize().ok_or("the hip joints coincide")?;
        let left = snapped(left, 10.0);
        let forward = left.cross(up).normalize();
        if let Some(shoulders) = self.middle(humanoid::LEFT_ARM, humanoid::RIGHT_ARM)
            && (shoulders - hips).dot(up) <= 0.0
        {
            return Err("the shoulders are not above the hips".to_owned());
        }
        for foot in [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT] {
            if self.foot_direction(foot).is_some_and(|toes| toes.dot(forward) <= 0.0) {
                return Err("the toes point backwards, or left and right are swapped".to_owned());
            }
        }
        Ok(Quat::from_mat3(&Mat3::from_cols(up.cross(forward), up, forward)).normalize())
    }

    /// From the ankle to the toe joint, or to the end of the foot where there is no toe joint.
    fn foot_direction(&self, foot: JointIndex) -> Option<Vec3> {
        let toe = JointIndex(foot.0 + 1);
        let to_toe = self.bone(foot, toe).or_else(|| {
            let foot_source = self.joints.source_joints[foot.0]?;
            self.source.end_sites.iter().find(|(joint, _)| *joint == foot_source).map(|(_, offset)| *offset)
        })?;
        to_toe.try_normalize()
    }

    /// Frame of a joint at rest, in the file's axes, before its bone is swung into place.
    fn joint_frame(&self, joint: JointIndex, body: Quat, project: &Skeleton) -> Quat {
        match joint {
            humanoid::SPINE | humanoid::SPINE1 | humanoid::SPINE2 => {
                let torso = self
                    .middle(humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG)
                    .zip(self.middle(humanoid::LEFT_ARM, humanoid::RIGHT_ARM))
                    .map(|(hips, shoulders)| shoulders - hips);
                torso.map_or(body, |torso| swung(body, Vec3::Y, torso))
            }
            humanoid::NECK => self
                .bone(joint, humanoid::HEAD)
                .map_or(body, |bone| swung(body, project.joints()[humanoid::HEAD.0].offset, bone)),
            humanoid::LEFT_FOOT | humanoid::LEFT_TOE => self.foot_frame(humanoid::LEFT_FOOT, body),
            humanoid::RIGHT_FOOT | humanoid::RIGHT_TOE => self.foot_frame(humanoid::RIGHT_FOOT, body),
            _ => body,
        }
    }

    /// A flat foot below its shin: rolled with the shin (CMU's legs are spread at rest, and so are the soles),
    /// turned towards the toes, not pitched.
    fn foot_frame(&self, foot: JointIndex, body: Quat) -> Quat {
        let shin = self.bone(JointIndex(foot.0 - 1), foot).map_or(body * Vec3::NEG_Y, Vec3::normalize);
        let left = body * Vec3::X;
        let hinge = (left - shin * shin.dot(left)).normalize_or(left);
        let body_up = body * Vec3::Y;
        let up = (body_up - hinge * hinge.dot(body_up)).normalize_or(body_up);
        frame(up, self.foot_direction(foot).unwrap_or(hinge.cross(up)))
    }
}

/// The coordinate axis that `direction` is within `degrees` of, else `direction` itself.
fn snapped(direction: Vec3, degrees: f32) -> Vec3 {
    let axes = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z];
    axes.into_iter().find(|axis| axis.dot(direction) > degrees.to_radians().cos()).unwrap_or(direction)
}
