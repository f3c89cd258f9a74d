//! The ground of a warped variant.

use super::footprints::{BEFORE_M, BEHIND_M, free_pieces};
use super::{ReliefKind, WarpConfig};
use glam::Vec2;
use pomp_estimate::terrain_fit::{FitInput, TerrainFitConfig, stances};
use pomp_motion::random::Draws;
use pomp_terrain::{HeightMap, Shape, StartArea, TerrainError, TerrainSpec, generate};
use std::fmt::Write;

/// Least number of risers or trenches in a variant.
const LEAST_EDGES: usize = 2;
/// Least distance between an edge and a footprint, cells: the map blurs an edge by one cell.
const ROOM_CELLS: f32 = 1.6;
/// Largest height of a flight of steps above or below its start, metres.
const HIGHEST_M: f32 = 1.5;
/// Length of a ramp, metres.
const RAMP_M: [f32; 2] = [2.0, 5.0];
/// Largest width of a trench, metres: what a walk steps over in a stride.
const WIDEST_GAP_M: f32 = 0.6;

/// A ground with its description.
pub(super) struct Relief {
    pub map: HeightMap,
    /// Its numbers in words.
    pub description: String,
}

/// A height profile along a line, constant across it.
struct Profile {
    along: Vec2,
    /// Position along the line and height, metres, sorted by position.
    knots: Vec<[f32; 2]>,
}

impl Profile {
    fn at(&self, place: Vec2) -> f32 {
        let s = place.dot(self.along);
        let after = self.knots.partition_point(|knot| knot[0] <= s);
        match (after.checked_sub(1).map(|i| self.knots[i]), self.knots.get(after)) {
            (Some([s0, h0]), Some(&[s1, h1])) => h0 + (h1 - h0) * (s - s0) / (s1 - s0),
            (Some([_, h]), None) | (None, Some(&[_, h])) => h,
            (None, None) => 0.0,
        }
    }
}

/// The ground of `kind` under a clip on level ground at `level_m`, over the clip's extent and the margin.
///
/// `None` when the clip has no room for it: steps and gaps need places that no foot touches.
///
/// # Errors
/// An error of the terrain generators.
pub(super) fn relief(
    kind: ReliefKind,
    input: &FitInput,
    level_m: f32,
    terrain: &TerrainFitConfig,
    config: &WarpConfig,
    draws: &mut Draws,
) -> Result<Option<Relief>, TerrainError> {
    let [low, high] = input.extent.map(Vec2::from_array);
    let (low, high) = (low - terrain.margin_m, high + terrain.margin_m);
    let mut cell_m = terrain.cell_m;
    let counts = |cell_m: f32| {
        let cells = ((high - low) / cell_m).ceil();
        (cells.y as usize + 1, cells.x as usize + 1)
    };
    while counts(cell_m).0 * counts(cell_m).1 > terrain.max_heights {
        cell_m *= 1.25;
    }
    let along =
        heading(input, draws, matches!(kind, ReliefKind::Steps | ReliefKind::Gaps | ReliefKind::Stairs));
    let mut description = kind.name().to_owned();
    let mut say = |text: std::fmt::Arguments| description.write_fmt(text).expect("a text takes any text");
    let height: Box<dyn Fn(Vec2) -> f32> = match kind {
        ReliefKind::Slope => {
            let profile = slope(along, [low, high], config, draws);
            let steepest = profile.knots.windows(2).map(|k| (k[1][1] - k[0][1]) / (k[1][0] - k[0][0]));
            let steepest = steepest.fold(0.0f32, |a, b| if b.abs() > a.abs() { b } else { a });
            say(format_args!(" of {:.1} degrees", steepest.atan().to_degrees()));
            Box::new(move |place| profile.at(place))
        }
        ReliefKind::Steps | ReliefKind::Gaps => {
            let room = ROOM_CELLS * cell_m;
            let free: Vec<[f32; 2]> = free_pieces(input, along)
                .into_iter()
                .map(|[start, end]| [start + room, end - room])
                .filter(|[start, end]| end - start > 0.5 * cell_m)
                .collect();
            if free.len() < LEAST_EDGES {
                return Ok(None);
            }
            let profile = if kind == ReliefKind::Steps {
                steps(along, &free, cell_m, config, draws)
            } else {
                trenches(along, &free, cell_m, config, draws)
            };
            let edges = profile.knots.len() / 2;
            if edges < LEAST_EDGES {
                return Ok(None);
            }
            let heights = profile.knots.iter().map(|knot| knot[1]);
            let span =
                heights.clone().fold(f32::NEG_INFINITY, f32::max) - heights.fold(f32::INFINITY, f32::min);
            say(format_args!(" of {edges} edges over {span:.2} m"));
            Box::new(move |place| profile.at(place))
        }
        ReliefKind::Stairs => {
            let profile = treads(along, input, cell_m, config, draws);
            let edges = profile.knots.len() / 2;
            if edges < LEAST_EDGES {
                return Ok(None);
            }
            let rise =
                profile.knots.windows(2).fold(0.0f32, |most, pair| most.max((pair[1][1] - pair[0][1]).abs()));
            say(format_args!(" of {edges} risers of at most {rise:.2} m"));
            Box::new(move |place| profile.at(place))
        }
        ReliefKind::Hills | ReliefKind::Rough => {
            let shape = if kind == ReliefKind::Hills {
                let wavelength_m = draws.within(config.hills_wavelength_m);
                let amplitude_m = 0.25 * wavelength_m * draws.within(config.hills_deg).to_radians().tan();
                say(format_args!(" of {amplitude_m:.2} m over {wavelength_m:.1} m"));
                Shape::Hills { amplitude_m, wavelength_m, seed: 0 }
            } else {
                let amplitude_m = draws.within(config.rough_m);
                say(format_args!(" of {amplitude_m:.3} m"));
                Shape::Rough { amplitude_m, wavelength_m: draws.within([0.6, 1.2]), octaves: 3, seed: 0 }
            };
            let size_m = (high - low).max_element() + 1.0;
            let spec = TerrainSpec { size_m, cell_m: cell_m.max(0.1), start: StartArea::NONE, shape };
            let source = generate(&spec, draws.bits())?;
            let middle = 0.5 * (low + high);
            Box::new(move |place| source.height(place.x - middle.x, place.y - middle.y))
        }
    };
    let (rows, columns) = counts(cell_m);
    let map =
        HeightMap::from_fn(rows, columns, low.to_array(), cell_m, |x, z| level_m + height(Vec2::new(x, z)))?;
    Ok(Some(Relief { map, description }))
}

/// Direction from the first to the last footstep, turned at random unless `straight`; random where the clip stays in place.
fn heading(input: &FitInput, draws: &mut Draws, straight: bool) -> Vec2 {
    let middle = |frame: usize| {
        let sum: glam::Vec3 = input.soles[frame].iter().sum();
        0.25 * Vec2::new(sum.x, sum.z)
    };
    let start = middle(0);
    let farthest = (0..input.frames())
        .map(|frame| middle(frame) - start)
        .fold(Vec2::ZERO, |a, b| if b.length_squared() > a.length_squared() { b } else { a });
    let turn = draws.centred();
    match farthest.try_normalize() {
        Some(way) if farthest.length() > 1.0 && straight => way,
        // Cubed: mostly along the way, sometimes across it.
        Some(way) if farthest.length() > 1.0 => {
            Vec2::from_angle(turn.powi(3) * std::f32::consts::PI).rotate(way)
        }
        _ => Vec2::from_angle(turn * std::f32::consts::PI),
    }
}

fn slope(along: Vec2, [low, high]: [Vec2; 2], config: &WarpConfig, draws: &mut Draws) -> Profile {
    let corners = [low, high, Vec2::new(low.x, high.y), Vec2::new(high.x, low.y)].map(|c| c.dot(along));
    let (start, end) = (
        corners.into_iter().fold(f32::INFINITY, f32::min),
        corners.into_iter().fold(f32::NEG_INFINITY, f32::max),
    );
    let rise = |draws: &mut Draws| draws.sign() * draws.within(config.slope_deg).to_radians().tan();
    if draws.sign() < 0.0 {
        let gradient = rise(draws);
        let half = 0.5 * (end - start);
        return Profile { along, knots: vec![[start, -gradient * half], [end, gradient * half]] };
    }
    let (mut at, mut height) = (start, 0.0);
    let mut knots = vec![[at, height]];
    let mut level = draws.sign() < 0.0;
    while at < end {
        let length = draws.within(RAMP_M);
        // Every other piece may be level, so that transitions onto and off slopes occur too.
        let gradient = if level { 0.0 } else { rise(draws) };
        level = !level && draws.share() < 0.5;
        at += length;
        height += gradient * length;
        knots.push([at, height]);
    }
    Profile { along, knots }
}

/// A riser in nearly every free piece: flights of one rise each, with landings between them.
fn steps(along: Vec2, free: &[[f32; 2]], cell_m: f32, config: &WarpConfig, draws: &mut Draws) -> Profile {
    let mut knots = Vec::new();
    let mut height = 0.0f32;
    let (mut left, mut rise) = (0usize, 0.0f32);
    for &[start, end] in free {
        if left == 0 {
            left = 2 + draws.below(5);
            rise = draws.within(config.step_m) * draws.sign();
            if (height + rise * left as f32).abs() > HIGHEST_M {
                rise = -rise;
            }
            // A landing: one more footprint on the level.
            if !knots.is_empty() && draws.share() < 0.5 {
                continue;
            }
        }
        left -= 1;
        // Nearer to the higher footprint, so that more of the swing is left for the change of height.
        let middle = start + (end - start) * draws.within(if rise > 0.0 { [0.55, 0.9] } else { [0.1, 0.45] });
        let half = 0.25 * cell_m;
        knots.push([middle - half, height]);
        height += rise;
        knots.push([middle + half, height]);
    }
    Profile { along, knots }
}

/// A riser between the footholds of nearly every step: flights of one rise each, with landings between them. On the way up the toes
/// of the lower foot stay before the riser, on the way down the heel of the lower foot behind it; the upper foot may overhang it.
fn treads(along: Vec2, input: &FitInput, cell_m: f32, config: &WarpConfig, draws: &mut Draws) -> Profile {
    let half = 0.25 * cell_m;
    let room = 2.0 * half + 0.005;
    let mut feet: Vec<[f32; 2]> = stances(input)
        .iter()
        .map(|stance| {
            let (heel, toe) = (stance.heel.dot(along), stance.toe.dot(along));
            [heel.min(toe), heel.max(toe)]
        })
        .collect();
    feet.sort_by(|a, b| (a[0] + a[1]).total_cmp(&(b[0] + b[1])));
    let mut knots = Vec::new();
    let mut height = 0.0f32;
    let (mut left, mut rise, mut level) = (0usize, 0.0f32, 0usize);
    // The farthest of the toes behind the next foot.
    let mut reached = f32::NEG_INFINITY;
    for pair in feet.windows(2) {
        reached = reached.max(pair[0][1]);
        let next = pair[1][0];
        if level > 0 {
            level -= usize::from(next > reached);
            continue;
        }
        if left == 0 {
            left = 3 + draws.below(6);
            rise = draws.within(config.riser_m) * draws.sign();
            if (height + rise * left as f32).abs() > HIGHEST_M {
                rise = -rise;
            }
        }
        // Half of the toes or of the heel stays off the riser at the least.
        let (wanted, low, high) = if rise > 0.0 {
            (reached + BEFORE_M + half, reached + 0.5 * BEFORE_M + half, next - room)
        } else {
            (next - BEHIND_M - half, reached + room, next - 0.5 * BEHIND_M - half)
        };
        if low > high {
            continue;
        }
        let edge = wanted.clamp(low, high);
        left -= 1;
        knots.push([edge - half, height]);
        height += rise;
        knots.push([edge + half, height]);
        if left == 0 {
            level = 1 + draws.below(4);
        }
    }
    Profile { along, knots }
}

/// Trenches in most free pieces.
fn trenches(along: Vec2, free: &[[f32; 2]], cell_m: f32, config: &WarpConfig, draws: &mut Draws) -> Profile {
    let mut knots = Vec::new();
    let half_edge = 0.25 * cell_m;
    for (index, &[start, end]) in free.iter().enumerate() {
        let depth = draws.within(config.gap_depth_m);
        let half = 0.5 * (end - start).min(WIDEST_GAP_M) * draws.within([0.8, 1.0]) - half_edge;
        if half < 0.5 * cell_m || (index >= LEAST_EDGES && draws.share() < 0.3) {
            continue;
        }
        let middle = 0.5 * (start + end);
        for (at, height) in [(-half, [0.0, -depth]), (half, [-depth, 0.0])] {
            knots.push([middle + at - half_edge, height[0]]);
            knots.push([middle + at + half_edge, height[1]]);
        }
    }
    Profile { along, knots }
}
