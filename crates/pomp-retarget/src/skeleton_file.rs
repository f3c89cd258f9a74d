use crate::RetargetOntoError;
use glam::Quat;
use pomp_formats::{
    BvhFile, FormatError, GlbModel, read_bvh, read_glb_model, write_bvh_like, write_glb_like,
};
use pomp_motion::{JointIndex, SourceMotion};
use std::path::Path;

/// A file with a skeleton that motions are written on.
#[derive(Clone, Debug)]
pub enum SkeletonFile {
    /// A BVH file. Its channels say what a joint can do.
    Bvh(BvhFile),
    /// A GLB or glTF file. Every joint can turn and move.
    Glb(GlbModel),
}

impl From<BvhFile> for SkeletonFile {
    fn from(file: BvhFile) -> Self {
        Self::Bvh(file)
    }
}

impl From<GlbModel> for SkeletonFile {
    fn from(model: GlbModel) -> Self {
        Self::Glb(model)
    }
}

/// The ending of a file in lower case.
pub(crate) fn kind(path: &Path) -> Option<String> {
    path.extension()?.to_str().map(str::to_ascii_lowercase)
}

impl SkeletonFile {
    /// Reads a skeleton (.bvh, .glb, .gltf).
    ///
    /// # Errors
    /// [`RetargetOntoError::NoSkeletonFile`] for a file of another kind; a file that its reader refuses.
    pub fn read(path: &Path) -> Result<Self, RetargetOntoError> {
        match kind(path).as_deref() {
            Some("bvh") => Ok(Self::Bvh(read_bvh(path)?)),
            Some("glb" | "gltf") => Ok(Self::Glb(read_glb_model(path)?)),
            _ => Err(RetargetOntoError::NoSkeletonFile { path: path.to_path_buf() }),
        }
    }

    /// The skeleton with the motion that the file has of it.
    pub fn motion(&self) -> &SourceMotion {
        match self {
            Self::Bvh(file) => &file.motion,
            Self::Glb(model) => &model.motion,
        }
    }

    /// What its reader interpreted or repaired.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Bvh(file) => file.warnings.iter().map(ToString::to_string).collect(),
            Self::Glb(model) => model.warnings.clone(),
        }
    }

    /// Writes a motion on its skeleton in the form of the file: `.bvh` with the channels of a BVH file, `.glb` with the contents of a
    /// GLB or glTF file. Returns whether `path` is of that form; nothing is written to a path of another one.
    ///
    /// # Errors
    /// What the writers refuse.
    pub fn write(&self, path: &Path, motion: &SourceMotion) -> Result<bool, RetargetOntoError> {
        match (self, kind(path).as_deref()) {
            (Self::Bvh(file), Some("bvh")) => write_bvh_like(path, file, motion)?,
            (Self::Glb(model), Some("glb")) => write_glb_like(path, model, motion)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether the file can move a joint in its parent.
    pub(crate) fn animates_position(&self, joint: usize) -> bool {
        match self {
            Self::Bvh(file) => file.animates_position(JointIndex(joint)),
            Self::Glb(_) => true,
        }
    }

    /// Number of angles that the file has for a joint.
    pub(crate) fn rotation_channels(&self, joint: usize) -> usize {
        match self {
            Self::Bvh(file) => file.channels[joint].iter().filter(|channel| !channel.is_position()).count(),
            Self::Glb(_) => 3,
        }
    }

    /// The rotation nearest to `rotation` that the file can state for a joint.
    pub(crate) fn stated_rotation(&self, joint: usize, rotation: Quat) -> Result<Quat, FormatError> {
        match self {
            Self::Bvh(file) => file.stated_rotation(JointIndex(joint), rotation),
            Self::Glb(_) => Ok(rotation),
        }
    }
}
