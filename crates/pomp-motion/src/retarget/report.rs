use super::SourceFrame;
use crate::{Clip, Joint, Recording, Skeleton, SourceMotion};
use glam::Vec3;
use serde::Serialize;
use std::sync::Arc;

/// Mean distance of one joint from the source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JointError {
    /// Project joint.
    pub joint: String,
    /// Mean distance from the source scaled as a whole by the ratio of leg lengths, metres. Contains the
    /// differences in proportions that fixed bone lengths cannot follow.
    pub scaled_m: f32,
    /// Mean distance from the source scaled limb by limb (legs, pelvis width, torso, shoulder width and arms
    /// each by their own ratio), metres: the error of the directions.
    pub limb_scaled_m: f32,
}

/// Everything that retargeting found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RetargetReport {
    /// Rig map used.
    pub rig: String,
    /// Unit and up axis with the reasons.
    pub source_frame: SourceFrame,
    /// Leg length of the result over that of the source (both in metres).
    pub scale: f32,
    /// Height added to every frame so that the lowest planted soles are at y = 0, metres.
    pub ground_offset_m: f32,
    /// Project joints that the source lacks.
    pub missing: Vec<String>,
    /// Defects of the file that the rig map knows and that were repaired.
    pub repairs: Vec<String>,
    /// What a person should know before trusting the clip.
    pub warnings: Vec<String>,
    /// Hip joints, knees, ankles, shoulders, elbows and wrists that the source has.
    pub joint_errors: Vec<JointError>,
}

impl RetargetReport {
    /// The source on its own skeleton where the result is: metres, Y up, scaled by the ratio of leg lengths, on the same
    /// ground. Beside the result it shows what the mapping changed.
    ///
    /// # Errors
    /// A length of the file that is not finite in metres.
    pub fn source_beside(&self, source: &SourceMotion) -> Result<Recording, crate::MotionError> {
        let turn = self.source_frame.up_axis.world_from_file();
        let metres = self.source_frame.unit.metres() * self.scale;
        let joints = source.skeleton.joints().iter();
        let joints = joints.map(|joint| Joint { offset: joint.offset * metres, ..joint.clone() }).collect();
        let poses: Vec<_> = (0..source.frames())
            .map(|frame| {
                let mut pose = source.global_pose(frame);
                for position in &mut pose.positions {
                    *position = turn * *position * metres + Vec3::Y * self.ground_offset_m;
                }
                for rotation in &mut pose.rotations {
                    *rotation = (turn * *rotation).normalize();
                }
                pose
            })
            .collect();
        let skeleton = Arc::new(Skeleton::new(joints)?);
        Ok(Recording::of_global_poses(&source.name, skeleton, source.frame_rate_hz, &poses))
    }

    /// Mean of [`JointError::scaled_m`] over the joints, metres.
    pub fn mean_scaled_error_m(&self) -> f32 {
        mean(self.joint_errors.iter().map(|e| e.scaled_m))
    }

    /// Mean of [`JointError::limb_scaled_m`] over the joints, metres.
    pub fn mean_limb_scaled_error_m(&self) -> f32 {
        mean(self.joint_errors.iter().map(|e| e.limb_scaled_m))
    }
}

fn mean(values: impl ExactSizeIterator<Item = f32>) -> f32 {
    let count = values.len().max(1) as f32;
    values.sum::<f32>() / count
}

/// A motion on the project skeleton and how it came there.
#[derive(Clone, Debug, PartialEq)]
pub struct Retargeted {
    /// The motion, metres, Y up, at the source's frame rate.
    pub clip: Clip,
    /// What was found, missing and measured.
    pub report: RetargetReport,
}
