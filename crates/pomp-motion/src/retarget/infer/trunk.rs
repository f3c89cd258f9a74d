//! Between the limbs: pelvis, spine, neck and head.

use super::names::{Meaning, Part};
use super::plan::middle;
use super::sample::Sample;

/// Joints of the trunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Trunk {
    pub hips: usize,
    /// Lower, middle and upper spine joint of the project.
    pub spine: [Option<usize>; 3],
    pub neck: Option<usize>,
    pub head: Option<usize>,
    /// The joint from which the arms go off, or the uppermost of the spine.
    pub chest: usize,
}

/// Where the project's spine joints are between hips and shoulders.
const SPINE_SHARES: [f32; 3] = [0.25, 0.47, 0.68];
/// Least height of the neck above the hip joints in a body without arms, as a share of the leg.
const NECK_HEIGHT: f32 = 0.5;
/// A joint nearer to its parent than this share of the leg is at the same place.
const SAME_PLACE: f32 = 0.01;

/// Finds the trunk of a body with these hip joints and the first joints of its arms, of which there are two, one or none.
pub(super) fn trunk(
    sample: &Sample<'_>,
    meanings: Option<&[Meaning]>,
    hip_joints: [usize; 2],
    ankles: [usize; 2],
    shoulders: &[usize],
) -> Trunk {
    let legs = sample.common_ancestor(hip_joints[0], hip_joints[1]);
    let hips = meanings.and_then(|m| named_hips(sample, m, legs)).unwrap_or(legs);
    let leg = 0.5 * (sample.distance(hip_joints[0], ankles[0]) + sample.distance(hip_joints[1], ankles[1]));
    let chest = match shoulders {
        [a, b, ..] => sample.common_ancestor(*a, *b),
        // The arm goes off the way to the top of the body.
        [arm] => highest_branch(sample, hip_joints, ankles, Some(*arm))
            .map_or_else(|| sample.parent(*arm).unwrap_or(legs), |top| sample.common_ancestor(*arm, top)),
        [] => highest_branch(sample, hip_joints, ankles, None).unwrap_or(legs),
    };
    let from = sample.common_ancestor(hips, chest);
    let mut spine: Vec<usize> = if from == chest { Vec::new() } else { sample.path(from, chest) };
    spine.retain(|&node| node < sample.joints && node != hips);
    let mut upper = match shoulders {
        [a, b, ..] => head_chain(sample, meanings, chest, [*a, *b], hip_joints),
        [arm] => head_chain(sample, meanings, chest, [*arm; 2], hip_joints),
        [] => Vec::new(),
    };
    if shoulders.is_empty() {
        let named = |node: &usize| {
            meanings.is_some_and(|meanings| {
                meanings[*node].weight(Part::Neck) > 0.0 || meanings[*node].weight(Part::Head) > 0.0
            })
        };
        let above = |node: &usize| height(sample, hip_joints, ankles, *node) > NECK_HEIGHT * leg;
        let neck = spine.iter().position(named).or_else(|| spine.iter().position(above));
        if let Some(first) = neck {
            upper = spine.split_off(first);
        }
    }
    let (neck, head) = neck_and_head(sample, meanings, &upper, SAME_PLACE * leg);
    Trunk { hips, spine: spine_roles(sample, from, &spine), neck, head, chest }
}

/// A joint named as the hips at the place of `legs`: some rigs hang the thighs from the lowest spine joint.
fn named_hips(sample: &Sample<'_>, meanings: &[Meaning], legs: usize) -> Option<usize> {
    std::iter::once(legs)
        .chain(sample.ancestors(legs))
        .take(3)
        .filter(|&node| meanings[node].weight(Part::Hips) > 0.0)
        .max_by(|&a, &b| {
            meanings[a].weight(Part::Hips).total_cmp(&meanings[b].weight(Part::Hips)).then(a.cmp(&b))
        })
}

/// Mean height of a node above the hip joints, along the legs.
fn height(sample: &Sample<'_>, hip_joints: [usize; 2], ankles: [usize; 2], node: usize) -> f32 {
    sample.mean(|f| {
        let at = &sample.positions[f];
        let hips = middle(at, hip_joints);
        (at[node] - hips).dot((hips - middle(at, ankles)).normalize_or_zero())
    })
}

/// End of the branch, other than `arm`, that goes farthest away from the feet.
fn highest_branch(
    sample: &Sample<'_>,
    hip_joints: [usize; 2],
    ankles: [usize; 2],
    arm: Option<usize>,
) -> Option<usize> {
    let in_leg = |node: usize| hip_joints.iter().chain(&arm).any(|&limb| sample.is_at_or_below(node, limb));
    let legs = sample.common_ancestor(hip_joints[0], hip_joints[1]);
    let top = (0..sample.children.len())
        .filter(|&node| !in_leg(node) && node != legs && !sample.is_below(legs, node))
        .map(|node| (height(sample, hip_joints, ankles, node), node))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
        .filter(|(height, _)| *height > 0.0)?
        .1;
    std::iter::once(top).chain(sample.ancestors(top)).find(|&node| node < sample.joints)
}

/// Spine joints by height: one is the chest, two are the lowest and the chest, of more the nearest to the project's.
fn spine_roles(sample: &Sample<'_>, from: usize, spine: &[usize]) -> [Option<usize>; 3] {
    match spine {
        [] => [None, None, None],
        [only] => [None, None, Some(*only)],
        [low, high] => [Some(*low), None, Some(*high)],
        [low, mid, high] => [Some(*low), Some(*mid), Some(*high)],
        [below @ .., high] => {
            // The chest joint lies at about two thirds of the height of the shoulders.
            let whole = (sample.way(from, *high) / SPINE_SHARES[2]).max(f32::MIN_POSITIVE);
            let share = |node: usize| sample.way(from, node) / whole;
            let nearest = |among: &[usize], wanted: f32| {
                let off = |node: &usize| (share(*node) - wanted).abs();
                among.iter().copied().min_by(|a, b| off(a).total_cmp(&off(b)))
            };
            let low = nearest(&below[..below.len() - 1], SPINE_SHARES[0]);
            let after = low.and_then(|low| below.iter().position(|&node| node == low)).map_or(0, |at| at + 1);
            [low, nearest(&below[after..], SPINE_SHARES[1]), Some(*high)]
        }
    }
}

/// Joints from above the chest to the head and what is on it, on the branch between the arms.
fn head_chain(
    sample: &Sample<'_>,
    meanings: Option<&[Meaning]>,
    chest: usize,
    shoulders: [usize; 2],
    hip_joints: [usize; 2],
) -> Vec<usize> {
    let is_limb = |node: usize| {
        shoulders
            .iter()
            .chain(&hip_joints)
            .any(|&limb| sample.is_at_or_below(node, limb) || sample.is_below(limb, node))
    };
    let branches = sample.children[chest].iter().copied().filter(|&child| !is_limb(child));
    if let Some(meanings) = meanings {
        let named = branches.clone().flat_map(|child| sample.subtree(child)).filter(|&n| n < sample.joints);
        let heads: Vec<usize> = named.filter(|&n| meanings[n].weight(Part::Head) > 0.0).collect();
        if let Some(&head) = heads.iter().min_by_key(|&&head| sample.path(chest, head).len()) {
            return sample.path(chest, head);
        }
    }
    // The head is above the shoulders and in the middle.
    let value = |node: usize| {
        sample.mean(|f| {
            let at = &sample.positions[f];
            let centre = middle(at, shoulders);
            let up = (centre - middle(at, hip_joints)).normalize_or_zero();
            let across = (at[shoulders[0]] - at[shoulders[1]]).normalize_or_zero();
            let way = at[node] - centre;
            way.dot(up) - 2.0 * way.dot(across).abs()
        })
    };
    let tips = branches.flat_map(|child| sample.subtree(child)).map(|node| (value(node), node));
    let Some((_, tip)) =
        tips.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).filter(|(v, _)| *v > 0.0)
    else {
        return Vec::new();
    };
    let mut chain = sample.path(chest, tip);
    // Where the chain branches, the face begins.
    let branches_at = |&node: &usize| {
        let far = sample.distance(node, tip) * 0.25;
        sample.children[node].iter().filter(|&&child| sample.distance(node, child) > far).count() > 1
            || sample.children[node].len() > 1 && sample.subtree(node).len() > 4
    };
    if let Some(at) = chain.iter().position(branches_at) {
        chain.truncate(at + 1);
    }
    chain.retain(|&node| node < sample.joints);
    chain
}

fn neck_and_head(
    sample: &Sample<'_>,
    meanings: Option<&[Meaning]>,
    chain: &[usize],
    same_place: f32,
) -> (Option<usize>, Option<usize>) {
    let mut chain = chain.to_vec();
    let named_head = |node: &usize| meanings.is_some_and(|m| m[*node].weight(Part::Head) > 0.0);
    // A last joint that never turns and has nothing beyond it marks the top of the head.
    if let [.., before, last] = chain[..]
        && !named_head(&last)
        && is_mark(sample, last)
        && sample.turning(before) > 1e-3
    {
        chain.pop();
    }
    let apart =
        |node: &usize| sample.parent(*node).is_some_and(|parent| sample.distance(*node, parent) > same_place);
    // Of joints at one place the first carries the others.
    while let [_, .., last] = chain[..]
        && !named_head(&last)
        && !apart(&last)
    {
        chain.pop();
    }
    let Some(head) = chain.pop() else { return (None, None) };
    let named_neck = meanings.and_then(|m| chain.iter().copied().find(|&n| m[n].weight(Part::Neck) >= 1.0));
    let neck = named_neck
        .filter(apart)
        .or_else(|| chain.iter().copied().find(apart))
        .or(named_neck)
        .or_else(|| chain.first().copied());
    (neck, Some(head))
}

/// Whether a joint is only the end of its parent's bone.
pub(super) fn is_mark(sample: &Sample<'_>, joint: usize) -> bool {
    let beyond = sample.children[joint].iter().any(|&child| child < sample.joints);
    let bone = sample.children[joint].iter().any(|&child| sample.distance(joint, child) > 1e-3 * sample.size);
    !beyond && !bone && sample.turning(joint) < 1e-3
}
