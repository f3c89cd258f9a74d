use crate::figure::Figure;
use crate::floor::Floor;
use crate::follow::{Follow, Tree};
use crate::lengths::Lengths;
use crate::{RetargetOntoError, SkeletonFile};
use glam::{Quat, Vec3};
use pomp_motion::retarget::{
    ChosenRig, Inference, LengthUnit, MatchReport, RetargetOptions, RigBinding, RigLibrary, RigMap,
    SourceFrame, reflected,
};
use pomp_motion::{JointIndex, SourceMotion};
use std::path::Path;

/// Most frames of the target's own motion that a mean rest pose is taken over.
const REST_FRAMES: usize = 200;

/// The skeleton of a file, with the rig map that says which joint plays which project joint.
#[derive(Clone, Debug)]
pub struct TargetSkeleton {
    pub(crate) file: SkeletonFile,
    pub(crate) rig: String,
    pub(crate) inference: Option<Box<Inference>>,
    pub(crate) joints: MatchReport,
    pub(crate) source_frame: SourceFrame,
    pub(crate) mirrored: bool,
    pub(crate) figure: Figure,
    /// Translations of the joints in the file, metres. The figure has those of the body: where the converter of the file lost a
    /// bone, it is back in its place there.
    pub(crate) written_offsets: Vec<Vec3>,
    /// The joint whose translation carries the body.
    pub(crate) carrier: usize,
    pub(crate) lengths: Lengths,
    pub(crate) floor: Floor,
    pub(crate) warnings: Vec<String>,
}

impl TargetSkeleton {
    /// Reads a file (.bvh, .glb, .gltf) and finds its rig map; where no known one fits, it is inferred.
    ///
    /// # Errors
    /// As [`SkeletonFile::read`] and [`Self::of`].
    pub fn read(path: &Path, rigs: &RigLibrary) -> Result<Self, RetargetOntoError> {
        Self::of(SkeletonFile::read(path)?, path, rigs)
    }

    /// Finds the rig map of a file that has been read; `path` names the file in errors.
    ///
    /// # Errors
    /// A skeleton that no map fits ([`RetargetOntoError::Rig`]); one whose body cannot move ([`RetargetOntoError::Immovable`]).
    pub fn of(file: SkeletonFile, path: &Path, rigs: &RigLibrary) -> Result<Self, RetargetOntoError> {
        let ChosenRig { rig, inference, warnings, .. } = rigs
            .choose_or_infer(file.motion())
            .map_err(|source| RetargetOntoError::Rig { path: path.to_path_buf(), source })?;
        let rig = rig.into_owned();
        let mut target = Self::new(file, &rig, path)?;
        target.inference = inference;
        target.warnings.extend(warnings);
        Ok(target)
    }

    /// The skeleton of a file with a rig map that is known to fit; `path` names the file in errors.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn new(file: impl Into<SkeletonFile>, rig: &RigMap, path: &Path) -> Result<Self, RetargetOntoError> {
        let file = file.into();
        let path = || path.to_path_buf();
        let binding = RigBinding::new(file.motion(), rig, &RetargetOptions::default())
            .map_err(|source| RetargetOntoError::Rig { path: path(), source })?;
        let motion = if rig.file.mirrored { reflected(file.motion()) } else { file.motion().clone() };
        let mut role_of = vec![None; motion.skeleton.len()];
        for (role, joint) in binding.joints.source_joints.iter().enumerate() {
            if let Some(joint) = joint {
                role_of[joint.0].get_or_insert(JointIndex(role));
            }
        }
        let parents: Vec<Option<JointIndex>> =
            motion.skeleton.joints().iter().map(|joint| joint.parent).collect();
        let metres = binding.source_frame.unit.metres();
        let in_metres = |motion: &SourceMotion| {
            offsets(&file, motion).into_iter().map(|offset| offset * metres).collect()
        };
        let written_offsets = in_metres(&motion);
        let mut figure = Figure {
            offsets: in_metres(&binding.motion),
            follow: role_of.iter().map(|role| role.map_or(Follow::Rest, Follow::Role)).collect(),
            rest: rest(&motion, binding.rest_stands),
            joint_of: binding.joints.source_joints,
            joint_from_project: binding.joint_from_project,
            world_from_file: binding.source_frame.up_axis.world_from_file(),
            parents,
        };
        let t_pose = figure.t_pose();
        let tree = Tree {
            parents: &figure.parents,
            role_of: &role_of,
            rest: &figure.rest,
            t_pose: &t_pose.positions,
        };
        let lowest = tree.carrier();
        let carrier =
            tree.with_ancestors(lowest).into_iter().find(|&joint| file.animates_position(joint)).ok_or_else(
                || RetargetOntoError::Immovable {
                    path: path(),
                    joint: motion.skeleton.joints()[lowest].name.clone(),
                },
            )?;
        figure.follow = tree.followers(figure.pelvis());
        let t_pose = figure.t_pose();
        let floor = Floor::of(file.motion(), rig, &figure, &t_pose, metres);
        let (joints, source_frame) = (binding.joints, binding.source_frame);
        Ok(Self {
            rig: rig.name.clone(),
            inference: None,
            joints,
            mirrored: rig.file.mirrored,
            written_offsets,
            carrier,
            lengths: Lengths::of(|role| figure.at(&t_pose, role)),
            floor,
            warnings: file.warnings(),
            source_frame,
            figure,
            file,
        })
    }

    /// The file.
    pub fn file(&self) -> &SkeletonFile {
        &self.file
    }

    /// Name of the rig map.
    pub fn rig(&self) -> &str {
        &self.rig
    }

    /// How the rig map was inferred, where no known one fits.
    pub fn inference(&self) -> Option<&Inference> {
        self.inference.as_deref()
    }

    /// Which joint plays which project joint.
    pub fn joints(&self) -> &MatchReport {
        &self.joints
    }

    /// Unit of the file.
    pub fn unit(&self) -> LengthUnit {
        self.source_frame.unit
    }
}

/// Translation of every joint from its parent, file units: in a BVH file that animates it that of its first frame, in a GLB file that
/// of the node.
fn offsets(file: &SkeletonFile, motion: &SourceMotion) -> Vec<Vec3> {
    let written = motion.skeleton.joints().iter().map(|joint| joint.offset);
    match (&motion.joint_translations, file) {
        (Some(table), SkeletonFile::Bvh(_)) => table[0].to_vec(),
        _ => written.collect(),
    }
}

/// Rotation of every joint relative to its parent at rest: none where the rest pose stands, else the mean over the target's
/// own motion.
fn rest(motion: &SourceMotion, stands: bool) -> Vec<Quat> {
    let joints = motion.skeleton.len();
    if stands {
        return vec![Quat::IDENTITY; joints];
    }
    let stride = motion.frames().div_ceil(REST_FRAMES);
    (0..joints)
        .map(|joint| {
            let first = motion.poses[0].local_rotations[joint];
            let sum = motion.poses.iter().step_by(stride).fold(glam::Vec4::ZERO, |sum, pose| {
                let rotation = pose.local_rotations[joint];
                let near = if rotation.dot(first) < 0.0 { -rotation } else { rotation };
                sum + glam::Vec4::from(near)
            });
            sum.try_normalize().map_or(first, Quat::from_vec4)
        })
        .collect()
}
