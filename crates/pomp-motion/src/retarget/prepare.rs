//! What a rig map states of its files, done to a motion before it is retargeted.

use super::infer::frames_of_motion;
use super::mirror::reflected;
use super::{RetargetError, RetargetOptions, RigMap};
use crate::{FrameTable, SourceMotion};
use std::borrow::Cow;

/// The motion without a T-pose at its ends, where the rig map says that it is left out, and a sentence on it. A motion that
/// has been through this stays as it is.
///
/// # Errors
/// [`RetargetError::RigDoesNotFit`].
pub fn without_t_pose<'a>(
    source: &'a SourceMotion,
    rig: &RigMap,
) -> Result<(Cow<'a, SourceMotion>, Option<String>), RetargetError> {
    if !rig.file.leave_out_t_pose {
        return Ok((Cow::Borrowed(source), None));
    }
    let joints = rig.match_skeleton(&source.skeleton)?;
    let kept = frames_of_motion(source, &joints.source_joints);
    if kept == (0..source.frames()) {
        return Ok((Cow::Borrowed(source), None));
    }
    let rows = |table: &FrameTable<glam::Vec3>| {
        let columns = table.columns();
        FrameTable::from_values(columns, table.values()[kept.start * columns..kept.end * columns].to_vec())
    };
    let left_out = source.frames() - kept.len();
    let sentence = format!(
        "{left_out} of {} frames are left out: a T-pose or rest pose {} that the motion jumps away from",
        source.frames(),
        if kept.start > 0 { "at the beginning" } else { "at the end" }
    );
    let motion = SourceMotion {
        poses: source.poses[kept.clone()].to_vec(),
        joint_translations: source.joint_translations.as_ref().and_then(rows),
        ..source.clone()
    };
    Ok((Cow::Owned(motion), Some(sentence)))
}

/// [`without_t_pose`], and a left-handed file reflected.
pub(super) fn prepared<'a>(
    source: &'a SourceMotion,
    rig: &RigMap,
) -> Result<(Cow<'a, SourceMotion>, Vec<String>), RetargetError> {
    let (motion, left_out) = without_t_pose(source, rig)?;
    let mut repairs: Vec<String> = left_out.into_iter().collect();
    if !rig.file.mirrored {
        return Ok((motion, repairs));
    }
    repairs.push(
        "the file has a left-handed world and shows the mirror image; it is reflected in x = 0".to_owned(),
    );
    Ok((Cow::Owned(reflected(&motion)), repairs))
}

/// The options, with what the rig map states in place of what the caller leaves open.
pub(super) fn stated(options: &RetargetOptions, rig: &RigMap) -> RetargetOptions {
    RetargetOptions {
        unit: options.unit.or(rig.file.unit),
        up_axis: options.up_axis.or(rig.file.up_axis),
        ..*options
    }
}
