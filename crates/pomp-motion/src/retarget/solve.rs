use super::arm_fit::{arm_turn, softly_limited};
use super::ground::lowest_ground;
use super::proportions::{Lengths, subject_skeleton};
use super::report::{JointError, RetargetReport, Retargeted};
use super::source_pose::{SourcePose, completed, placed};
use super::{MatchReport, Proportions, RetargetError, RetargetOptions, RigBinding, RigMap, WristTarget};
use crate::two_bone_ik::{Limb, LimbShape, reach};
use crate::{Clip, GlobalPose, JointIndex, Skeleton, SourceMotion, humanoid};
use glam::{Quat, Vec3};
use std::sync::Arc;

/// Brings a source motion onto the project skeleton.
///
/// Joints that the source lacks stay at rest with a warning; the frame rate stays. See the [module](super)
/// for the method.
///
/// # Errors
/// When the rig map does not fit, the unit cannot be told, the rest pose gives no axes, or the motion breaks
/// the rules of [`SourceMotion::validate`].
pub fn retarget(
    source: &SourceMotion,
    rig: &RigMap,
    options: &RetargetOptions,
) -> Result<Retargeted, RetargetError> {
    let RigBinding { motion, joints, source_frame, joint_from_project: calibration, repairs, .. } =
        RigBinding::new(source, rig, options)?;
    let source = motion.as_ref();
    let poses: Vec<SourcePose> = (0..source.frames())
        .map(|frame| SourcePose::of_frame(source, frame, &joints, &source_frame, &calibration))
        .collect();
    let skeleton = match options.proportions {
        Proportions::Project { height_m } => Skeleton::humanoid(height_m),
        Proportions::Source => subject_skeleton(&poses)?,
    };
    let solver = Solver::new(&skeleton, &poses, options.wrist_target);
    let mut solved: Vec<GlobalPose> = poses.iter().map(|pose| solver.solve(pose)).collect();
    let joint_errors = solver.errors(&poses, &solved);
    let ground_offset_m = -lowest_ground(&skeleton, &solved, source.frame_rate_hz);
    for pose in &mut solved {
        for position in &mut pose.positions {
            position.y += ground_offset_m;
        }
    }
    let mut warnings = Vec::new();
    warnings.extend(source_frame.unit_warning());
    warnings.extend(unmoved(&joints));
    warnings.extend(solver.warnings(&poses, &solved, ground_offset_m));
    let report = RetargetReport {
        rig: rig.name.clone(),
        source_frame,
        scale: solver.scale,
        ground_offset_m,
        missing: joints.missing,
        repairs,
        warnings,
        joint_errors,
    };
    let local = solved.iter().map(|pose| pose.to_local(&skeleton)).collect();
    let clip = Clip::new(source.name.clone(), Arc::new(skeleton), source.frame_rate_hz, local)?;
    Ok(Retargeted { clip, report })
}

type Joints<T> = [T; humanoid::JOINTS];

/// First joint of a leg or arm; the two that follow in the skeleton are its knee and ankle or elbow and wrist.
const LEGS: [JointIndex; 2] = [humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG];
const ARMS: [JointIndex; 2] = [humanoid::LEFT_ARM, humanoid::RIGHT_ARM];
/// The correction that brings the shoulders over the source's shoulders turns the spine by at most this much, radians.
const MAX_SPINE_CORRECTION: f32 = 0.4;
/// The collar bones turn by at most this much to bring the shoulders to their places, radians.
const MAX_COLLAR_CORRECTION: f32 = 0.7;
/// The collar bones turn by at most this much further towards where the source has its shoulders, radians.
const MAX_GIRDLE_TURN: f32 = 0.25;
/// A limb that bends against its hinge in more than this share of the frames is worth a warning.
const BACKWARD_SHARE: f32 = 0.2;
/// The pelvis gives way by at most this much to let the feet reach the ground, metres.
const MAX_PELVIS_SHIFT_M: f32 = 0.06;

struct Solver<'a> {
    skeleton: &'a Skeleton,
    wrist_target: WristTarget,
    /// Project over source lengths: legs and path, width between the hip joints, torso, shoulders, arms.
    scale: f32,
    hip_width: f32,
    torso: f32,
    shoulder_width: f32,
    arm: f32,
}

impl<'a> Solver<'a> {
    fn new(skeleton: &'a Skeleton, poses: &[SourcePose], wrist_target: WristTarget) -> Self {
        let (from, to) = (Lengths::of_poses(poses), Lengths::of_skeleton(skeleton));
        let scale = to.leg / from.leg;
        let ratio = |to: Option<f32>, from: Option<f32>| {
            to.zip(from).filter(|(_, from)| *from > 1e-3).map_or(scale, |(to, from)| to / from)
        };
        Self {
            skeleton,
            wrist_target,
            scale,
            hip_width: ratio(Some(to.hip_width), Some(from.hip_width)),
            torso: ratio(to.torso, from.torso),
            shoulder_width: ratio(to.shoulder_width, from.shoulder_width),
            arm: ratio(to.arm, from.arm),
        }
    }

    fn offset(&self, joint: JointIndex) -> Vec3 {
        self.skeleton.joints()[joint.0].offset
    }

    fn solve(&self, source: &SourcePose) -> GlobalPose {
        let mut given = source.rotations;
        self.place_shoulders(&mut given, source);
        let rotations = completed(&given, self.skeleton);
        let hip_centre = (self.offset(LEGS[0]) + self.offset(LEGS[1])) * 0.5;
        let root = source.hip_centre() * self.scale - rotations[0] * hip_centre;
        let root = root + self.pelvis_shift(root, rotations[0], source);
        let positions = placed(root, &rotations, self.skeleton);
        for hip in LEGS {
            let [knee, ankle] = [1, 2].map(|i| source.known(JointIndex(hip.0 + i)));
            let knee_hint = positions[hip.0] + (knee - source.known(hip)) * self.scale;
            self.bend(
                &mut given,
                &rotations,
                hip,
                [positions[hip.0], ankle * self.scale, knee_hint],
                Vec3::Z,
            );
        }
        for shoulder in ARMS {
            let joints = [0, 1, 2].map(|i| source.positions[shoulder.0 + i]);
            let [Some(shoulder_at), Some(elbow), Some(wrist)] = joints else { continue };
            let at = positions[shoulder.0];
            let target = match self.wrist_target {
                WristTarget::LimbScaled => at + (wrist - shoulder_at) * self.arm,
                WristTarget::BodyScaled => wrist * self.scale,
            };
            let elbow_hint = at + (elbow - shoulder_at) * self.arm;
            self.bend(&mut given, &rotations, shoulder, [at, target, elbow_hint], Vec3::NEG_Z);
            if self.wrist_target == WristTarget::LimbScaled {
                self.turn_arm(&mut given, shoulder, [elbow, wrist].map(|p| p * self.scale - at));
            }
        }
        let rotations = completed(&given, self.skeleton);
        let positions = placed(root, &rotations, self.skeleton);
        GlobalPose { positions: positions.into(), rotations: rotations.into() }
    }

    /// Turns the spine so that the middle of the shoulders lies in the source's direction from the hips (spines
    /// with other joints in other places bend to the same posture), then the collar bones so that the arms begin
    /// where the source's do.
    fn place_shoulders(&self, given: &mut Joints<Option<Quat>>, source: &SourcePose) {
        let Some(shoulders) = source.shoulder_centre() else { return };
        let from_hips = shoulders - source.hip_centre();
        let wanted = from_hips.normalize_or(Vec3::Y);
        let middle = |at: &Joints<Vec3>, pair: [JointIndex; 2]| (at[pair[0].0] + at[pair[1].0]) * 0.5;
        for _ in 0..2 {
            let rotations = completed(given, self.skeleton);
            let positions = placed(Vec3::ZERO, &rotations, self.skeleton);
            let now = (middle(&positions, ARMS) - middle(&positions, LEGS)).normalize_or(Vec3::Y);
            let turn = limited_arc(now, wanted, MAX_SPINE_CORRECTION);
            for joint in [humanoid::SPINE, humanoid::SPINE1, humanoid::SPINE2] {
                given[joint.0] = Some((turn * rotations[joint.0]).normalize());
            }
        }
        let rotations = completed(given, self.skeleton);
        let positions = placed(Vec3::ZERO, &rotations, self.skeleton);
        let centre = middle(&positions, LEGS) + from_hips * self.torso;
        for (collar, arm) in
            [(humanoid::LEFT_SHOULDER, humanoid::LEFT_ARM), (humanoid::RIGHT_SHOULDER, humanoid::RIGHT_ARM)]
        {
            let Some(shoulder) = source.positions[arm.0] else { continue };
            let target = centre + (shoulder - shoulders) * self.shoulder_width - positions[collar.0];
            let now = rotations[collar.0] * self.offset(arm);
            if let (Some(now), Some(target)) = (now.try_normalize(), target.try_normalize()) {
                let turn = limited_arc(now, target, MAX_COLLAR_CORRECTION);
                let in_space = middle(&positions, LEGS) + (shoulder - source.hip_centre()) * self.scale;
                let further = (in_space - positions[collar.0])
                    .try_normalize()
                    .map_or(Vec3::ZERO, |there| Quat::from_rotation_arc(turn * now, there).to_scaled_axis());
                let girdle = Quat::from_scaled_axis(softly_limited(further, MAX_GIRDLE_TURN));
                given[collar.0] = Some((girdle * turn * rotations[collar.0]).normalize());
            }
        }
    }

    /// How far the pelvis gives way so that both ankles are within reach: with other hip widths a straight leg
    /// is a little too short.
    fn pelvis_shift(&self, root: Vec3, pelvis: Quat, source: &SourcePose) -> Vec3 {
        let mut shift = Vec3::ZERO;
        for _ in 0..4 {
            for hip in LEGS {
                let length: f32 = [1, 2].iter().map(|i| self.offset(JointIndex(hip.0 + i)).length()).sum();
                let leg = source.known(JointIndex(hip.0 + 2)) * self.scale
                    - (root + shift + pelvis * self.offset(hip));
                let excess = leg.length() - 0.9995 * length;
                if excess > 0.0 {
                    shift += leg.normalize() * excess;
                }
            }
        }
        shift.clamp_length_max(MAX_PELVIS_SHIFT_M)
    }

    /// Two-bone inverse kinematics of a limb that the source has: from `root` to `target`, middle joint near `hint`.
    fn bend(
        &self,
        given: &mut Joints<Option<Quat>>,
        rotations: &Joints<Quat>,
        upper: JointIndex,
        [root, target, hint]: [Vec3; 3],
        bend_local: Vec3,
    ) {
        let (lower, end) = (JointIndex(upper.0 + 1), JointIndex(upper.0 + 2));
        let shape = LimbShape { upper_bone: self.offset(lower), lower_bone: self.offset(end), bend_local };
        let pose = Limb { upper_rotation: rotations[upper.0], lower_rotation: rotations[lower.0] };
        let limb = reach(root, target, hint, pose, &shape);
        given[upper.0] = Some(limb.upper_rotation);
        given[lower.0] = Some(limb.lower_rotation);
    }

    /// Turns a solved arm about its shoulder towards where the source has elbow and wrist, relative to the shoulder.
    fn turn_arm(&self, given: &mut Joints<Option<Quat>>, shoulder: JointIndex, wanted: [Vec3; 2]) {
        let [upper, lower, hand] = [0, 1, 2].map(|i| JointIndex(shoulder.0 + i));
        let (Some(upper_now), Some(lower_now)) = (given[upper.0], given[lower.0]) else { return };
        let elbow = upper_now * self.offset(lower);
        let turn = arm_turn([elbow, elbow + lower_now * self.offset(hand)], wanted);
        given[upper.0] = Some((turn * upper_now).normalize());
        given[lower.0] = Some((turn * lower_now).normalize());
    }

    /// Where the joints would be if every limb were scaled by its own ratio.
    fn limb_scaled(&self, source: &SourcePose) -> Joints<Option<Vec3>> {
        let mut scaled = source.positions.map(|p| p.map(|p| p * self.scale));
        let hips = source.hip_centre();
        for hip in LEGS {
            scaled[hip.0] = Some(hips * self.scale + (source.known(hip) - hips) * self.hip_width);
        }
        let Some(shoulders) = source.shoulder_centre() else { return scaled };
        let centre = hips * self.scale + (shoulders - hips) * self.torso;
        for shoulder in ARMS {
            let Some(from) = source.positions[shoulder.0] else { continue };
            let to = centre + (from - shoulders) * self.shoulder_width;
            for joint in (shoulder.0..shoulder.0 + 3).map(JointIndex) {
                scaled[joint.0] = source.positions[joint.0].map(|p| to + (p - from) * self.arm);
            }
        }
        scaled
    }

    fn errors(&self, poses: &[SourcePose], solved: &[GlobalPose]) -> Vec<JointError> {
        let mut limb_scaled_sum = [0.0_f32; humanoid::JOINTS];
        let mut scaled_sum = [0.0_f32; humanoid::JOINTS];
        for (source, pose) in poses.iter().zip(solved) {
            let limb_scaled = self.limb_scaled(source);
            for i in 0..humanoid::JOINTS {
                if let (Some(from), Some(limb)) = (source.positions[i], limb_scaled[i]) {
                    scaled_sum[i] += pose.positions[i].distance(from * self.scale);
                    limb_scaled_sum[i] += pose.positions[i].distance(limb);
                }
            }
        }
        let count = poses.len() as f32;
        [LEGS[0], LEGS[1], ARMS[0], ARMS[1]]
            .iter()
            .flat_map(|first| first.0..first.0 + 3)
            .filter(|&i| poses[0].positions[i].is_some())
            .map(|i| JointError {
                joint: self.skeleton.joints()[i].name.clone(),
                scaled_m: scaled_sum[i] / count,
                limb_scaled_m: limb_scaled_sum[i] / count,
            })
            .collect()
    }

    /// Knees and elbows that bend against their hinge for much of the clip. The source does that (a known
    /// defect of some conversions of CMU's data), and retargeting does not hide it.
    fn backward_limbs(&self, poses: &[SourcePose], solved: &[GlobalPose]) -> Vec<String> {
        let limbs = LEGS.map(|hip| (hip, Vec3::Z)).into_iter().chain(ARMS.map(|arm| (arm, Vec3::NEG_Z)));
        limbs
            .filter(|(upper, _)| poses[0].positions[upper.0 + 1].is_some())
            .filter_map(|(upper, bend_local)| {
                let backward = solved
                    .iter()
                    .filter(|pose| {
                        let [root, middle, end] = [0, 1, 2].map(|i| pose.positions[upper.0 + i]);
                        let bend = (middle - (root + end) * 0.5).dot(pose.rotations[upper.0] * bend_local);
                        bend < -0.02
                    })
                    .count();
                (backward as f32 > BACKWARD_SHARE * solved.len() as f32).then(|| {
                    format!(
                        "{} bends backwards in {backward} of {} frames, as it does in the source",
                        self.skeleton.joints()[upper.0 + 1].name,
                        solved.len()
                    )
                })
            })
            .collect()
    }

    fn warnings(&self, poses: &[SourcePose], solved: &[GlobalPose], ground_offset: f32) -> Vec<String> {
        let mut warnings = Vec::new();
        let missed = poses
            .iter()
            .zip(solved)
            .filter(|(source, pose)| {
                LEGS.iter().any(|hip| {
                    let ankle = JointIndex(hip.0 + 2);
                    let wanted = source.known(ankle) * self.scale + Vec3::Y * ground_offset;
                    pose.positions[ankle.0].distance(wanted) > 0.01
                })
            })
            .count();
        if missed > 0 {
            warnings.push(format!(
                "in {missed} of {} frames an ankle is out of reach by more than 1 cm",
                poses.len()
            ));
        }
        warnings.extend(self.backward_limbs(poses, solved));
        let facing: f32 = solved
            .iter()
            .map(|pose| {
                let forward = pose.rotations[0] * Vec3::Z;
                [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT]
                    .iter()
                    .map(|foot| (pose.rotations[foot.0] * Vec3::Z).dot(forward))
                    .sum::<f32>()
            })
            .sum();
        if facing < 0.0 {
            warnings.push(
                "the feet point backwards as seen from the pelvis: left and right are swapped or the rig map's axes are wrong"
                    .to_owned(),
            );
        }
        warnings
    }
}

/// A warning about the joints that the source lacks and nothing else tells of. Spine, neck and collar bones are
/// placed by what they lie between.
fn unmoved(joints: &MatchReport) -> Option<String> {
    const PLACED: [&str; 6] = ["Spine", "Spine1", "Spine2", "Neck", "LeftShoulder", "RightShoulder"];
    let unmoved: Vec<&str> =
        joints.missing.iter().map(String::as_str).filter(|name| !PLACED.contains(name)).collect();
    let hang = if unmoved.contains(&"LeftArm") || unmoved.contains(&"RightArm") { "; arms hang" } else { "" };
    (!unmoved.is_empty())
        .then(|| format!("the source has no {}: they follow their parent joints{hang}", unmoved.join(", ")))
}

/// The smallest rotation from one unit vector to another, cut off at `limit` radians.
fn limited_arc(from: Vec3, to: Vec3, limit: f32) -> Quat {
    let (axis, angle) = Quat::from_rotation_arc(from, to).to_axis_angle();
    Quat::from_axis_angle(axis, angle.min(limit))
}
