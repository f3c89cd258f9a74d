use crate::{FrameTable, GlobalPose, MotionError, Pose, Skeleton};
use glam::{Quat, Vec3};
use std::sync::Arc;

/// A motion: a skeleton and its poses at a constant frame rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// Name without folder or extension.
    pub name: String,
    /// The skeleton that the poses belong to.
    pub skeleton: Arc<Skeleton>,
    /// Frames per second.
    pub frame_rate_hz: f32,
    /// One pose per frame, at least one.
    pub poses: Vec<Pose>,
}

impl Clip {
    /// Checks that there is a frame, that the rate is positive, that sizes agree and that all is finite.
    ///
    /// # Errors
    /// The first rule broken, with its frame.
    pub fn new(
        name: impl Into<String>,
        skeleton: Arc<Skeleton>,
        frame_rate_hz: f32,
        poses: Vec<Pose>,
    ) -> Result<Self, MotionError> {
        let name = name.into();
        let bad = |reason: String| MotionError::BadClip { name: name.clone(), reason };
        if poses.is_empty() {
            return Err(bad("it has no frames".to_owned()));
        }
        if !(frame_rate_hz.is_finite() && frame_rate_hz > 0.0) {
            return Err(bad(format!("its frame rate is {frame_rate_hz} Hz")));
        }
        for (frame, pose) in poses.iter().enumerate() {
            if pose.local_rotations.len() != skeleton.len() {
                return Err(MotionError::SizeMismatch {
                    what: format!("rotations of frame {frame} of clip \"{name}\""),
                    expected: skeleton.len(),
                    found: pose.local_rotations.len(),
                });
            }
            let not_finite =
                |column| MotionError::NotFinite { what: format!("clip \"{name}\""), frame, column };
            if !pose.root_position.is_finite() {
                return Err(not_finite(0));
            }
            if let Some(column) = pose.local_rotations.iter().position(|q| !q.is_finite()) {
                return Err(not_finite(column));
            }
        }
        Ok(Self { name, skeleton, frame_rate_hz, poses })
    }

    /// This clip's name, skeleton and frame rate with other `poses` `[T]` of the skeleton, at least one.
    #[must_use]
    pub fn with_poses(&self, poses: Vec<Pose>) -> Self {
        Self {
            name: self.name.clone(),
            skeleton: Arc::clone(&self.skeleton),
            frame_rate_hz: self.frame_rate_hz,
            poses,
        }
    }

    /// Number of frames, T.
    pub fn frames(&self) -> usize {
        self.poses.len()
    }

    /// Time from the first to the last frame, seconds.
    pub fn duration_s(&self) -> f32 {
        (self.frames() - 1) as f32 / self.frame_rate_hz
    }

    /// World pose of every frame.
    pub fn global_poses(&self) -> Vec<GlobalPose> {
        self.poses.iter().map(|pose| self.skeleton.forward_kinematics(pose)).collect()
    }

    /// The clip at another rate: spherical (linear for the root) interpolation between the nearest frames.
    ///
    /// The last frame of the result is the last whole step of 1/`frame_rate_hz` within the clip.
    pub fn resampled(&self, frame_rate_hz: f32) -> Self {
        if (frame_rate_hz - self.frame_rate_hz).abs() < 1e-3 {
            return Self { frame_rate_hz, ..self.clone() };
        }
        let ratio = f64::from(self.frame_rate_hz) / f64::from(frame_rate_hz);
        let last = self.frames() - 1;
        let frames = (last as f64 / ratio + 1e-6).floor() as usize + 1;
        let poses = (0..frames)
            .map(|frame| {
                let at = frame as f64 * ratio;
                let before = (at.floor() as usize).min(last);
                let after = (before + 1).min(last);
                self.poses[before].lerp(&self.poses[after], (at - before as f64) as f32)
            })
            .collect();
        Self { name: self.name.clone(), skeleton: Arc::clone(&self.skeleton), frame_rate_hz, poses }
    }

    /// The clip from its last frame to its first.
    pub fn reversed(&self) -> Self {
        let poses = self.poses.iter().rev().cloned().collect();
        let (name, skeleton) = (self.name.clone(), Arc::clone(&self.skeleton));
        Self { name, skeleton, frame_rate_hz: self.frame_rate_hz, poses }
    }

    /// The clip reflected in the plane x = 0, left and right swapped.
    ///
    /// Exact for skeletons whose rest pose is symmetric with joint frames aligned with the world, such as
    /// the project skeleton.
    pub fn mirrored(&self) -> Self {
        let map = self.skeleton.mirror_map();
        let poses = self
            .poses
            .iter()
            .map(|pose| {
                let p = pose.root_position;
                let local_rotations = map
                    .iter()
                    .map(|source| {
                        let q = pose.local_rotations[source.0];
                        Quat::from_xyzw(q.x, -q.y, -q.z, q.w)
                    })
                    .collect();
                Pose { root_position: Vec3::new(-p.x, p.y, p.z), local_rotations }
            })
            .collect();
        let name = format!("{}_mirrored", self.name);
        Self { name, skeleton: Arc::clone(&self.skeleton), frame_rate_hz: self.frame_rate_hz, poses }
    }
}

/// Velocities of `positions` by central differences, one-sided at the ends, in units per second.
pub(crate) fn central_velocities(positions: &FrameTable<Vec3>, frame_rate_hz: f32) -> FrameTable<Vec3> {
    let last = positions.frames().saturating_sub(1);
    let mut velocities = FrameTable::with_columns(positions.columns());
    for frame in 0..positions.frames() {
        let (before, after) = (frame.saturating_sub(1), (frame + 1).min(last));
        let scale = frame_rate_hz / (after - before).max(1) as f32;
        let row: Vec<Vec3> =
            positions[before].iter().zip(&positions[after]).map(|(a, b)| (*b - *a) * scale).collect();
        velocities.push(&row);
    }
    velocities
}
