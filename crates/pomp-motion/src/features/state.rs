use crate::rotation::{from_yaw, wrap_angle};
use crate::{GlobalPose, PerJoint, Pose, RootFrame, Skeleton};
use glam::{Quat, Vec2, Vec3};

/// A pose and its velocities as seen from the character's own root frame.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterState {
    /// The frame that everything below is given in.
    pub frame: RootFrame,
    /// Joint positions, metres `[J]`.
    pub positions_root: PerJoint<Vec3>,
    /// Joint velocities, m/s `[J]`.
    pub velocities_root: PerJoint<Vec3>,
    /// Local rotations `[J]`; the root's relative to the frame's yaw.
    pub rotations_local: PerJoint<Quat>,
    /// Velocity of the root on the ground plane (x, z), m/s.
    pub root_velocity: Vec2,
    /// Rate of the heading, rad/s.
    pub yaw_rate: f32,
}

impl CharacterState {
    /// The state of a world pose with world joint velocities, standing on ground of height `ground_y`.
    ///
    /// The root velocity is that of the pelvis; `yaw_rate` (rad/s) is the caller's, since a single pose
    /// does not tell it.
    ///
    /// # Panics
    /// When sizes disagree with the skeleton.
    pub fn from_world(
        skeleton: &Skeleton,
        pose: &GlobalPose,
        velocities: &[Vec3],
        yaw_rate: f32,
        ground_y: f32,
    ) -> Self {
        assert_eq!(velocities.len(), skeleton.len(), "one velocity per joint");
        let frame = RootFrame::of_pose(pose, ground_y);
        let mut rotations_local = pose.to_local(skeleton).local_rotations;
        rotations_local[0] = frame.rotation_to_root(rotations_local[0]);
        let velocities_root: PerJoint<Vec3> = velocities.iter().map(|v| frame.vector_to_root(*v)).collect();
        let root_velocity = Vec2::new(velocities_root[0].x, velocities_root[0].z);
        Self {
            frame,
            positions_root: pose.positions.iter().map(|p| frame.to_root(*p)).collect(),
            velocities_root,
            rotations_local,
            root_velocity,
            yaw_rate,
        }
    }

    /// The pose in the world: bones from the skeleton, rotations and pelvis height from `self`.
    pub fn to_pose(&self) -> Pose {
        let mut local_rotations = self.rotations_local.clone();
        local_rotations[0] = (from_yaw(self.frame.yaw) * local_rotations[0]).normalize();
        Pose { root_position: self.frame.to_world(self.positions_root[0]), local_rotations }
    }

    /// Rate of the heading between two frames `dt_s` apart, rad/s.
    pub fn yaw_rate_between(before: &RootFrame, after: &RootFrame, dt_s: f32) -> f32 {
        wrap_angle(after.yaw - before.yaw) / dt_s
    }
}
