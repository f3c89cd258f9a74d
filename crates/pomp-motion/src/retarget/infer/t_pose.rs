//! Frames at the ends of a motion that are no motion: a T-pose, or the rest pose, that the motion jumps away from.

use crate::{GlobalPose, JointIndex, SourceMotion, humanoid};
use glam::Vec3;
use std::ops::Range;

/// Source joint of each project joint.
type Joints = [Option<JointIndex>; humanoid::JOINTS];

/// A limb is straight when its ends are at least this share of its length apart.
const STRAIGHT: f32 = 0.96;
/// Cosine of the angle that a limb may be off the T-pose.
const ALONG: f32 = 0.92;
/// Joints at rest are turned by at most this, radians.
const AT_REST: f32 = 0.01;
/// The motion jumps when joints move between two frames by more than this many times the usual.
const JUMP: f32 = 8.0;
/// And by more than this share of the leg, on average.
const LEAST_JUMP: f32 = 0.04;
/// Steps after the pose from which the usual movement is taken.
const USUAL_STEPS: usize = 40;
/// Share of a clip that such frames may be.
const MOST: f32 = 0.5;

/// The frames that are motion, without a T-pose or rest pose at either end that the motion jumps away from.
pub(crate) fn frames_of_motion(source: &SourceMotion, joints: &Joints) -> Range<usize> {
    let frames = source.frames();
    let from = leading(source, joints, &|i| i);
    let to = leading(source, joints, &|i| frames - 1 - i);
    if from + to == 0 || (from + to) as f32 > MOST * frames as f32 { 0..frames } else { from..frames - to }
}

/// Number of such frames from one end; `frame` counts from there.
fn leading(source: &SourceMotion, joints: &Joints, frame: &dyn Fn(usize) -> usize) -> usize {
    let frames = source.frames();
    let is_pose = |i: usize| is_rest(source, frame(i)) || is_t_pose(&source.global_pose(frame(i)), joints);
    let mut count = 0;
    while count < frames && is_pose(count) {
        count += 1;
    }
    if count == 0 || count + 3 > frames {
        return 0;
    }
    let step = |i: usize| movement(source, joints, frame(i), frame(i + 1));
    let mut usual: Vec<f32> = (count..(count + USUAL_STEPS).min(frames - 1)).map(step).collect();
    usual.sort_by(f32::total_cmp);
    let jump = step(count - 1);
    if jump > LEAST_JUMP && jump > JUMP * usual[usual.len() / 2] { count } else { 0 }
}

/// Whether all joints but the root are at rest.
fn is_rest(source: &SourceMotion, frame: usize) -> bool {
    let rotations = &source.poses[frame].local_rotations;
    rotations.len() > 1
        && rotations[1..].iter().all(|turn| turn.angle_between(glam::Quat::IDENTITY) < AT_REST)
}

/// Whether the legs are straight down and the arms straight out.
pub(super) fn is_t_pose(pose: &GlobalPose, joints: &Joints) -> bool {
    let at = |role: JointIndex| joints[role.0].map(|joint| pose.positions[joint.0]);
    let limb = |first: JointIndex| {
        let [root, middle, end] = [0, 1, 2].map(|i| at(JointIndex(first.0 + i)));
        let (root, middle, end) = (root?, middle?, end?);
        let length = root.distance(middle) + middle.distance(end);
        (root.distance(end) > STRAIGHT * length).then(|| (root, (end - root).normalize_or_zero()))
    };
    let limbs =
        [humanoid::LEFT_UP_LEG, humanoid::RIGHT_UP_LEG, humanoid::LEFT_ARM, humanoid::RIGHT_ARM].map(limb);
    let [Some(left_leg), Some(right_leg), Some(left_arm), Some(right_arm)] = limbs else { return false };
    let across = (left_arm.0 - right_arm.0).normalize_or_zero();
    let up = ((left_arm.0 + right_arm.0) - (left_leg.0 + right_leg.0)).normalize_or_zero();
    [(left_leg.1, -up), (right_leg.1, -up), (left_arm.1, across), (right_arm.1, -across)]
        .iter()
        .all(|(way, wanted)| way.dot(*wanted) > ALONG)
}

/// Mean distance that mapped joints move between two frames, as seen from the hips, over the length of the leg.
fn movement(source: &SourceMotion, joints: &Joints, a: usize, b: usize) -> f32 {
    let (a, b) = (source.global_pose(a), source.global_pose(b));
    let Some(hips) = joints[humanoid::HIPS.0] else { return 0.0 };
    let local = |pose: &GlobalPose, joint: JointIndex| {
        pose.rotations[hips.0].inverse() * (pose.positions[joint.0] - pose.positions[hips.0])
    };
    let mapped: Vec<JointIndex> = joints.iter().flatten().copied().collect();
    let way: f32 = mapped.iter().map(|&joint| local(&a, joint).distance(local(&b, joint))).sum();
    let leg: f32 = [humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG]
        .iter()
        .map(|role| {
            let end = |role: usize| joints[role].map_or(Vec3::ZERO, |joint| a.positions[joint.0]);
            end(role.0).distance(end(role.0 + 1))
        })
        .sum();
    way / (mapped.len().max(1) as f32 * leg.max(f32::MIN_POSITIVE))
}
