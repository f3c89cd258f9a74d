//! Rotations beyond what glam offers: exponential map, 6D representation, yaw, swing and twist.

use glam::{Mat3, Quat, Vec3};

/// Rotation vector (axis × angle, angle in [0, π]) of a unit quaternion.
pub fn log(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let s = v.length();
    if s < 1e-6 { v * 2.0 } else { v * (2.0 * s.atan2(q.w) / s) }
}

/// Unit quaternion of a rotation vector; the inverse of [`log`].
pub fn exp(v: Vec3) -> Quat {
    Quat::from_scaled_axis(v)
}

/// 6D representation: the first two columns of the rotation matrix (Zhou et al., CVPR 2019).
pub fn to_6d(q: Quat) -> [f32; 6] {
    let m = Mat3::from_quat(q);
    [m.x_axis.x, m.x_axis.y, m.x_axis.z, m.y_axis.x, m.y_axis.y, m.y_axis.z]
}

/// Rotation of any 6D vector by Gram-Schmidt; degenerate input gives the nearest defined frame.
pub fn from_6d(d: [f32; 6]) -> Quat {
    let x = Vec3::new(d[0], d[1], d[2]).try_normalize().unwrap_or(Vec3::X);
    let y_raw = Vec3::new(d[3], d[4], d[5]);
    let y = (y_raw - x * x.dot(y_raw)).try_normalize().unwrap_or_else(|| x.any_orthonormal_vector());
    Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y))).normalize()
}

/// Yaw in (−π, π] of the direction `v` projected on the ground; 0 faces +Z, positive turns to +X (left).
pub fn yaw_of_direction(v: Vec3) -> f32 {
    v.x.atan2(v.z)
}

/// Rotation about +Y by `yaw`.
pub fn from_yaw(yaw: f32) -> Quat {
    Quat::from_rotation_y(yaw)
}

/// `angle` brought to (−π, π].
pub fn wrap_angle(angle: f32) -> f32 {
    let wrapped = angle.rem_euclid(std::f32::consts::TAU);
    if wrapped > std::f32::consts::PI { wrapped - std::f32::consts::TAU } else { wrapped }
}

/// Splits `q` into `swing * twist` with the twist about the unit `axis`.
pub fn swing_twist(q: Quat, axis: Vec3) -> (Quat, Quat) {
    let p = Vec3::new(q.x, q.y, q.z).dot(axis);
    let v = axis * p;
    let twist = Quat::from_xyzw(v.x, v.y, v.z, q.w);
    let twist = if twist.length_squared() < 1e-12 { Quat::IDENTITY } else { twist.normalize() };
    (q * twist.inverse(), twist)
}

/// Angular velocity (rad/s, in the frame that both rotations are given in) that takes `from` to `to` in `dt` seconds.
pub fn angular_velocity(from: Quat, to: Quat, dt: f32) -> Vec3 {
    log(to * from.inverse()) / dt
}
