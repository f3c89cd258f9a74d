//! The axis that points to the sky: along it people stand, and the lowest point of the body keeps its height.

use super::anatomy::Anatomy;
use super::plan::middle;
use super::sample::Sample;
use crate::retarget::UpAxis;
use glam::Vec3;

/// An axis with its confidence and the reason.
#[derive(Clone, Debug)]
pub(super) struct UpFinding {
    pub axis: UpAxis,
    pub confidence: f32,
    pub reason: String,
}

/// Share of the standing rest pose against the motion.
const REST: f32 = 0.7;
/// Cost of a floor that wanders, per leg's length of standard deviation, cut off where people climb.
const WANDER: f32 = 3.0;
const MOST_WANDER: f32 = 0.25;
/// What files mostly have, to settle a draw.
const USUAL: [(UpAxis, f32); 6] = [
    (UpAxis::Y, 0.05),
    (UpAxis::Z, 0.03),
    (UpAxis::X, 0.0),
    (UpAxis::NegY, 0.0),
    (UpAxis::NegZ, 0.0),
    (UpAxis::NegX, 0.0),
];

/// Finds the up axis; `rest_up` is the way a standing rest pose stands.
pub(super) fn up_axis(sample: &Sample<'_>, anatomy: &Anatomy, rest_up: Option<Vec3>) -> UpFinding {
    let hips = anatomy.plan.legs.limbs.map(|limb| limb.root);
    let ankles = anatomy.plan.legs.limbs.map(|limb| limb.end);
    let leg = anatomy.plan.legs.length();
    let shoulders = anatomy.plan.arms.map(|arms| arms.limbs.map(|limb| limb.root));
    // Who sits has the trunk upright, who bends down the legs.
    let stand = |f: usize| {
        let at = &sample.positions[f];
        let legs = (middle(at, hips) - middle(at, ankles)).normalize_or_zero();
        let trunk = shoulders.map(|shoulders| (middle(at, shoulders) - middle(at, hips)).normalize_or_zero());
        trunk.map_or(legs, |trunk| 0.5 * (legs + trunk))
    };
    let count = sample.positions.len().max(1) as f32;
    let mean = (0..sample.positions.len()).map(stand).sum::<Vec3>() / count;
    // A body that keeps upright through the whole motion says more than its rest pose.
    let upright = USUAL.iter().map(|(axis, _)| mean.dot(axis.direction())).fold(0.0, f32::max);
    let rest_weight = REST * (1.0 - 0.6 * ((upright - 0.8) / 0.15).clamp(0.0, 1.0));
    let mut scored: Vec<(f32, UpAxis)> = USUAL
        .into_iter()
        .map(|(axis, usual)| {
            let up = axis.direction();
            let rest = rest_up.map_or(0.0, |rest| rest_weight * rest.dot(up));
            let wander = (floor_wander(sample, anatomy, up) / leg).min(MOST_WANDER);
            (mean.dot(up) + rest - WANDER * wander + usual, axis)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (score, axis) = scored[0];
    let share = mean.dot(axis.direction());
    let rest =
        rest_up.map_or_else(String::new, |rest| format!(", {:.2} at rest", rest.dot(axis.direction())));
    let wander = 100.0 * floor_wander(sample, anatomy, axis.direction()) / leg;
    let reason = format!(
        "feet to hips to shoulders point along {} (mean component {share:.2} in the motion{rest}), and the lowest joint keeps its height \
         within {wander:.0} % of a leg",
        axis.name()
    );
    let confidence =
        (0.5 + 0.5 * (score - scored[1].0)).clamp(0.2, 1.0) * share.max(0.5).clamp(0.5, 0.95) / 0.95;
    UpFinding { axis, confidence, reason }
}

/// Standard deviation over the frames of the lowest mapped joint, file units.
fn floor_wander(sample: &Sample<'_>, anatomy: &Anatomy, up: Vec3) -> f32 {
    let lowest = |f: usize| {
        let heights = anatomy.roles.iter().flatten().map(|&joint| sample.positions[f][joint].dot(up));
        heights.fold(f32::INFINITY, f32::min)
    };
    let mean = sample.mean(lowest);
    sample.mean(|f| (lowest(f) - mean).powi(2)).sqrt()
}
