use super::RigMap;
use crate::{Joint, Skeleton, SourceMotion};
use glam::Vec3;
use serde::Deserialize;
use std::borrow::Cow;

/// A bone that a converter lost: joints that lie in their parent although a bone is between them in the body.
///
/// Where a file has all of `joints` at no distance from one parent, and states no translations per frame, they
/// are put at the end of a bone with the offset of `same_as`. Other files are read as they are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DroppedBone {
    /// Source joints at the far end of the lost bone, as the file writes them.
    pub joints: Vec<String>,
    /// Source joint whose offset is nearly that of the lost bone.
    pub same_as: String,
}

/// The motion with its lost bones back, and a sentence for each.
pub(super) fn with_dropped_bones<'a>(
    source: &'a SourceMotion,
    rig: &RigMap,
) -> (Cow<'a, SourceMotion>, Vec<String>) {
    let mut joints: Vec<Joint> = source.skeleton.joints().to_vec();
    let mut repairs = Vec::new();
    if source.joint_translations.is_some() {
        return (Cow::Borrowed(source), repairs);
    }
    for dropped in &rig.dropped_bones {
        let ends: Option<Vec<usize>> =
            dropped.joints.iter().map(|name| Some(source.skeleton.index_of(name)?.0)).collect();
        let (Some(ends), Some(model)) = (ends, source.skeleton.index_of(&dropped.same_as)) else { continue };
        let bone = joints[model.0].offset;
        if bone == Vec3::ZERO
            || ends.iter().any(|&i| joints[i].parent.is_none() || joints[i].offset != Vec3::ZERO)
        {
            continue;
        }
        for &i in &ends {
            joints[i].offset = bone;
        }
        repairs.push(format!(
            "the file puts {} into their parent joint; they are moved up by a bone like {} ({:.2} file units)",
            dropped.joints.join(", "),
            dropped.same_as,
            bone.length()
        ));
    }
    if repairs.is_empty() {
        return (Cow::Borrowed(source), repairs);
    }
    let skeleton = Skeleton::new(joints).expect("other finite offsets keep a valid skeleton valid");
    (Cow::Owned(SourceMotion { skeleton, ..source.clone() }), repairs)
}
