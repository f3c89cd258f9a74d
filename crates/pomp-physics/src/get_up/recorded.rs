//! A recorded way up.

use pomp_motion::glam::Vec3;
use pomp_motion::rotation::{from_yaw, yaw_of_direction};
use pomp_motion::{Clip, GlobalPose, Pose, RootFrame, Skeleton, humanoid};

/// A recorded person who got up from level ground: poses from lying to standing, in the frame of the last one.
#[derive(Clone, Debug)]
pub struct RecordedWay {
    name: String,
    poses: Vec<Pose>,
    frame_s: f32,
    /// The first pose.
    lies: GlobalPose,
}

impl RecordedWay {
    /// All of `clip`, which begins lying and ends standing on ground of height `ground_y` metres, for a body on `skeleton`:
    /// heights and places grow with its legs.
    pub fn new(clip: &Clip, ground_y: f32, skeleton: &Skeleton) -> Self {
        let scale = skeleton.joints()[0].offset.y / clip.skeleton.joints()[0].offset.y;
        let last = &clip.poses[clip.frames() - 1];
        let stands = RootFrame::of_pose(&clip.skeleton.forward_kinematics(last), ground_y);
        let poses: Vec<Pose> = clip
            .poses
            .iter()
            .map(|pose| {
                let mut pose = pose.clone();
                pose.root_position = stands.to_root(pose.root_position) * scale;
                pose.local_rotations[0] = stands.rotation_to_root(pose.local_rotations[0]).normalize();
                pose
            })
            .collect();
        let lies = skeleton.forward_kinematics(&poses[0]);
        Self { name: clip.name.clone(), poses, frame_s: 1.0 / clip.frame_rate_hz, lies }
    }

    /// Name of the clip.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Time from the first pose to the last, seconds.
    pub(super) fn duration_s(&self) -> f32 {
        (self.poses.len() - 1) as f32 * self.frame_s
    }

    /// Where it ends when it begins where a body `lies`: pelvis on pelvis, head in the same direction. At height 0.
    pub(super) fn stance(&self, lies: &GlobalPose) -> RootFrame {
        let yaw = heading(lies) - heading(&self.lies);
        let hips = lies.positions[humanoid::HIPS.0] - from_yaw(yaw) * self.lies.positions[humanoid::HIPS.0];
        RootFrame { origin: hips.with_y(0.0), yaw }
    }

    /// Mean distance of the joints of a body that `lies` on ground of height `ground_y` from the first pose, metres.
    pub(super) fn distance(&self, lies: &GlobalPose, ground_y: f32) -> f32 {
        let stance = self.stance(lies);
        let pairs = lies.positions.iter().zip(&self.lies.positions);
        let far = |(p, q): (&Vec3, &Vec3)| (*p - Vec3::Y * ground_y).distance(stance.to_world(*q));
        pairs.map(far).sum::<f32>() / lies.positions.len() as f32
    }

    /// The pose at a time, for a body that will stand in `stance`.
    pub(super) fn pose(&self, time_s: f32, stance: &RootFrame) -> Pose {
        let last = self.poses.len() - 1;
        let at = (time_s / self.frame_s).clamp(0.0, last as f32);
        let here = at as usize;
        let mut pose = self.poses[here].lerp(&self.poses[(here + 1).min(last)], at - here as f32);
        pose.root_position = stance.to_world(pose.root_position);
        pose.local_rotations[0] = stance.rotation_to_world(pose.local_rotations[0]).normalize();
        pose
    }
}

/// Direction from pelvis to neck on the ground, radians.
fn heading(pose: &GlobalPose) -> f32 {
    yaw_of_direction(pose.positions[humanoid::NECK.0] - pose.positions[humanoid::HIPS.0])
}
