//! The arm of a body that has one arm alone, so that no pair of arms is found.

use super::anatomy::is_apart;
use super::by_names::{Chain, as_limb};
use super::limbs::Limb;
use super::plan::{Plan, lone_arm_cost, middle};
use super::sample::Sample;

/// An arm without its mirror image.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoneArm {
    pub limb: Limb,
    /// 0 for the left one.
    pub side: usize,
    /// Its joints by name, where names tell them.
    pub named: Option<Chain>,
    /// Unlikeness to an arm, as of [`Plan`].
    pub cost: f32,
}

/// A shoulder is at least this far from the middle of the body, as a share of the leg.
const ASIDE: f32 = 0.1;
/// Height of a shoulder above the hip joints, as a share of the leg.
const SHOULDER_HEIGHT: std::ops::Range<f32> = 0.3..1.0;

/// The arm of a body without a pair of arms, whose left leg comes first in the plan.
pub(super) fn lone_arm(
    sample: &Sample<'_>,
    plan: &Plan,
    limbs: &[Limb],
    named: Option<(usize, Chain)>,
) -> Option<LoneArm> {
    if plan.arms.is_some() {
        return None;
    }
    if let Some((side, chain)) = named
        && let Some(limb) = as_limb(sample, &chain, 1)
        && is_apart(sample, plan, &limb)
    {
        return Some(LoneArm { limb, side, named: Some(chain), cost: lone_arm_cost(plan, &limb) });
    }
    let leg = plan.legs.length();
    let hips = plan.legs.limbs.map(|limb| limb.root);
    let ankles = plan.legs.limbs.map(|limb| limb.end);
    let of_shoulder = |node: usize, direction: &dyn Fn(&[glam::Vec3]) -> glam::Vec3| {
        sample.mean(|f| {
            let at = &sample.positions[f];
            (at[node] - middle(at, hips)).dot(direction(at).normalize_or_zero())
        }) / leg
    };
    let height = |limb: &Limb| of_shoulder(limb.root, &|at| middle(at, hips) - middle(at, ankles));
    let aside = |limb: &Limb| of_shoulder(limb.root, &|at| at[hips[0]] - at[hips[1]]);
    let arms = limbs.iter().filter(|limb| {
        is_apart(sample, plan, limb) && SHOULDER_HEIGHT.contains(&height(limb)) && aside(limb).abs() > ASIDE
    });
    let (cost, limb) = arms
        .map(|limb| (lone_arm_cost(plan, limb), limb))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(cost, _)| *cost < super::plan::NO_ARMS)?;
    Some(LoneArm { limb: *limb, side: usize::from(aside(limb) < 0.0), named: None, cost })
}
