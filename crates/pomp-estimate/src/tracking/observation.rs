//! What a tracker sees.

use super::{FRAMES_PER_STEP, Reference};
use glam::{Quat, Vec3};
use pomp_motion::humanoid::{self, JOINTS};
use pomp_motion::{GlobalPose, JointIndex, RootFrame, Skeleton, rotation};
use pomp_physics::PoseVelocity;

/// Blocks of an observation in their order, with their numbers.
pub const BLOCKS: [(&str, usize); 8] = [
    ("joints", 3 * JOINTS),
    ("rotations", 6 * JOINTS),
    ("velocities", 3 * JOINTS),
    ("rates", 3 * JOINTS),
    ("clip", 2 * 6 * JOINTS),
    ("phase", 1),
    ("ground", 9),
    ("feet", 4),
];

/// Numbers of an observation.
pub const OBSERVATION: usize = (3 + 6 + 3 + 3 + 12) * JOINTS + 14;

/// Steps after the present one of the two poses of the clip that are seen: the next one, and a quarter of a second.
const AHEAD: [usize; 2] = [1, 8];
/// Where the ground is seen, metres ahead and left.
const PROBES_AHEAD_M: [f32; 3] = [0.0, 0.5, 1.0];
const PROBES_LEFT_M: [f32; 3] = [-0.4, 0.0, 0.4];
/// No number is larger in size.
pub(super) const MOST: f32 = 100.0;

/// Where joints are and how they move, world.
#[derive(Clone, Debug)]
pub(super) struct BodyState {
    pub(super) pose: GlobalPose,
    /// Velocity of each joint, m/s.
    pub(super) linear: Vec<Vec3>,
    /// Angular velocity of each joint relative to its parent, in the parent's frame, rad/s; the root's in the world.
    pub(super) relative: Vec<Vec3>,
}

/// The state of a body of this pose and these velocities.
pub(super) fn body_state(skeleton: &Skeleton, pose: GlobalPose, velocity: &PoseVelocity) -> BodyState {
    let (mut linear, mut angular) = (vec![velocity.root_linear; skeleton.len()], velocity.angular.clone());
    for joint in 1..skeleton.len() {
        let parent = skeleton.parent(JointIndex(joint)).map_or(0, |parent| parent.0);
        angular[joint] = angular[parent] + pose.rotations[parent] * velocity.angular[joint];
        linear[joint] =
            linear[parent] + angular[parent].cross(pose.positions[joint] - pose.positions[parent]);
    }
    BodyState { pose, linear, relative: velocity.angular.to_vec() }
}

/// Writes what a body sees at `frame` of the clip; `feet_ns` are the vertical impulses on the feet in the last frame.
pub(super) fn observe(
    reference: &Reference,
    body: &BodyState,
    frame: usize,
    feet_ns: [f32; 4],
    out: &mut Vec<f32>,
) {
    let begin = out.len();
    let hips = body.pose.positions[humanoid::HIPS.0];
    let ground_y = reference.terrain.height(hips.x, hips.z);
    let root = RootFrame::of_pose(&body.pose, ground_y);
    let turn = |v: Vec3| root.vector_to_root(v).to_array();
    out.extend(body.pose.positions.iter().flat_map(|p| root.to_root(*p).to_array()));
    out.extend(body.pose.rotations.iter().flat_map(|q| rotation::to_6d(root.rotation_to_root(*q))));
    out.extend(body.linear.iter().flat_map(|v| turn(*v)));
    out.extend(turn(body.relative[0]));
    out.extend(body.relative[1..].iter().flat_map(Vec3::to_array));
    for ahead in AHEAD {
        let clip = reference.placed(frame + ahead * FRAMES_PER_STEP);
        let pairs = || clip.positions.iter().zip(&body.pose.positions);
        out.extend(pairs().flat_map(|(to, from)| turn(*to - *from)));
        let pairs = clip.rotations.iter().zip(&body.pose.rotations);
        out.extend(pairs.flat_map(|(to, from): (&Quat, &Quat)| turn(rotation::log(*to * from.inverse()))));
    }
    out.push(frame as f32 / reference.last() as f32);
    for ahead in PROBES_AHEAD_M {
        for left in PROBES_LEFT_M {
            // +X is to the left of a body that faces +Z.
            let at = root.to_world(Vec3::new(left, 0.0, ahead));
            out.push(reference.terrain.height(at.x, at.z) - ground_y);
        }
    }
    out.extend(feet_ns);
    out[begin..].iter_mut().for_each(|value| *value = value.clamp(-MOST, MOST));
}
