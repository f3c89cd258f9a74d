//! A bone of the trunk that a converter lost: neck and collar bones lie in the joint below, and the trunk is short.

use super::anatomy::Anatomy;
use super::plan::middle;
use super::sample::Sample;
use crate::humanoid;
use crate::retarget::DroppedBone;

/// Hips to shoulders over the leg, below which a trunk lacks a bone; people have about 0.57.
const SHORT_TRUNK: f32 = 0.52;
/// A joint nearer to its parent than this share of the leg lies in it.
const IN_PARENT: f32 = 0.005;

/// The lost bone, as long as the last one of the spine.
pub(super) fn lost_bone(sample: &Sample<'_>, anatomy: &Anatomy) -> Option<DroppedBone> {
    if sample.source.joint_translations.is_some() {
        return None;
    }
    let arms = anatomy.plan.arms?;
    let leg = anatomy.plan.legs.length();
    let trunk = sample.mean(|f| {
        let at = &sample.positions[f];
        middle(at, arms.limbs.map(|l| l.root)).distance(middle(at, anatomy.plan.legs.limbs.map(|l| l.root)))
    });
    let chest = anatomy.roles[humanoid::SPINE2.0]?;
    let branches: Vec<usize> =
        sample.children[chest].iter().copied().filter(|&child| child < sample.joints).collect();
    let in_chest = |&child: &usize| sample.distance(chest, child) < IN_PARENT * leg;
    let last_bone = sample.parent(chest).map(|below| sample.distance(chest, below))?;
    let lost = trunk < SHORT_TRUNK * leg
        && branches.len() >= 3
        && branches.iter().all(in_chest)
        && last_bone > IN_PARENT * leg;
    lost.then(|| DroppedBone {
        joints: branches.iter().map(|&joint| sample.name(joint).to_owned()).collect(),
        same_as: sample.name(chest).to_owned(),
    })
}
