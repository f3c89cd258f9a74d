use crate::rotation::{from_yaw, wrap_angle, yaw_of_direction};
use crate::{GlobalPose, humanoid};
use glam::{Quat, Vec2, Vec3};
use serde::{Deserialize, Serialize};

/// The character's frame: the pelvis projected on the ground, turned by its yaw only.
///
/// `origin.y` is the height of the ground that the frame stands on: 0 on flat ground; on terrain the
/// caller gives a height smoothed over a step (see `HeightMap::smoothed_height` in `pomp-terrain`), so that
/// stairs do not make the frame jump.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RootFrame {
    /// Origin in the world, metres.
    pub origin: Vec3,
    /// Heading, radians; 0 faces +Z, positive turns left (towards +X).
    pub yaw: f32,
}

impl RootFrame {
    /// The frame of a pose of the project skeleton, standing on ground of height `ground_y`.
    ///
    /// The heading is that of the pelvis: its forward axis projected on the ground; when the pelvis looks
    /// straight up or down (lying), its left axis decides.
    pub fn of_pose(pose: &GlobalPose, ground_y: f32) -> Self {
        let hips = pose.positions[humanoid::HIPS.0];
        Self {
            origin: Vec3::new(hips.x, ground_y, hips.z),
            yaw: yaw_of_rotation(pose.rotations[humanoid::HIPS.0]),
        }
    }

    /// World position of a point given in this frame.
    pub fn to_world(&self, point_root: Vec3) -> Vec3 {
        self.origin + from_yaw(self.yaw) * point_root
    }

    /// This frame's coordinates of a world point.
    pub fn to_root(&self, point_world: Vec3) -> Vec3 {
        from_yaw(-self.yaw) * (point_world - self.origin)
    }

    /// World vector of a direction or velocity given in this frame.
    pub fn vector_to_world(&self, vector_root: Vec3) -> Vec3 {
        from_yaw(self.yaw) * vector_root
    }

    /// This frame's coordinates of a world direction or velocity.
    pub fn vector_to_root(&self, vector_world: Vec3) -> Vec3 {
        from_yaw(-self.yaw) * vector_world
    }

    /// World rotation of a rotation given in this frame.
    pub fn rotation_to_world(&self, rotation_root: Quat) -> Quat {
        from_yaw(self.yaw) * rotation_root
    }

    /// This frame's view of a world rotation.
    pub fn rotation_to_root(&self, rotation_world: Quat) -> Quat {
        from_yaw(-self.yaw) * rotation_world
    }

    /// Ground-plane coordinates (x, z) of a world point in this frame.
    pub fn ground_to_root(&self, x: f32, z: f32) -> Vec2 {
        let p = self.to_root(Vec3::new(x, self.origin.y, z));
        Vec2::new(p.x, p.z)
    }

    /// World ground-plane coordinates (x, z) of a point of this frame.
    pub fn ground_to_world(&self, point_root: Vec2) -> Vec2 {
        let p = self.to_world(Vec3::new(point_root.x, 0.0, point_root.y));
        Vec2::new(p.x, p.z)
    }

    /// The frame after moving by `displacement_root` on the ground (in this frame) and turning by `turn`.
    /// The height stays: the caller sets it from the terrain.
    pub fn advanced(&self, displacement_root: Vec2, turn: f32) -> Self {
        let to = self.ground_to_world(displacement_root);
        Self { origin: Vec3::new(to.x, self.origin.y, to.y), yaw: wrap_angle(self.yaw + turn) }
    }
}

/// Heading of a joint frame: its forward (+Z) axis on the ground, or, where that axis is nearly vertical, its
/// left (+X) axis turned by a quarter.
pub(crate) fn yaw_of_rotation(rotation: Quat) -> f32 {
    let forward = rotation * Vec3::Z;
    if forward.y.abs() < 0.9 {
        yaw_of_direction(forward)
    } else {
        let left = rotation * Vec3::X;
        wrap_angle(yaw_of_direction(left) - std::f32::consts::FRAC_PI_2)
    }
}
