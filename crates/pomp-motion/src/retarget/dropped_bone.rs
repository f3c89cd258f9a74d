//! Bones that a converter lost.

use super::RigMap;
use crate::{Joint, Skeleton, SourceMotion};
use glam::Vec3;
use std::borrow::Cow;

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
