use crate::{OntoReport, RetargetOntoError};
use glam::{Quat, Vec3};
use pomp_formats::{BvhFile, write_bvh_like, write_glb};
use pomp_motion::retarget::reflected;
use pomp_motion::{Clip, Joint, Pose, Skeleton, SourceMotion};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// A motion on a target skeleton, and how it came there.
#[derive(Clone, Debug)]
pub struct OntoSkeleton {
    /// The motion in the unit and the axes of the target's file.
    pub motion: SourceMotion,
    /// What was found, missing and measured.
    pub report: OntoReport,
    pub(crate) model: BvhFile,
    pub(crate) carrier: usize,
    pub(crate) mirrored: bool,
}

impl OntoSkeleton {
    /// Writes the motion: `.bvh` with the target's channels, unit and axes, or `.glb` in metres with Y up.
    ///
    /// # Errors
    /// [`RetargetOntoError::UnknownKind`] for any other file; what the writers refuse.
    pub fn write(&self, path: &Path) -> Result<(), RetargetOntoError> {
        let kind = path.extension().and_then(|kind| kind.to_str()).map(str::to_ascii_lowercase);
        match kind.as_deref() {
            Some("bvh") => Ok(write_bvh_like(path, &self.model, &self.motion)?),
            Some("glb") => Ok(write_glb(path, &self.to_clip()?)?),
            _ => Err(RetargetOntoError::UnknownKind { path: path.to_path_buf() }),
        }
    }

    /// The motion as a clip: metres, Y up, the root carries the body. Joint frames are turned with the up axis, so that no
    /// rotation is still the rest pose.
    ///
    /// # Errors
    /// When a value is not finite.
    pub fn to_clip(&self) -> Result<Clip, RetargetOntoError> {
        let motion =
            if self.mirrored { Cow::Owned(reflected(&self.motion)) } else { Cow::Borrowed(&self.motion) };
        let metres = self.report.source_frame.unit.metres();
        let turn = self.report.source_frame.up_axis.world_from_file();
        let turned = |q: Quat| (turn * q * turn.inverse()).normalize();
        let first = motion.joint_translations.as_ref().map(|table| table[0].to_vec());
        let offset = |joint: usize| {
            let written = motion.skeleton.joints()[joint].offset;
            first.as_ref().filter(|_| joint > 0).map_or(written, |translations| translations[joint])
        };
        let joints = motion.skeleton.joints().iter().enumerate();
        let joints = joints
            .map(|(index, joint)| Joint { offset: turn * offset(index) * metres, ..joint.clone() })
            .collect();
        let skeleton = Arc::new(Skeleton::new(joints)?);
        let poses = (0..motion.frames())
            .map(|frame| {
                let pose = &motion.poses[frame];
                let carried = travel_below_root(&motion, self.carrier, frame, offset(self.carrier));
                Pose {
                    root_position: turn * (pose.root_position + carried) * metres,
                    local_rotations: pose.local_rotations.iter().map(|&q| turned(q)).collect(),
                }
            })
            .collect();
        Ok(Clip::new(motion.name.clone(), skeleton, motion.frame_rate_hz, poses)?)
    }
}

/// How far a carrier below the root is from its place at rest, in the file's axes and unit.
fn travel_below_root(motion: &SourceMotion, carrier: usize, frame: usize, rest: Vec3) -> Vec3 {
    let Some(table) = motion.joint_translations.as_ref().filter(|_| carrier > 0) else { return Vec3::ZERO };
    let world = motion.global_pose(frame);
    let parent = motion.skeleton.joints()[carrier].parent;
    parent.map_or(Vec3::ZERO, |parent| world.rotations[parent.0] * (table[frame][carrier] - rest))
}
