use pomp_motion::glam::{Mat3, Quat, Vec3};

/// World rotations of thigh and shank that bring the ankle to a point, or the distance when it is out of reach.
///
/// `left` is the axis about which the knee should bend; the knee goes forward of the line from hip to ankle.
/// Both bones hang along −Y in their rest frames, so the knee is a pure hinge about X.
pub(crate) fn solve(
    hip: Vec3,
    ankle: Vec3,
    left: Vec3,
    thigh_m: f32,
    shank_m: f32,
) -> Result<[Quat; 2], f32> {
    let line = ankle - hip;
    let distance = line.length();
    if distance > thigh_m + shank_m || distance < (thigh_m - shank_m).abs().max(1e-3) {
        return Err(distance);
    }
    let down = line / distance;
    let axis = (left - down * left.dot(down)).normalize();
    let forward = down.cross(axis);
    let cos =
        ((thigh_m * thigh_m + distance * distance - shank_m * shank_m) / (2.0 * thigh_m * distance)).min(1.0);
    let knee = hip + (down * cos + forward * (1.0 - cos * cos).sqrt()) * thigh_m;
    let bone = |from: Vec3, to: Vec3| {
        let up = (from - to).normalize();
        Quat::from_mat3(&Mat3::from_cols(axis, up, axis.cross(up))).normalize()
    };
    Ok([bone(hip, knee), bone(knee, ankle)])
}
