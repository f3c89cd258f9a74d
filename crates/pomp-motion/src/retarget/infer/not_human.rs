//! Bodies that are none of a human: four legs, many legs, a hand.

use super::anatomy::is_apart;
use super::limbs::{Limb, LimbPair};
use super::plan::{Plan, middle};
use super::sample::Sample;
use crate::GlobalPose;
use glam::Vec3;

/// Fits below this are no legs.
const LEAST_LEG_FIT: f32 = 0.65;
/// A limb this much longer than the legs, without a mirror image, is the leg of a body with one.
const LONE: f32 = 1.25;
/// Arms as long as this share of the legs reach the ground.
const LONG_ARMS: f32 = 0.8;
/// Cosine between trunk and legs below which the trunk does not stand on the legs.
const ACROSS: f32 = 0.5;

/// Why the body is not human; `None` when nothing speaks against it.
pub(super) fn refusal(
    sample: &Sample<'_>,
    plan: &Plan,
    limbs: &[Limb],
    pairs: &[LimbPair],
    named: bool,
) -> Option<String> {
    let [a, b] = plan.legs.limbs;
    if let Some(reason) = fingers(sample, plan) {
        return Some(reason);
    }
    let leg = plan.legs.length();
    // With arms found, a long limb is a tail, a prop or a wing.
    let has_arms = plan.arms.is_some() && plan.arm_fit > LEAST_LEG_FIT;
    let lone = |limb: &&Limb| limb.length() > LONE * leg && is_apart(sample, plan, limb);
    if let Some(lone) = limbs.iter().find(lone).filter(|_| !named && !has_arms) {
        return Some(format!(
            "{} is longer than the two limbs most like legs ({} and {}) and has no mirror image: a leg is missing",
            chain(sample, lone),
            chain(sample, &a),
            chain(sample, &b)
        ));
    }
    if plan.leg_fit < LEAST_LEG_FIT && !named {
        return Some(format!(
            "the two limbs most like legs ({} and {}) have not the proportions of legs",
            chain(sample, &a),
            chain(sample, &b)
        ));
    }
    let long = |pair: &&LimbPair| {
        let apart = pair.limbs.iter().all(|limb| is_apart(sample, plan, limb));
        apart && pair.length() > LONG_ARMS * leg && pair.asymmetry < 3.0 && reaches_down(sample, plan, pair)
    };
    if let Some(pair) = pairs.iter().find(long) {
        return Some(format!(
            "it has four legs or more: beside {} and {} there are {} and {}, as long and reaching down as far",
            chain(sample, &a),
            chain(sample, &b),
            chain(sample, &pair.limbs[0]),
            chain(sample, &pair.limbs[1])
        ));
    }
    let arms = plan.arms?;
    let ratio = arms.length() / leg;
    let rest = sample.source.rest_pose();
    let standing = trunk_on_legs(&rest_positions(sample, &rest), plan);
    let moving = sample.mean(|f| trunk_on_legs(&sample.positions[f], plan));
    let four_legged =
        standing < ACROSS && moving < ACROSS && ratio > LONG_ARMS && reaches_down(sample, plan, &arms);
    four_legged.then(|| {
        format!(
            "it goes on four legs: the trunk lies across the legs at rest and in motion (cosine {moving:.2}), and the \
             front limbs are {ratio:.2} of the hind limbs and reach down as far"
        )
    })
}

/// Positions of all nodes in a pose.
fn rest_positions(sample: &Sample<'_>, pose: &GlobalPose) -> Vec<Vec3> {
    let ends = sample.source.end_sites.iter();
    let ends = ends.map(|(joint, offset)| pose.positions[joint.0] + pose.rotations[joint.0] * *offset);
    pose.positions.iter().copied().chain(ends).collect()
}

/// Cosine between the way up the trunk and the way up the legs: 1 for a standing person.
fn trunk_on_legs(at: &[Vec3], plan: &Plan) -> f32 {
    let Some(arms) = plan.arms else { return 1.0 };
    let hips = middle(at, plan.legs.limbs.map(|limb| limb.root));
    let trunk = middle(at, arms.limbs.map(|limb| limb.root)) - hips;
    let legs = hips - middle(at, plan.legs.limbs.map(|limb| limb.end));
    trunk.normalize_or_zero().dot(legs.normalize_or_zero())
}

/// Whether the ends of a pair are mostly nearer to the ends of the legs, along the legs, than to the hips.
fn reaches_down(sample: &Sample<'_>, plan: &Plan, pair: &LimbPair) -> bool {
    sample.mean(|f| {
        let at = &sample.positions[f];
        let hips = middle(at, plan.legs.limbs.map(|limb| limb.root));
        let down = middle(at, plan.legs.limbs.map(|limb| limb.end)) - hips;
        let depth =
            (middle(at, pair.limbs.map(|limb| limb.end)) - hips).dot(down) / down.length_squared().max(1e-12);
        f32::from(u8::from(depth > 0.6))
    }) > 0.6
}

/// Names of the joints of a limb; an end site has the name of its joint.
fn chain(sample: &Sample<'_>, limb: &Limb) -> String {
    let mut names = [limb.root, limb.middle, limb.end].map(|node| sample.name(node)).to_vec();
    names.dedup();
    names.join(" > ")
}

/// A hand has fingers that go off side by side: beside the "legs" others, along them and nearly as long.
fn fingers(sample: &Sample<'_>, plan: &Plan) -> Option<String> {
    const ALONG: f32 = 0.7;
    const AS_LONG: f32 = 0.6;
    let [a, b] = plan.legs.limbs;
    let palm = sample.common_ancestor(a.root, b.root);
    let tip_way = |at: &[Vec3], tip: usize| (at[tip] - at[palm]).normalize_or_zero();
    let reach = sample.distance(palm, a.end).min(sample.distance(palm, b.end));
    let beside = sample.children[palm].iter().filter(|&&branch| {
        let is_leg = [a, b].iter().any(|limb| sample.is_at_or_below(limb.root, branch));
        let tips = sample.subtree(branch);
        !is_leg
            && tips.iter().any(|&tip| {
                sample.distance(palm, tip) > AS_LONG * reach
                    && sample.mean(|f| {
                        let at = &sample.positions[f];
                        tip_way(at, tip).dot((tip_way(at, a.end) + tip_way(at, b.end)).normalize_or_zero())
                    }) > ALONG
            })
    });
    (beside.count() >= 2).then(|| {
        format!("its limbs go off side by side from {}, as fingers do: a hand is no body", sample.name(palm))
    })
}
