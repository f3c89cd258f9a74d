//! A rig map laid on the skeleton of one motion.

use super::calibration::{calibrate, rest_kind};
use super::dropped_bone::with_dropped_bones;
use super::prepare::{prepared, stated};
use super::{MatchReport, RetargetError, RetargetOptions, RigMap, SourceFrame};
use crate::{SourceMotion, humanoid};
use glam::Quat;
use std::borrow::Cow;

/// What is known of a motion's skeleton before anything is retargeted: which joint is which, how the joint frames lie, unit
/// and up axis.
#[derive(Clone, Debug)]
pub struct RigBinding<'a> {
    /// The motion as retargeting sees it: without a T-pose at its ends, a mirror image reflected, lost bones back in place.
    pub motion: Cow<'a, SourceMotion>,
    /// Which joint plays which project joint.
    pub joints: MatchReport,
    /// Unit and up axis.
    pub source_frame: SourceFrame,
    /// Per project joint the constant rotation from its T-pose frame to the frame of the joint that plays it: world rotation
    /// of the project joint = world rotation of the joint × this. `None` for joints that the skeleton lacks.
    pub joint_from_project: [Option<Quat>; humanoid::JOINTS],
    /// Whether the pose with all rotations identity is that of a standing person.
    pub rest_stands: bool,
    /// What was left out, reflected or put back.
    pub repairs: Vec<String>,
}

impl<'a> RigBinding<'a> {
    /// Lays a rig map on a motion. Of the options only unit and up axis are used.
    ///
    /// # Errors
    /// When the rig map does not fit, the unit cannot be told, the rest pose gives no axes, or the motion breaks
    /// the rules of [`SourceMotion::validate`].
    pub fn new(
        source: &'a SourceMotion,
        rig: &RigMap,
        options: &RetargetOptions,
    ) -> Result<Self, RetargetError> {
        source.validate()?;
        let (prepared, mut repairs) = prepared(source, rig)?;
        let (repaired, bones) = with_dropped_bones(&prepared, rig);
        repairs.extend(bones);
        let with_bones = match repaired {
            Cow::Owned(motion) => Some(motion),
            Cow::Borrowed(_) => None,
        };
        let motion = with_bones.map_or(prepared, Cow::Owned);
        let joints = rig.match_skeleton(&motion.skeleton)?;
        let source_frame = SourceFrame::detect(&motion, &joints, &stated(options, rig))?;
        let joint_from_project = calibrate(&motion, rig, &joints)?;
        let rest_stands = rest_kind(&motion, &joints).is_ok();
        Ok(Self { motion, joints, source_frame, joint_from_project, rest_stands, repairs })
    }
}
