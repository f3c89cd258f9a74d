//! The form of the ground under planted feet: level, inclined, smooth or stepped.

use super::TerrainFitConfig;
use super::radial_basis::RadialBasis;
use super::stance::{Stance, weighted_median};
use glam::Vec2;
use pomp_motion::smoothstep_between;
use serde::{Deserialize, Serialize};

/// Most centres of the radial-basis surface; more stances are merged over a larger radius.
const MOST_CENTRES: usize = 400;
/// Contacts closer than this are one centre of the surface, metres.
const MERGE_RADIUS_M: f32 = 0.08;
/// Largest weight of a stance, seconds: long standing carries no more information than a step.
const MOST_WEIGHT_S: f32 = 0.5;
/// Least duration of a confirmed stance off the level, seconds; shorter ones may be false contacts.
const CONFIRMED_S: f32 = 0.15;
/// Median error of level ground at the stances above which a better plane or rolling ground replaces it, metres. At 1 cm the level floors of four of 139 recorded clips became hills.
const POOR_FIT_M: f32 = 0.015;
/// Rise over run above which a plane that fits poorly and on which feet do not tilt is refused: a box beside a floor.
const STEEP: f32 = 0.1;
/// Fewest stances that make a plane: three always lie on one.
const LEAST_FOR_PLANE: usize = 4;
/// Fewest stances that make rolling ground, and parts in which they are left out by turns to test it.
const LEAST_FOR_ROLLING: usize = 8;
const FOLDS: usize = 5;
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
    /// An inclined plane: a slope, or a capture floor that was not level.
    Plane,
    /// A radial-basis surface through the planted feet.
    Smooth,
    /// Level treads under the feet, with risers half-way between them.
    Steps,
}

impl GroundKind {
    /// Name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Plane => "plane",
            Self::Smooth => "smooth",
            Self::Steps => "steps",
        }
    }

    /// Whether the ground is level or inclined as a whole.
    pub fn is_plane(self) -> bool {
        matches!(self, Self::Flat | Self::Plane)
    }
}

/// A height for every place.
pub(super) struct Ground {
    pub kind: GroundKind,
    /// Median height of the stances.
    pub level: f32,
    plane: Plane,
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
        let plane = Plane { at_origin: level, gradient: Vec2::ZERO };
        Self { kind: GroundKind::Flat, level, plane, centres: Vec::new(), surface, treads: Vec::new() }
    }

    /// Decides on the form of the ground under these stances, of which there is at least one.
    ///
    /// Level where all but a small share of the planted time lies within the tolerance of the median and no
    /// confirmed stance lies a step off it; an inclined plane by the same rule, where level ground fails it or
    /// where a plane explains most of a poor fit, unless it is steep, fits poorly and feet stand level on it; neither where
    /// gently rolling ground explains the remaining error. Otherwise stepped where feet stand level although the ground between them rises, and smooth where they tilt with it.
    pub fn of_stances(stances: &[&Stance], config: &TerrainFitConfig) -> Self {
        let level = weighted_median(stances.iter().map(|s| (s.height(), weight(s))).collect());
        let level_plane = Plane { at_origin: level, gradient: Vec2::ZERO };
        let inclined = Plane::through(stances, config.flat_tolerance_m);
        let level_carries = level_plane.carries(stances, config);
        let inclined_explains =
            level_plane.misfit(stances) > POOR_FIT_M && inclined.explains(stances, &level_plane, config);
        let level_rolls = rolls(stances, &level_plane, config);
        if level_carries && !inclined_explains && !level_rolls {
            return Self::flat(level);
        }
        let is_box = inclined.gradient.length() > STEEP
            && inclined.misfit_of_ends(stances) > POOR_FIT_M
            && stands_level(stances, |place| inclined.at(place));
        let inclined_carries =
            stances.len() >= LEAST_FOR_PLANE && inclined.carries(stances, config) && !is_box;
        if (inclined_explains || !level_carries) && inclined_carries && !rolls(stances, &inclined, config) {
            return Self { kind: GroundKind::Plane, plane: inclined, ..Self::flat(level) };
        }
        if level_carries && !level_rolls {
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
        let stepped = stands_level(stances, |place| trend.at(place));
        let treads = if stepped { treads(stances, &trend) } else { Vec::new() };
        let kind = if stepped { GroundKind::Steps } else { GroundKind::Smooth };
        Self { kind, level, plane: level_plane, centres, surface, treads }
    }

    /// Angle of an inclined plane to the horizontal, degrees; 0 for other ground.
    pub fn incline_deg(&self) -> f32 {
        self.plane.gradient.length().atan().to_degrees()
    }

    /// Height at a place, metres.
    pub fn height(&self, place: Vec2) -> f32 {
        match self.kind {
            GroundKind::Flat => self.level,
            GroundKind::Plane => self.plane.at(place),
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
        matches!(self.kind, GroundKind::Smooth | GroundKind::Steps)
            .then(|| ascent(&self.surface, place))
            .flatten()
    }

    /// The surface near the contacts; away from them the mean of the contacts by the inverse fourth power of
    /// the distance, which continues the height of the nearest ones and stays within their range.
    fn smooth_height(&self, place: Vec2) -> f32 {
        let (mut nearest, mut sum, mut total) = (f32::INFINITY, 0.0, 0.0);
        for centre in &self.centres {
            let squared = centre.place.distance_squared(place);
            nearest = nearest.min(squared);
            let weight = centre.weight / (squared + 1e-3).powi(2);
            sum += weight * centre.height;
            total += weight;
        }
        let beyond = smoothstep_between(SURFACE_ENDS_M[0], SURFACE_ENDS_M[1], nearest.sqrt());
        let extension = sum / total;
        if beyond >= 1.0 { extension } else { self.surface.at(place) * (1.0 - beyond) + extension * beyond }
    }
}

/// A height and a slope.
struct Plane {
    at_origin: f32,
    gradient: Vec2,
}

impl Plane {
    fn at(&self, place: Vec2) -> f32 {
        self.at_origin + self.gradient.dot(place)
    }

    /// Least squares through the middles of the stances, reweighted so that those farther off than the
    /// tolerance lose weight (Cauchy weights). Directions in which the feet hardly spread stay level.
    fn through(stances: &[&Stance], tolerance: f32) -> Self {
        let at_origin = weighted_median(stances.iter().map(|s| (s.height(), weight(s))).collect());
        let mut plane = Self { at_origin, gradient: Vec2::ZERO };
        for _ in 0..20 {
            let say = |s: &Stance| {
                let off = (s.height() - plane.at(s.centre())) / tolerance.max(1e-3);
                weight(s) / (1.0 + off * off)
            };
            let total: f32 = stances.iter().map(|s| say(s)).sum();
            let middle = stances.iter().map(|s| s.centre() * say(s)).sum::<Vec2>() / total;
            let height = stances.iter().map(|s| s.height() * say(s)).sum::<f32>() / total;
            // A ridge of a spread of 15 cm: feet within their own breadth do not determine a slope.
            let (mut xx, mut xz, mut zz, mut xh, mut zh) = (0.15 * 0.15, 0.0, 0.15 * 0.15, 0.0, 0.0);
            for stance in stances {
                let (d, h, w) = (stance.centre() - middle, stance.height() - height, say(stance) / total);
                xx += w * d.x * d.x;
                xz += w * d.x * d.y;
                zz += w * d.y * d.y;
                xh += w * d.x * h;
                zh += w * d.y * h;
            }
            let gradient = Vec2::new(zz * xh - xz * zh, xx * zh - xz * xh) / (xx * zz - xz * xz);
            let offsets = stances.iter().map(|s| (s.height() - gradient.dot(s.centre()), say(s))).collect();
            plane = Self { at_origin: weighted_median(offsets), gradient };
        }
        plane
    }

    /// Weighted median distance of the stances.
    fn misfit(&self, stances: &[&Stance]) -> f32 {
        weighted_median(
            stances.iter().map(|s| ((s.height() - self.at(s.centre())).abs(), weight(s))).collect(),
        )
    }

    /// Weighted median distance of heels and toes, where they touch: feet that do not tilt with it stand out.
    fn misfit_of_ends(&self, stances: &[&Stance]) -> f32 {
        weighted_median(
            stances
                .iter()
                .flat_map(|s| s.points().map(|(place, height)| ((height - self.at(place)).abs(), weight(s))))
                .collect(),
        )
    }

    /// Whether it leaves a third or less of the variance per degree of freedom that `level` leaves: noise on
    /// level ground leaves about all of it, however few the stances are.
    fn explains(&self, stances: &[&Stance], level: &Self, config: &TerrainFitConfig) -> bool {
        let n = stances.len() as f32;
        let squares = |plane: &Self| {
            let cut = 3.0 * config.flat_tolerance_m;
            let off = |s: &Stance| (s.height() - plane.at(s.centre())).abs().min(cut);
            stances.iter().map(|s| weight(s) * off(s) * off(s)).sum::<f32>()
        };
        stances.len() >= LEAST_FOR_PLANE && squares(self) / (n - 3.0) <= squares(level) / (n - 1.0) / 3.0
    }

    /// Whether nearly all stances lie on it, and none is clearly a step off it.
    fn carries(&self, stances: &[&Stance], config: &TerrainFitConfig) -> bool {
        let off = |s: &Stance| (s.height() - self.at(s.centre())).abs();
        let total: f32 = stances.iter().map(|s| weight(s)).sum();
        let outliers: f32 =
            stances.iter().filter(|s| off(s) > config.flat_tolerance_m).map(|s| weight(s)).sum();
        let step = stances.iter().any(|s| off(s) > config.step_height_m && s.duration_s >= CONFIRMED_S);
        outliers <= config.flat_outlier_share * total && !step
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

/// Whether gently rolling ground explains the residual of `plane`: a surface through the other stances predicts
/// each stance to a third of the variance, and the feet tilt as that surface does. Noise passes neither test: it is
/// not predicted by neighbours and does not tilt feet.
fn rolls(stances: &[&Stance], plane: &Plane, config: &TerrainFitConfig) -> bool {
    if stances.len() < LEAST_FOR_ROLLING || plane.misfit(stances) < POOR_FIT_M {
        return false;
    }
    let point = |s: &Stance| (s.centre(), s.height() - plane.at(s.centre()), weight(s));
    let surface_of = |kept: &dyn Fn(usize) -> bool| {
        let points: Vec<(Vec2, f32, f32)> =
            stances.iter().enumerate().filter(|(i, _)| kept(*i)).map(|(_, s)| point(s)).collect();
        fitted(&merged(&points), config.smoothing)
    };
    let (mut left, mut whole) = (0.0f32, 0.0f32);
    for fold in 0..FOLDS {
        let surface = surface_of(&|i| i % FOLDS != fold);
        for (_, stance) in stances.iter().enumerate().filter(|(i, _)| i % FOLDS == fold) {
            let (place, off, weight) = point(stance);
            left += weight * (off - surface.at(place)).powi(2);
            whole += weight * off * off;
        }
    }
    if left > whole / 3.0 {
        return false;
    }
    let surface = surface_of(&|_| true);
    let (mut both, mut squares) = (0.0f32, 0.0f32);
    for stance in stances {
        let (Some(heel), Some(toe)) = (stance.heel_height, stance.toe_height) else { continue };
        let expected = surface.at(stance.toe) - surface.at(stance.heel);
        let found = toe - heel - (plane.at(stance.toe) - plane.at(stance.heel));
        both += weight(stance) * expected * found;
        squares += weight(stance) * expected * expected;
    }
    both > 0.5 * squares
}

/// Direction of steepest ascent over the length of a step; `None` below a slope of 1 in 10.
fn ascent(surface: &RadialBasis, place: Vec2) -> Option<Vec2> {
    const HALF_STEP_M: f32 = 0.3;
    let difference = |d: Vec2| surface.at(place + d) - surface.at(place - d);
    let gradient =
        Vec2::new(difference(Vec2::X * HALF_STEP_M), difference(Vec2::Y * HALF_STEP_M)) / (2.0 * HALF_STEP_M);
    (gradient.length() > 0.1).then(|| gradient.normalize())
}

/// Whether feet tilt by less than half of what rising ground under them, a height for every place, asks for.
///
/// Least squares of the feet's own rise from heel to toe on the rise of the ground between the same places.
fn stands_level(stances: &[&Stance], ground: impl Fn(Vec2) -> f32) -> bool {
    let (mut both, mut squares) = (0.0f32, 0.0f32);
    for stance in stances {
        let (Some(heel), Some(toe)) = (stance.heel_height, stance.toe_height) else { continue };
        let expected = ground(stance.toe) - ground(stance.heel);
        both += weight(stance) * expected * (toe - heel);
        squares += weight(stance) * expected * expected;
    }
    let mean_square = squares / stances.iter().map(|s| weight(s)).sum::<f32>();
    // Below half a centimetre of expected rise per foot the tilt is not significant.
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
