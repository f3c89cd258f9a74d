use super::SourceFrame;
use crate::Clip;
use serde::Serialize;

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
