//! The rest of a clip, moved to where the body stands.

use glam::Vec3;
use pomp_motion::rotation::{from_yaw, wrap_angle};
use pomp_motion::{Clip, GlobalPose, Pose, RootFrame, humanoid};

/// A clip from one of its frames on, in another place.
pub(super) struct Laid {
    /// The frame of the clip that it begins with.
    pub first: usize,
    /// Moved so that it begins where the body stands, on the same foot.
    pub clip: Clip,
}

/// Moves the rest of `clip` to a body that stands in `stood`, beginning with the frame among `frames` whose pose is nearest to
/// it. `contact` are the foot contacts of the clip; both are on level ground of height `level_m`.
pub(super) fn lay(
    clip: &Clip,
    contact: &[[bool; 4]],
    level_m: f32,
    frames: std::ops::RangeInclusive<usize>,
    stood: &Pose,
) -> Laid {
    let pose = |frame: usize| clip.skeleton.forward_kinematics(&clip.poses[frame]);
    let stood = clip.skeleton.forward_kinematics(stood);
    let start = *frames.start();
    let far = |frame: &usize| far(&pose(*frame), &stood, level_m);
    let first = frames.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(start);
    let begins = pose(first);
    let (from, to) = (RootFrame::of_pose(&begins, level_m), RootFrame::of_pose(&stood, level_m));
    let turn = from_yaw(wrap_angle(to.yaw - from.yaw));
    let (anchor_from, anchor_to) = (anchor(&begins, contact[first]), anchor(&stood, contact[first]));
    let poses = clip.poses[first..].iter().map(|pose| {
        let mut laid = pose.clone();
        laid.root_position = turn * (pose.root_position - anchor_from) + anchor_to;
        laid.root_position.y = pose.root_position.y;
        laid.local_rotations[0] = (turn * pose.local_rotations[0]).normalize();
        laid
    });
    Laid { first, clip: clip.with_poses(poses.collect()) }
}

/// Mean distance of the joints of two poses, each in its own root frame, metres.
fn far(a: &GlobalPose, b: &GlobalPose, level_m: f32) -> f32 {
    let (in_a, in_b) = (RootFrame::of_pose(a, level_m), RootFrame::of_pose(b, level_m));
    let pairs = a.positions.iter().zip(&b.positions);
    let sum: f32 = pairs.map(|(p, q)| in_a.to_root(*p).distance(in_b.to_root(*q))).sum();
    sum / a.positions.len() as f32
}

/// The point that stays in place: the feet in contact, or the pelvis in flight.
fn anchor(pose: &GlobalPose, contact: [bool; 4]) -> Vec3 {
    let feet = [(humanoid::LEFT_FOOT, 0), (humanoid::RIGHT_FOOT, 1)];
    let standing: Vec<Vec3> = feet
        .iter()
        .filter(|(_, side)| contact[2 * side] || contact[2 * side + 1])
        .map(|(foot, _)| pose.positions[foot.0])
        .collect();
    if standing.is_empty() {
        return pose.positions[humanoid::HIPS.0];
    }
    standing.iter().sum::<Vec3>() / standing.len() as f32
}
