//! Bodies that are none of a human: four legs, many legs, a hand.

use super::anatomy::other_pairs;
use super::limbs::LimbPair;
use super::plan::{Plan, middle};
use super::sample::Sample;
use crate::GlobalPose;
use glam::Vec3;

/// Fits below this are no legs.
const LEAST_LEG_FIT: f32 = 0.12;
/// Arms as long as this share of the legs reach the ground.
const LONG_ARMS: f32 = 0.8;
/// Cosine between trunk and legs below which the trunk does not stand on the legs.
const ACROSS: f32 = 0.5;

/// Why the body is not human; `None` when nothing speaks against it.
pub(super) fn refusal(sample: &Sample<'_>, plan: &Plan, pairs: &[LimbPair], named: bool) -> Option<String> {
    if plan.leg_fit < LEAST_LEG_FIT && !named {
        let [a, b] = plan.legs.limbs;
        return Some(format!(
            "the two limbs most like legs ({} > {} > {} and {} > {} > {}) have not the proportions of legs",
            sample.name(a.root),
            sample.name(a.middle),
            sample.name(a.end),
            sample.name(b.root),
            sample.name(b.middle),
            sample.name(b.end),
        ));
    }
    let leg = plan.legs.length();
    let long = |pair: &&LimbPair| pair.length() > LONG_ARMS * leg && pair.asymmetry < 3.0;
    if other_pairs(sample, plan, pairs).any(|pair| long(&pair) && reaches_down(sample, plan, pair)) {
        return Some(
            "it has more than two pairs of limbs as long as legs: an animal or a machine".to_owned(),
        );
    }
    let arms = plan.arms?;
    let hand = hand_like(sample, plan);
    if hand.is_some() {
        return hand;
    }
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

/// A hand has fingers that go off side by side, the "trunk" among them and along them.
fn hand_like(sample: &Sample<'_>, plan: &Plan) -> Option<String> {
    let arms = plan.arms?;
    let along = sample.mean(|f| {
        let at = &sample.positions[f];
        let way = |limb: &super::limbs::Limb| (at[limb.end] - at[limb.root]).normalize_or_zero();
        let legs = (way(&plan.legs.limbs[0]) + way(&plan.legs.limbs[1])).normalize_or_zero();
        let trunk = middle(at, arms.limbs.map(|l| l.root)) - middle(at, plan.legs.limbs.map(|l| l.root));
        let short = trunk.length() < 0.25 * plan.legs.length();
        legs.dot((way(&arms.limbs[0]) + way(&arms.limbs[1])).normalize_or_zero()) * f32::from(u8::from(short))
    });
    (along > 0.7).then(|| {
        "its limbs go off from one place side by side in one direction, as fingers do: a hand is no body"
            .to_owned()
    })
}
