//! Which pair of limbs is the legs, and which the arms: every combination is scored by the proportions and the posture
//! of people, and the best is taken.

use super::limbs::{Limb, LimbPair};
use super::sample::Sample;
use glam::Vec3;

/// The limbs of a body.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub legs: LimbPair,
    pub arms: Option<LimbPair>,
    /// Fit of the legs and of the arms alone, 0 to 1.
    pub leg_fit: f32,
    pub arm_fit: f32,
    /// Score ahead of the best plan with other joints.
    pub margin: f32,
}

/// Logarithms of proportions of people, with the spread over people and over what skeletons call a joint.
struct Prior {
    mean: f32,
    spread: f32,
}

const THIGH_OVER_SHIN: Prior = Prior { mean: -0.03, spread: 0.15 };
const UPPER_ARM_OVER_FOREARM: Prior = Prior { mean: 0.18, spread: 0.20 };
const HIP_WIDTH_OVER_LEG: Prior = Prior { mean: -1.60, spread: 0.35 };
const ARM_OVER_LEG: Prior = Prior { mean: -0.46, spread: 0.14 };
const SHOULDER_WIDTH_OVER_LEG: Prior = Prior { mean: -0.97, spread: 0.30 };
const TORSO_OVER_LEG: Prior = Prior { mean: -0.60, spread: 0.25 };
const LEG_OVER_BODY: Prior = Prior { mean: -0.75, spread: 0.30 };

impl Prior {
    /// Squared distance from the mean in spreads, cut off so that one odd figure does not decide alone.
    fn off(&self, value: f32) -> f32 {
        (((value.max(1e-6)).ln() - self.mean) / self.spread).powi(2).min(16.0)
    }

    fn off_log(&self, log: f32) -> f32 {
        ((log - self.mean) / self.spread).powi(2).min(16.0)
    }
}

/// Pairs that are kept for either role.
const KEPT: usize = 60;
/// What a body without arms loses against one with arms that fit well.
pub(super) const NO_ARMS: f32 = 9.0;

/// The best combination of legs and arms; `None` without a pair of limbs.
pub(super) fn best_plan(sample: &Sample<'_>, pairs: &[LimbPair]) -> Option<Plan> {
    let mut legs: Vec<(f32, &LimbPair)> = pairs.iter().map(|pair| (leg_cost(sample, pair), pair)).collect();
    legs.sort_by(|a, b| a.0.total_cmp(&b.0));
    legs.truncate(KEPT);
    let mut arms: Vec<(f32, &LimbPair)> = pairs.iter().map(|pair| (arm_cost(pair), pair)).collect();
    arms.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut plans: Vec<(f32, Plan)> = Vec::new();
    for &(leg_cost, leg) in &legs {
        let alone = Plan { legs: *leg, arms: None, leg_fit: fit(leg_cost), arm_fit: 0.0, margin: 0.0 };
        plans.push((leg_cost + NO_ARMS, alone));
        let fitting = arms.iter().filter(|(_, arm)| are_apart(sample, leg, arm)).take(KEPT);
        for &(own, arm) in fitting {
            let cost = own + joint_cost(sample, leg, arm);
            let plan = Plan {
                legs: *leg,
                arms: Some(*arm),
                leg_fit: fit(leg_cost),
                arm_fit: fit(cost),
                margin: 0.0,
            };
            plans.push((leg_cost + cost, plan));
        }
    }
    plans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (cost, best) = plans.first()?.clone();
    let other = plans.iter().find(|(_, plan)| is_another(sample, plan, &best));
    Some(Plan { margin: other.map_or(f32::INFINITY, |(other, _)| other - cost), ..best })
}

/// The plan with these legs, and with these arms or the best that are there.
pub(super) fn plan_with(
    sample: &Sample<'_>,
    legs: LimbPair,
    arms: Option<LimbPair>,
    pairs: &[LimbPair],
) -> Plan {
    let leg_fit = fit(leg_cost(sample, &legs));
    let cost = |arms: &LimbPair| arm_cost(arms) + joint_cost(sample, &legs, arms);
    let found = arms.or_else(|| {
        let fitting = pairs.iter().filter(|arm| are_apart(sample, &legs, arm));
        fitting
            .map(|arm| (cost(arm), *arm))
            .filter(|(cost, _)| *cost < NO_ARMS)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, arm)| arm)
    });
    let arm_fit = found.map_or(0.0, |arms| fit(cost(&arms)));
    Plan { legs, arms: found, leg_fit, arm_fit, margin: f32::INFINITY }
}

/// Whether the plans mean different limbs, not other joints of the same ones.
fn is_another(sample: &Sample<'_>, a: &Plan, b: &Plan) -> bool {
    let same = |a: &LimbPair, b: &LimbPair| {
        a.limbs.iter().all(|limb| {
            b.limbs.iter().any(|other| {
                sample.is_at_or_below(limb.middle, other.root)
                    || sample.is_at_or_below(other.middle, limb.root)
            })
        })
    };
    !same(&a.legs, &b.legs)
        || match (&a.arms, &b.arms) {
            (Some(a), Some(b)) => !same(a, b),
            (None, None) => false,
            _ => true,
        }
}

/// How unlike an arm a limb without a mirror image is.
pub(super) fn lone_arm_cost(plan: &Plan, limb: &Limb) -> f32 {
    limb.looseness
        + limb.skipped
        + UPPER_ARM_OVER_FOREARM.off(limb.upper / limb.lower)
        + ARM_OVER_LEG.off(limb.length() / plan.legs.length())
}

/// How well a cost fits, 0 to 1.
pub(super) fn fit(cost: f32) -> f32 {
    (-cost.max(0.0) / 30.0).exp()
}

/// Middle of two nodes in a frame.
pub(super) fn middle(at: &[Vec3], nodes: [usize; 2]) -> Vec3 {
    (at[nodes[0]] + at[nodes[1]]) * 0.5
}

fn own_cost(pair: &LimbPair) -> f32 {
    pair.asymmetry.min(12.0) + pair.looseness() + pair.skipped()
}

fn leg_cost(sample: &Sample<'_>, pair: &LimbPair) -> f32 {
    let [a, b] = pair.limbs;
    let leg = pair.length();
    let width = sample.distance(a.root, b.root) / leg;
    // Legs point the same way, and feet stand across them.
    let parallel = sample.mean(|f| {
        let at = &sample.positions[f];
        let way = |limb: &Limb| (at[limb.end] - at[limb.root]).normalize_or_zero();
        way(&a).dot(way(&b))
    });
    let feet = pair.limbs.iter().filter(|limb| has_foot(sample, limb.middle, limb.end)).count() as f32;
    own_cost(pair)
        + THIGH_OVER_SHIN.off_log(pair.log_ratio())
        + HIP_WIDTH_OVER_LEG.off(width)
        + LEG_OVER_BODY.off(leg / sample.size)
        + 3.0 * (1.0 - parallel)
        + (2.0 - feet)
}

/// Whether a bone stands across the shin at its end.
fn has_foot(sample: &Sample<'_>, knee: usize, ankle: usize) -> bool {
    let shin = sample.distance(knee, ankle);
    sample.subtree(ankle).iter().any(|&node| {
        let length = sample.distance(ankle, node);
        (0.15..0.9).contains(&(length / shin))
            && sample.mean(|f| {
                let at = &sample.positions[f];
                (at[node] - at[ankle]).normalize_or_zero().dot((at[ankle] - at[knee]).normalize_or_zero())
            }) < 0.75
    })
}

fn arm_cost(pair: &LimbPair) -> f32 {
    own_cost(pair) + UPPER_ARM_OVER_FOREARM.off_log(pair.log_ratio())
}

/// Whether no limb is part of another, and arms do not hang from legs.
fn are_apart(sample: &Sample<'_>, legs: &LimbPair, arms: &LimbPair) -> bool {
    legs.limbs.iter().all(|leg| {
        arms.limbs.iter().all(|arm| {
            !sample.is_at_or_below(arm.root, leg.root) && !sample.is_at_or_below(leg.root, arm.root)
        })
    })
}

fn joint_cost(sample: &Sample<'_>, legs: &LimbPair, arms: &LimbPair) -> f32 {
    let leg = legs.length();
    let (hips, ankles) = (legs.limbs.map(|limb| limb.root), legs.limbs.map(|limb| limb.end));
    let shoulders = arms.limbs.map(|limb| limb.root);
    let width = sample.distance(shoulders[0], shoulders[1]) / leg;
    let torso = sample.mean(|f| {
        let at = &sample.positions[f];
        middle(at, hips).distance(middle(at, shoulders))
    }) / leg;
    let opposite = sample.mean(|f| {
        let at = &sample.positions[f];
        let torso = (middle(at, shoulders) - middle(at, hips)).normalize_or_zero();
        torso.dot((middle(at, hips) - middle(at, ankles)).normalize_or_zero())
    });
    ARM_OVER_LEG.off(arms.length() / leg)
        + SHOULDER_WIDTH_OVER_LEG.off(width)
        + TORSO_OVER_LEG.off(torso)
        + 3.0 * (1.0 - opposite)
}
