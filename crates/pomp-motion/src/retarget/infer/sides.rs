//! Left and right: a body's left is up × forward, with up along the trunk and forward where toes, knees and elbows point
//! and the body travels.

use super::plan::{Plan, middle};
use super::sample::Sample;
use glam::Vec3;

/// What speaks for the first leg of the plan being the left one.
#[derive(Clone, Debug, Default)]
pub(super) struct SideVotes {
    /// Source of evidence and mean of it over the frames, −1 (right) to 1 (left).
    pub votes: Vec<(&'static str, f32)>,
}

/// Weight of each kind of evidence.
const TOES: f32 = 3.0;
const KNEES: f32 = 2.0;
const ELBOWS: f32 = 1.0;
const TRAVEL: f32 = 0.5;
/// A joint that is off the line of its limb by this share of the limb counts in full.
const CLEARLY_BENT: f32 = 0.06;
/// A body that travels a leg's length in this time counts in full, seconds.
const CLEAR_TRAVEL_S: f32 = 1.5;

impl SideVotes {
    /// Weighted mean, −1 to 1.
    pub fn total(&self) -> f32 {
        let weight = |name: &str| match name {
            "toes" => TOES,
            "knees" => KNEES,
            "elbows" => ELBOWS,
            _ => TRAVEL,
        };
        let all: f32 = self.votes.iter().map(|(name, _)| weight(name)).sum();
        if all == 0.0 {
            0.0
        } else {
            self.votes.iter().map(|(name, vote)| weight(name) * vote).sum::<f32>() / all
        }
    }

    /// In words, for the side that is taken.
    pub fn told(&self) -> String {
        let sign = self.total().signum();
        let told: Vec<String> = self
            .votes
            .iter()
            .filter(|(_, vote)| vote.abs() > 0.02)
            .map(|(name, vote)| format!("{name} {:+.2}", vote * sign))
            .collect();
        if told.is_empty() { "nothing tells them apart".to_owned() } else { told.join(", ") }
    }
}

/// Direction that is forward if the first leg is the left one.
fn forward(plan: &Plan, at: &[Vec3]) -> Vec3 {
    let hips = plan.legs.limbs.map(|limb| limb.root);
    let across = at[hips[0]] - at[hips[1]];
    let up = match plan.arms {
        Some(arms) => middle(at, arms.limbs.map(|limb| limb.root)) - middle(at, hips),
        None => middle(at, hips) - middle(at, plan.legs.limbs.map(|limb| limb.end)),
    };
    across.cross(up).normalize_or_zero()
}

/// Gathers the evidence.
pub(super) fn side_votes(sample: &Sample<'_>, plan: &Plan) -> SideVotes {
    let mut votes = Vec::new();
    let frames = &sample.positions;
    let feet: Vec<(usize, usize)> = plan
        .legs
        .limbs
        .iter()
        .filter_map(|limb| Some((limb.end, foot_tip(sample, limb.middle, limb.end)?)))
        .collect();
    if !feet.is_empty() {
        let vote = sample.mean(|f| {
            let at = &frames[f];
            let ahead = |(ankle, tip): &(usize, usize)| (at[*tip] - at[*ankle]).normalize_or_zero();
            feet.iter().map(|foot| ahead(foot).dot(forward(plan, at))).sum::<f32>() / feet.len() as f32
        });
        votes.push(("toes", vote));
    }
    let mut bend = |name, limbs: [super::limbs::Limb; 2], sign: f32| {
        let vote = sample.mean(|f| {
            let at = &frames[f];
            let off = |limb: &super::limbs::Limb| {
                let out = at[limb.middle] - (at[limb.root] + at[limb.end]) * 0.5;
                (out.dot(forward(plan, at)) / (CLEARLY_BENT * limb.length())).clamp(-1.0, 1.0)
            };
            sign * 0.5 * (off(&limbs[0]) + off(&limbs[1]))
        });
        votes.push((name, vote));
    };
    bend("knees", plan.legs.limbs, 1.0);
    if let Some(arms) = plan.arms {
        bend("elbows", arms.limbs, -1.0);
    }
    if frames.len() > 1 {
        let hips = plan.legs.limbs.map(|limb| limb.root);
        let seconds =
            |f: usize| (sample.frames[f + 1] - sample.frames[f]) as f32 / sample.source.frame_rate_hz;
        let clear = plan.legs.length() / CLEAR_TRAVEL_S;
        let steps = frames.len() - 1;
        let vote = (0..steps)
            .map(|f| {
                let velocity = (middle(&frames[f + 1], hips) - middle(&frames[f], hips)) / seconds(f);
                (velocity.dot(forward(plan, &frames[f])) / clear).clamp(-1.0, 1.0)
            })
            .sum::<f32>()
            / steps as f32;
        votes.push(("travel", vote));
    }
    SideVotes { votes }
}

/// The node at the far end of a foot: the farthest from the ankle that a foot can reach.
pub(super) fn foot_tip(sample: &Sample<'_>, knee: usize, ankle: usize) -> Option<usize> {
    let shin = sample.distance(knee, ankle);
    let reach = |node: &usize| sample.distance(ankle, *node) / shin;
    sample
        .subtree(ankle)
        .into_iter()
        .skip(1)
        .filter(|node| (0.1..1.0).contains(&reach(node)))
        .max_by(|a, b| reach(a).total_cmp(&reach(b)).then(b.cmp(a)))
}

/// Whether the first arm is on the side of the first leg: 1 for surely, −1 for surely not.
pub(super) fn same_side(sample: &Sample<'_>, legs: [usize; 2], arms: [usize; 2]) -> f32 {
    sample.mean(|f| {
        let at = &sample.positions[f];
        let across = |pair: [usize; 2]| (at[pair[0]] - at[pair[1]]).normalize_or_zero();
        across(legs).dot(across(arms))
    })
}
