//! The ground that the planted feet speak of: level, smooth or stepped.

use super::TerrainFitConfig;
use super::radial_basis::RadialBasis;
use super::stance::{Stance, weighted_median};
use glam::Vec2;
use serde::{Deserialize, Serialize};

/// Most centres of the radial-basis surface; more stances are merged over a larger radius.
const MOST_CENTRES: usize = 400;
/// Contacts closer than this are one centre of the surface, metres.
const MERGE_RADIUS_M: f32 = 0.08;
/// A stance counts with at most this duration, seconds: long standing says no more than a step.
const MOST_WEIGHT_S: f32 = 0.5;
/// A stance off the level for at least this long is no stray contact, seconds.
const CONFIRMED_S: f32 = 0.15;
/// Distance from the nearest contact over which the surface gives way to its extension, metres.
const SURFACE_ENDS_M: [f32; 2] = [0.5, 1.5];
/// How much a sideways distance counts in the reach of a tread: treads are wider than long.
const SIDEWAYS: f32 = 0.35;
/// Footprint beyond ankle and toe joint, metres.
const FOOT_OVERHANG_M: f32 = 0.05;
/// Stances within a gap of the first and a span of the second are on one tread height, metres.
const TREAD_M: [f32; 2] = [0.04, 0.08];

/// Form of the reconstructed ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroundKind {
    /// One height everywhere.
    Flat,
    /// A radial-basis surface through the planted feet.
    Smooth,
    /// Level treads under the feet, with risers half-way between them.
    Steps,
}

/// A height for every place.
pub(super) struct Ground {
    pub kind: GroundKind,
    /// Median height of the stances.
    pub level: f32,
    centres: Vec<Centre>,
    surface: RadialBasis,
    treads: Vec<Tread>,
}

/// Contacts at one place, merged.
struct Centre {
    place: Vec2,
    height: f32,
    weight: f32,
}

/// A level piece of ground under a stance.
struct Tread {
    stance: Stance,
    height: f32,
    /// Direction in which the stairs rise, or the foot points where they do not.
    along: Vec2,
}

fn weight(stance: &Stance) -> f32 {
    stance.duration_s.min(MOST_WEIGHT_S)
}

impl Ground {
    /// Level ground.
    pub fn flat(level: f32) -> Self {
        let surface = RadialBasis::fit(&[], &[], &[]);
        Self { kind: GroundKind::Flat, level, centres: Vec::new(), surface, treads: Vec::new() }
    }

    /// Decides on the form of the ground under these stances, of which there is at least one.
    ///
    /// Level where all but a small share of the planted time lies within the tolerance of the median and no
    /// confirmed stance lies a step off it. Otherwise stepped where feet stand level although the ground
    /// between them rises, and smooth where they tilt with it.
    pub fn of_stances(stances: &[&Stance], config: &TerrainFitConfig) -> Self {
        let level = weighted_median(stances.iter().map(|s| (s.height(), weight(s))).collect());
        let total: f32 = stances.iter().map(|s| weight(s)).sum();
        let off = |s: &Stance| (s.height() - level).abs();
        let outliers: f32 =
            stances.iter().filter(|s| off(s) > config.flat_tolerance_m).map(|s| weight(s)).sum();
        let step = stances.iter().any(|s| off(s) > config.step_height_m && s.duration_s >= CONFIRMED_S);
        if outliers <= config.flat_outlier_share * total && !step {
            return Self::flat(level);
        }
        let trend = {
            let middles: Vec<(Vec2, f32, f32)> =
                stances.iter().map(|s| (s.centre(), s.height(), weight(s))).collect();
            fitted(&merged(&middles), config.smoothing)
        };
        let contacts: Vec<(Vec2, f32, f32)> =
            stances.iter().flat_map(|s| s.points().map(|(p, h)| (p, h, weight(s)))).collect();
        let centres = merged(&contacts);
        let surface = fitted(&centres, config.smoothing);
        let stepped = stands_level_on_rising_ground(stances, &trend);
        let treads = if stepped { treads(stances, &trend) } else { Vec::new() };
        let kind = if stepped { GroundKind::Steps } else { GroundKind::Smooth };
        Self { kind, level, centres, surface, treads }
    }

    /// Height at a place, metres.
    pub fn height(&self, place: Vec2) -> f32 {
        match self.kind {
            GroundKind::Flat => self.level,
            GroundKind::Smooth => self.smooth_height(place),
            GroundKind::Steps => self
                .treads
                .iter()
                .map(|tread| (tread.reach(place), tread.height))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map_or(self.level, |(_, height)| height),
        }
    }

    /// Direction in which the ground rises at a place; `None` where it hardly does.
    pub fn ascent(&self, place: Vec2) -> Option<Vec2> {
        (self.kind != GroundKind::Flat).then(|| ascent(&self.surface, place)).flatten()
    }

    /// The surface near the contacts; away from them the mean of the contacts by the inverse fourth power of
    /// the distance, which goes on at the height of the nearest ones and never leaves their range.
    fn smooth_height(&self, place: Vec2) -> f32 {
        let (mut nearest, mut sum, mut total) = (f32::INFINITY, 0.0, 0.0);
        for centre in &self.centres {
            let squared = centre.place.distance_squared(place);
            nearest = nearest.min(squared);
            let weight = centre.weight / (squared + 1e-3).powi(2);
            sum += weight * centre.height;
            total += weight;
        }
        let beyond = smoothstep(SURFACE_ENDS_M[0], SURFACE_ENDS_M[1], nearest.sqrt());
        let extension = sum / total;
        if beyond >= 1.0 { extension } else { self.surface.at(place) * (1.0 - beyond) + extension * beyond }
    }
}

impl Tread {
    /// How far a place is from the footprint, sideways distances shortened.
    fn reach(&self, place: Vec2) -> f32 {
        let across = Vec2::new(-self.along.y, self.along.x);
        let (heel, toe) = (self.stance.heel.dot(self.along), self.stance.toe.dot(self.along));
        let (low, high) = (heel.min(toe) - FOOT_OVERHANG_M, heel.max(toe) + FOOT_OVERHANG_M);
        let at = place.dot(self.along);
        let ahead = (low - at).max(at - high).max(0.0);
        let beside = (place - self.stance.centre()).dot(across) * SIDEWAYS;
        ahead.hypot(beside)
    }
}

fn treads(stances: &[&Stance], trend: &RadialBasis) -> Vec<Tread> {
    let mut order: Vec<usize> = (0..stances.len()).collect();
    order.sort_by(|&a, &b| stances[a].height().total_cmp(&stances[b].height()));
    let mut heights = vec![0.0; stances.len()];
    let mut start = 0;
    for i in 1..=order.len() {
        let ends = i == order.len() || {
            let (first, before, this) =
                (stances[order[start]].height(), stances[order[i - 1]].height(), stances[order[i]].height());
            this - before > TREAD_M[0] || this - first > TREAD_M[1]
        };
        if ends {
            let group = &order[start..i];
            let total: f32 = group.iter().map(|&k| weight(stances[k])).sum();
            let mean = group.iter().map(|&k| weight(stances[k]) * stances[k].height()).sum::<f32>() / total;
            group.iter().for_each(|&k| heights[k] = mean);
            start = i;
        }
    }
    stances
        .iter()
        .zip(heights)
        .map(|(&stance, height)| {
            let along = ascent(trend, stance.centre())
                .or_else(|| (stance.toe - stance.heel).try_normalize())
                .unwrap_or(Vec2::Y);
            Tread { stance: stance.clone(), height, along }
        })
        .collect()
}

/// Direction of steepest ascent over the length of a step; `None` below a slope of 1 in 10.
fn ascent(surface: &RadialBasis, place: Vec2) -> Option<Vec2> {
    const HALF_STEP_M: f32 = 0.3;
    let difference = |d: Vec2| surface.at(place + d) - surface.at(place - d);
    let gradient =
        Vec2::new(difference(Vec2::X * HALF_STEP_M), difference(Vec2::Y * HALF_STEP_M)) / (2.0 * HALF_STEP_M);
    (gradient.length() > 0.1).then(|| gradient.normalize())
}

/// Whether feet tilt by less than half of what the trend of the ground under them asks for.
///
/// Least squares of the feet's own rise from heel to toe on the rise of the trend between the same places.
fn stands_level_on_rising_ground(stances: &[&Stance], trend: &RadialBasis) -> bool {
    let (mut both, mut squares) = (0.0f32, 0.0f32);
    for stance in stances {
        let (Some(heel), Some(toe)) = (stance.heel_height, stance.toe_height) else { continue };
        let expected = trend.at(stance.toe) - trend.at(stance.heel);
        both += weight(stance) * expected * (toe - heel);
        squares += weight(stance) * expected * expected;
    }
    let mean_square = squares / stances.iter().map(|s| weight(s)).sum::<f32>();
    // Below half a centimetre of expected rise per foot the tilt says nothing.
    mean_square > 0.005f32.powi(2) && both < 0.5 * squares
}

/// Contacts (place, height, weight) merged greedily in order: each joins the first centre within the merge radius, else makes one.
fn merged(points: &[(Vec2, f32, f32)]) -> Vec<Centre> {
    let mut radius = MERGE_RADIUS_M;
    loop {
        let mut centres: Vec<Centre> = Vec::new();
        for &(place, height, weight) in points {
            match centres.iter_mut().find(|centre| centre.place.distance(place) < radius) {
                Some(centre) => {
                    let share = weight / (centre.weight + weight);
                    centre.place = centre.place.lerp(place, share);
                    centre.height += (height - centre.height) * share;
                    centre.weight += weight;
                }
                None => centres.push(Centre { place, height, weight }),
            }
        }
        if centres.len() <= MOST_CENTRES {
            return centres;
        }
        radius *= 1.5;
    }
}

/// The surface through centres; the ridge falls with the time that feet spent there.
fn fitted(centres: &[Centre], smoothing: f32) -> RadialBasis {
    let places: Vec<Vec2> = centres.iter().map(|c| c.place).collect();
    let heights: Vec<f32> = centres.iter().map(|c| c.height).collect();
    let ridges: Vec<f32> = centres.iter().map(|c| smoothing * MOST_WEIGHT_S / c.weight.max(0.05)).collect();
    RadialBasis::fit(&places, &heights, &ridges)
}

/// 0 below `low`, 1 above `high`, a cubic between.
pub(super) fn smoothstep(low: f32, high: f32, at: f32) -> f32 {
    let t = ((at - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
