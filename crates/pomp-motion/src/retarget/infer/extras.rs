//! What the joints are that no role needs.

use super::names::Meaning;
use super::sample::Sample;
use crate::{JointIndex, humanoid};
use serde::Serialize;

/// Joints of one kind that are not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExtraJoints {
    /// What they are: `above the hips`, `twist or share`, `finger or held`, `on the head`, `tail`, `in a limb`, `in the trunk`.
    pub kind: &'static str,
    /// Their names, in the file's order.
    pub joints: Vec<String>,
}

/// Kinds in the order in which they are told.
const KINDS: [&str; 9] = [
    "above the hips",
    "in the trunk",
    "in a limb",
    "twist or share",
    "finger or held",
    "on a foot",
    "on the head",
    "tail",
    "on the trunk",
];
/// A branch below the hips that is this much of the leg is a tail.
const TAIL: f32 = 0.2;

/// The joints that play no role, by kind.
pub(super) fn extra_joints(
    sample: &Sample<'_>,
    roles: &[Option<usize>; humanoid::JOINTS],
    meanings: &[Meaning],
    leg: f32,
) -> Vec<ExtraJoints> {
    let mut kinds: Vec<ExtraJoints> =
        KINDS.iter().map(|&kind| ExtraJoints { kind, joints: Vec::new() }).collect();
    for joint in (0..sample.joints).filter(|joint| !roles.contains(&Some(*joint))) {
        let kind = kind_of(sample, roles, meanings, leg, joint);
        if let Some(list) = kinds.iter_mut().find(|list| list.kind == kind) {
            list.joints.push(sample.name(joint).to_owned());
        }
    }
    kinds.retain(|list| !list.joints.is_empty());
    kinds
}

fn kind_of(
    sample: &Sample<'_>,
    roles: &[Option<usize>; humanoid::JOINTS],
    meanings: &[Meaning],
    leg: f32,
    joint: usize,
) -> &'static str {
    let role_of = |node: usize| roles.iter().position(|role| *role == Some(node)).map(JointIndex);
    if roles[humanoid::HIPS.0].is_some_and(|hips| sample.is_below(hips, joint)) {
        return "above the hips";
    }
    let carries_role = roles.iter().flatten().any(|&role| sample.is_below(role, joint));
    let Some(above) = sample.ancestors(joint).find_map(role_of) else { return "on the trunk" };
    let in_limb = |first: JointIndex, count: usize| (first.0..first.0 + count).contains(&above.0);
    let arm = in_limb(humanoid::LEFT_ARM, 3) || in_limb(humanoid::RIGHT_ARM, 3);
    let legs = in_limb(humanoid::LEFT_UP_LEG, 4) || in_limb(humanoid::RIGHT_UP_LEG, 4);
    if carries_role {
        return if arm || legs { "in a limb" } else { "in the trunk" };
    }
    let hand = matches!(above, humanoid::LEFT_HAND | humanoid::RIGHT_HAND);
    let foot = matches!(
        above,
        humanoid::LEFT_FOOT | humanoid::LEFT_TOE | humanoid::RIGHT_FOOT | humanoid::RIGHT_TOE
    );
    match above {
        _ if hand => "finger or held",
        _ if foot => "on a foot",
        _ if arm || legs || meanings[joint].extra == Some("twist") => "twist or share",
        humanoid::HEAD | humanoid::NECK => "on the head",
        humanoid::HIPS
            if sample.subtree(joint).iter().any(|&n| sample.distance(joint, n) > TAIL * leg)
                || sample.parent(joint).is_some_and(|p| role_of(p).is_none()) =>
        {
            "tail"
        }
        _ => "on the trunk",
    }
}
