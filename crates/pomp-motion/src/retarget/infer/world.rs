//! The axis that points to the sky: along it people stand, and the lowest point of the body comes back to one level.

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
/// Share of the floor against the motion.
const FLOOR: f32 = 1.5;
/// A lowest joint whose height has at least this standard deviation, legs, has none.
const MOST_WANDER: f32 = 0.25;
/// The level of the floor is that of the lowest frames, but for this share of them.
const BELOW: f32 = 0.05;
/// A joint at most so far above it is on the floor, legs.
const ON_FLOOR: f32 = 0.06;
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
            (mean.dot(up) + rest + FLOOR * floor_share(sample, anatomy, up, leg) + usual, axis)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (score, axis) = scored[0];
    let share = mean.dot(axis.direction());
    let rest =
        rest_up.map_or_else(String::new, |rest| format!(", {:.2} at rest", rest.dot(axis.direction())));
    let floor = 100.0 * floor_share(sample, anatomy, axis.direction(), leg);
    let reason = format!(
        "feet to hips to shoulders point along {} (mean component {share:.2} in the motion{rest}), and the lowest joint keeps to a floor \
         ({floor:.0} %)",
        axis.name()
    );
    let confidence =
        (0.5 + 0.5 * (score - scored[1].0)).clamp(0.2, 1.0) * share.max(0.5).clamp(0.5, 0.95) / 0.95;
    UpFinding { axis, confidence, reason }
}

/// How much the lowest mapped joint has a floor, 0 to 1: by the spread of its height, or by the share of the frames in which it is on
/// the level of the lowest frames. Who rolls on a floor has a height of little spread and no level; who jumps or climbs leaves the
/// level and comes back to it.
fn floor_share(sample: &Sample<'_>, anatomy: &Anatomy, up: Vec3, leg: f32) -> f32 {
    let lowest = |f: usize| {
        let heights = anatomy.roles.iter().flatten().map(|&joint| sample.positions[f][joint].dot(up));
        heights.fold(f32::INFINITY, f32::min)
    };
    let heights: Vec<f32> = (0..sample.positions.len()).map(lowest).collect();
    let mut sorted = heights.clone();
    sorted.sort_by(f32::total_cmp);
    let Some(floor) = sorted.get((BELOW * sorted.len() as f32) as usize) else { return 0.0 };
    let count = heights.len() as f32;
    let on_floor = heights.iter().filter(|height| **height < floor + ON_FLOOR * leg).count() as f32 / count;
    let mean = heights.iter().sum::<f32>() / count;
    let spread = (heights.iter().map(|height| (height - mean).powi(2)).sum::<f32>() / count).sqrt();
    on_floor.max(1.0 - spread / (MOST_WANDER * leg))
}
