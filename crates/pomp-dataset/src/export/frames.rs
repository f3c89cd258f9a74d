//! A recording in the axes of robotics: Z up, X ahead, Y to the left.

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{JointIndex, Recording, rotation};

/// A vector of ours (Y up, Z ahead, X to the left) in their axes.
pub(super) fn vector(v: Vec3) -> [f32; 3] {
    [v.z, v.x, v.y]
}

/// A rotation of ours in their axes: the axis is turned as any vector.
pub(super) fn quaternion(q: Quat) -> Quat {
    // Of q and −q, which are the same rotation, the one that logarithms take as the shorter way.
    let q = if q.w < 0.0 { -q } else { q };
    Quat::from_xyzw(q.z, q.x, q.y, q.w)
}

/// Rotation of `joint` against its parent, in their axes; the root's against the world.
pub(super) fn local(recording: &Recording, frame: usize, joint: usize) -> Quat {
    let world = recording.quaternions[frame][joint];
    quaternion(match recording.skeleton.parent(JointIndex(joint)) {
        None => world,
        Some(parent) => (recording.quaternions[frame][parent.0].inverse() * world).normalize(),
    })
}

/// Rotation vector of a rotation that is in their axes already, radians.
pub(super) fn rotation_vector(q: Quat) -> [f32; 3] {
    rotation::log(q).to_array()
}

/// Refuses what the formats of robotics cannot hold.
pub(super) fn check(recording: &Recording) -> Result<(), String> {
    if recording.frames() < 2 {
        return Err("it has one frame; velocities need two".to_owned());
    }
    Ok(())
}
