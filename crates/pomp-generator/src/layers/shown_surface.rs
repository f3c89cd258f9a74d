//! The ground as the course of a walker follows it (ours): trenches bridged, risers smoothed into a ramp.
//!
//! Steps, trenches and steep ground are for the feet; the body goes over them as over a ramp. So the kinematic module
//! is shown this surface, and no steeper than it walks well on; its pose stands on what it is
//! shown, and the feet are then carried to the ground itself ([`crate::carry`]).
//!
//! On level and gently rolling ground the surface is the ground.

use glam::Vec2;
use pomp_motion::{FrameTable, TerrainGrid};
use pomp_terrain::HeightMap;

/// Trenches narrower than this are bridged, metres: what a walker steps over without a leap.
const BRIDGED_M: f32 = 0.7;
/// Depth at which a hollow begins to be a trench, and from which it is bridged wholly, metres.
const TRENCH_FROM_M: f32 = 0.12;
const TRENCH_FULLY_M: f32 = 0.2;
/// Standard deviation of the smoothing, metres: half the radius of `HeightMap::smoothed_height`, the second moment of
/// its disc, by which the training data places root frames. A flight of 0.3 m treads becomes a ramp without ripples.
const SMOOTHING_M: f32 = 0.5 * HeightMap::SMOOTHING_RADIUS_M;
/// Steepest ground that the kinematic module is shown, as a tangent: 3.4°. It walks there as on the level; on stairs it lasts
/// longer than when shown 7° or 15°.
const STEEPEST_SHOWN: f32 = 0.06;
/// Length over which steepness is measured, metres, and how far ahead.
const PIECE_M: f32 = 0.3;
const PIECES_AHEAD: usize = 3;
/// Rise over run up to which a walker keeps the pace, at which it goes at [`SLOWEST`], and from which it stops.
const EASY_RISE: f32 = 0.2;
const STEEP_RISE: f32 = 0.5;
const UNWALKABLE_RISE: f32 = 0.9;
/// Share of the pace on stairs: people climb them at 0.5 to 0.6 m/s along the ground.
const SLOWEST: f32 = 0.5;

/// The surface over one terrain.
#[derive(Clone, Debug)]
pub(crate) struct WalkingSurface {
    map: HeightMap,
}

impl WalkingSurface {
    pub fn over(terrain: &HeightMap) -> Self {
        let grid = terrain.grid();
        let cell_m = grid.cell_m;
        let half = (0.5 * BRIDGED_M / cell_m).floor() as usize;
        let closed = along_both(&grid.heights, |line| windowed(line, half, f32::max));
        let closed = along_both(&closed, |line| windowed(line, half, f32::min));
        let (rows, columns) = (grid.heights.frames(), grid.heights.columns());
        let mut bridged = FrameTable::with_columns(columns);
        for row in 0..rows {
            let heights: Vec<f32> = grid.heights[row]
                .iter()
                .zip(&closed[row])
                .map(|(height, closed)| {
                    let depth = closed - height;
                    let share = ((depth - TRENCH_FROM_M) / (TRENCH_FULLY_M - TRENCH_FROM_M)).clamp(0.0, 1.0);
                    height + depth * share
                })
                .collect();
            bridged.push(&heights);
        }
        let weights = gaussian(SMOOTHING_M / cell_m);
        let heights = along_both(&bridged, |line| smoothed(line, &weights));
        let map = HeightMap::from_grid(TerrainGrid { heights, origin: grid.origin, cell_m })
            .expect("means of the heights of a valid map are finite");
        Self { map }
    }

    /// The surface as a map of heights.
    pub fn map(&self) -> &HeightMap {
        &self.map
    }

    /// Height of the surface, world metres.
    pub fn height(&self, x: f32, z: f32) -> f32 {
        self.map.height(x, z)
    }

    /// The surface as the kinematic module is shown it when its root stands at `root` (world x and z): nowhere farther
    /// above or below the surface there than the steepest shown slope would lead.
    pub fn shown(&self, root: Vec2, x: f32, z: f32) -> f32 {
        let here = self.map.height(root.x, root.y);
        let most = STEEPEST_SHOWN * root.distance(Vec2::new(x, z));
        here + (self.map.height(x, z) - here).clamp(-most, most)
    }

    /// Share of the pace at which a walker at `place` goes on in `direction` (of length 1): 1 up to 11°, half on stairs, 0
    /// before what no walker steps up or down.
    pub fn ease(&self, place: Vec2, direction: Vec2) -> f32 {
        let height = |piece: usize| {
            let at = place + direction * (piece as f32 * PIECE_M);
            self.map.height(at.x, at.y)
        };
        let steepest = (0..PIECES_AHEAD)
            .map(|piece| (height(piece + 1) - height(piece)).abs() / PIECE_M)
            .fold(0.0, f32::max);
        if steepest < UNWALKABLE_RISE {
            let share = ((steepest - EASY_RISE) / (STEEP_RISE - EASY_RISE)).clamp(0.0, 1.0);
            1.0 + (SLOWEST - 1.0) * share
        } else {
            0.0
        }
    }

    /// How far the ground ahead is stairs or as steep, from 0, where a walker keeps the pace, to 1.
    pub fn steepness(&self, place: Vec2, direction: Vec2) -> f32 {
        ((1.0 - self.ease(place, direction)) / (1.0 - SLOWEST)).min(1.0)
    }
}

/// A table whose columns, then rows, are each passed through `filter`.
fn along_both(table: &FrameTable<f32>, filter: impl Fn(&[f32]) -> Vec<f32>) -> FrameTable<f32> {
    let (rows, columns) = (table.frames(), table.columns());
    let mut across = Vec::with_capacity(rows * columns);
    for row in table.rows() {
        across.extend(filter(row));
    }
    let mut values = vec![0.0; rows * columns];
    let mut line = vec![0.0; rows];
    for column in 0..columns {
        for (row, value) in line.iter_mut().enumerate() {
            *value = across[row * columns + column];
        }
        for (row, value) in filter(&line).into_iter().enumerate() {
            values[row * columns + column] = value;
        }
    }
    FrameTable::from_values(columns, values).expect("as many values as before")
}

/// The `best` of the values within `half` places of each.
fn windowed(line: &[f32], half: usize, best: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    (0..line.len())
        .map(|i| {
            let window = &line[i.saturating_sub(half)..(i + half + 1).min(line.len())];
            window.iter().copied().reduce(&best).expect("a window holds its middle")
        })
        .collect()
}

/// Weights 0, 1, 2 … places from the middle; both sides together add up to 1.
fn gaussian(sigma: f32) -> Vec<f32> {
    let reach = (3.0 * sigma).ceil() as usize;
    let raw: Vec<f32> = (0..=reach).map(|k| (-0.5 * (k as f32 / sigma).powi(2)).exp()).collect();
    let total = 2.0 * raw.iter().sum::<f32>() - raw[0];
    raw.into_iter().map(|weight| weight / total).collect()
}

/// Beyond its ends a line goes on at the height of its ends.
fn smoothed(line: &[f32], weights: &[f32]) -> Vec<f32> {
    let last = line.len() - 1;
    (0..line.len())
        .map(|i| {
            weights
                .iter()
                .enumerate()
                .map(|(k, weight)| {
                    let both =
                        if k == 0 { line[i] } else { line[i.saturating_sub(k)] + line[(i + k).min(last)] };
                    weight * both
                })
                .sum()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_terrain::{Shape, StartArea, TerrainSpec, generate};

    fn map(shape: Shape, cell_m: f32) -> HeightMap {
        let spec = TerrainSpec { size_m: 16.0, cell_m, start: StartArea::NONE, shape };
        generate(&spec, 1).unwrap()
    }

    #[test]
    fn level_and_inclined_ground_is_its_own_surface_and_is_shown_no_steeper_than_the_module_walks_well_on() {
        for (angle_deg, shown_deg) in [(0.0, 0.0), (2.0, 2.0), (12.0, 3.43), (25.0, 3.43f32)] {
            let slope = map(Shape::Slope { angle_deg, heading_deg: 0.0 }, 0.1);
            let surface = WalkingSurface::over(&slope);
            let away = (surface.height(1.0, 2.0) - slope.height(1.0, 2.0)).abs();
            let rise = surface.shown(Vec2::ZERO, 0.0, 1.0) - surface.shown(Vec2::ZERO, 0.0, -1.0);
            println!(
                "{angle_deg}°: {away} m from the ground, shown {:.2}°",
                (0.5 * rise).atan().to_degrees()
            );
            assert!(away < 1e-4);
            assert!(((0.5 * rise).atan().to_degrees() - shown_deg).abs() < 0.1);
        }
    }

    #[test]
    fn hills_keep_their_form_and_stairs_become_a_ramp_of_their_slope() {
        let hills = map(Shape::Hills { amplitude_m: 0.6, wavelength_m: 6.0, seed: 0 }, 0.1);
        let surface = WalkingSurface::over(&hills);
        let worst = (0..1000)
            .map(|i| ((i % 25) as f32 * 0.4 - 5.0, (i / 25) as f32 * 0.25 - 5.0))
            .map(|(x, z)| (surface.height(x, z) - hills.smoothed_height(x, z)).abs())
            .fold(0.0, f32::max);
        println!("farthest from the smoothed hills: {worst:.4} m");
        assert!(worst < 0.01);

        let (rise_m, run_m) = (0.2, 0.3);
        let stairs = map(Shape::Stairs { rise_m, run_m, count: 8, landing_m: 2.0, heading_deg: 0.0 }, 0.05);
        let surface = WalkingSurface::over(&stairs);
        let slopes: Vec<f32> = (0..20)
            .map(|i| 2.8 + 0.05 * i as f32)
            .map(|z| (surface.height(0.0, z + 0.05) - surface.height(0.0, z)) / 0.05)
            .collect();
        let (low, high) = slopes.iter().fold((f32::INFINITY, 0.0f32), |(a, b), s| (a.min(*s), b.max(*s)));
        println!("slope within the flight: {low:.3} to {high:.3}");
        assert!((low - rise_m / run_m).abs() < 0.1 && (high - rise_m / run_m).abs() < 0.1);
    }

    #[test]
    fn a_trench_is_bridged_and_a_wide_one_stops_the_walker() {
        let gaps = |width_m| {
            let shape = Shape::Gaps { width_m, depth_m: 0.5, spacing_m: 3.0, heading_deg: 0.0 };
            WalkingSurface::over(&map(shape, 0.1))
        };
        let (narrow, wide) = (gaps(0.4), gaps(1.5));
        let lowest = |surface: &WalkingSurface| {
            (0..60).map(|i| surface.height(0.0, 2.0 + 0.05 * i as f32)).fold(0.0, f32::min)
        };
        println!("lowest: {} m and {} m", lowest(&narrow), lowest(&wide));
        assert!(lowest(&narrow) > -0.01 && lowest(&wide) < -0.4);
        let before = Vec2::new(0.0, 2.5);
        assert!(narrow.ease(before, Vec2::Y) == 1.0 && wide.ease(before, Vec2::Y) == 0.0);
    }

    #[test]
    fn the_pace_slows_on_stairs_and_not_on_gentle_slopes() {
        let ease = |shape| WalkingSurface::over(&map(shape, 0.05)).ease(Vec2::new(0.0, 3.0), Vec2::Y);
        assert!(ease(Shape::Slope { angle_deg: 8.0, heading_deg: 0.0 }) > 0.999);
        let stairs =
            ease(Shape::Stairs { rise_m: 0.17, run_m: 0.29, count: 10, landing_m: 2.0, heading_deg: 0.0 });
        assert!((stairs - SLOWEST).abs() < 0.02, "{stairs}");
    }
}
