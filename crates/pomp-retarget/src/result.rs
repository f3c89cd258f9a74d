use crate::skeleton_file::kind;
use crate::{OntoReport, RetargetOntoError, SkeletonFile, TargetSkeleton};
use glam::{Quat, Vec3};
use pomp_formats::{BvhWriteOptions, write_bvh, write_glb};
use pomp_motion::retarget::{LengthUnit, RigLibrary, UpAxis, reflected};
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
    pub(crate) file: SkeletonFile,
    pub(crate) carrier: usize,
    pub(crate) mirrored: bool,
}

impl OntoSkeleton {
    /// Writes the motion in the form of the target's file: `.bvh` with the channels, unit and axes of a BVH file, `.glb` with everything
    /// in a GLB or glTF file. The other one of the two has Y up and the joints alone: `.bvh` in centimetres, `.glb` in metres with a drawn
    /// bone per joint.
    ///
    /// # Errors
    /// [`RetargetOntoError::UnknownKind`] for any other file; what the writers refuse.
    pub fn write(&self, path: &Path) -> Result<(), RetargetOntoError> {
        if self.file.write(path, &self.motion)? {
            return Ok(());
        }
        write_clip(path, || self.to_clip())
    }

    /// The motion as a clip: metres, Y up, the root carries the body. Joint frames are turned with the up axis, so that no
    /// rotation is still the rest pose.
    ///
    /// # Errors
    /// When a value is not finite.
    pub fn to_clip(&self) -> Result<Clip, RetargetOntoError> {
        let motion =
            if self.mirrored { Cow::Owned(reflected(&self.motion)) } else { Cow::Borrowed(&self.motion) };
        let frame = &self.report.source_frame;
        upright_clip(&motion, self.carrier, frame.unit, frame.up_axis)
    }
}

/// Writes a motion that is on the skeleton of a file, in its unit and axes, with the root carrying the body; `to` is the path of that
/// file. Files are those of [`OntoSkeleton::write`]. A rig map is needed only for a file of the other form, to know unit and up axis.
///
/// # Errors
/// As [`OntoSkeleton::write`]; a skeleton that no rig map fits, where one is needed.
pub fn write_onto(
    path: &Path,
    file: &SkeletonFile,
    to: &Path,
    motion: &SourceMotion,
    rigs: &RigLibrary,
) -> Result<(), RetargetOntoError> {
    if file.write(path, motion)? {
        return Ok(());
    }
    write_clip(path, || {
        let target = TargetSkeleton::of(file.clone(), to, rigs)?;
        let motion = if target.mirrored { Cow::Owned(reflected(motion)) } else { Cow::Borrowed(motion) };
        upright_clip(&motion, 0, target.source_frame.unit, target.source_frame.up_axis)
    })
}

fn write_clip(
    path: &Path,
    clip: impl FnOnce() -> Result<Clip, RetargetOntoError>,
) -> Result<(), RetargetOntoError> {
    match kind(path).as_deref() {
        Some("bvh") => Ok(write_bvh(path, &clip()?, &BvhWriteOptions::default())?),
        Some("glb") => Ok(write_glb(path, &clip()?)?),
        _ => Err(RetargetOntoError::UnknownKind { path: path.to_path_buf() }),
    }
}

/// A motion of a file as a clip: metres, Y up, the root carries the body instead of `carrier`.
fn upright_clip(
    motion: &SourceMotion,
    carrier: usize,
    unit: LengthUnit,
    up: UpAxis,
) -> Result<Clip, RetargetOntoError> {
    let metres = unit.metres();
    let turn = up.world_from_file();
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
            let carried = travel_below_root(motion, carrier, frame, offset(carrier));
            Pose {
                root_position: turn * (pose.root_position + carried) * metres,
                local_rotations: pose.local_rotations.iter().map(|&q| turned(q)).collect(),
            }
        })
        .collect();
    Ok(Clip::new(motion.name.clone(), skeleton, motion.frame_rate_hz, poses)?)
}

/// How far a carrier below the root is from its place at rest, in the file's axes and unit.
fn travel_below_root(motion: &SourceMotion, carrier: usize, frame: usize, rest: Vec3) -> Vec3 {
    let Some(table) = motion.joint_translations.as_ref().filter(|_| carrier > 0) else { return Vec3::ZERO };
    let world = motion.global_pose(frame);
    let parent = motion.skeleton.joints()[carrier].parent;
    parent.map_or(Vec3::ZERO, |parent| world.rotations[parent.0] * (table[frame][carrier] - rest))
}
