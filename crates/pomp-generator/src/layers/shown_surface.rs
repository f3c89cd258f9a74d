//! Shown surface: the terrain that the kinematic module is shown, with trenches bridged, risers smoothed into ramps and slopes
//! limited (ours).
//!
//! Acts at `before_sample`, on the ground heights of x, and wherever a root frame is set on the ground. Steps, trenches and
//! steep ground are for the feet; the body goes over them as over a ramp. The module's pose stands on the surface that it is
//! shown, and [`super::foot_placement`] takes the feet to the terrain itself. On level and gently rolling ground the surface is
//! the terrain.
//!
//! Switched off, the module is shown the terrain as training shows it: heights as they are, root frames on the smoothed height.
//!
//! Cost: 0.2 % of a frame. The surface is computed once per character, at the start: as many instructions as 8 frames for
//! the preset flat, 55 for stairs.
//!
//! Evidence: `pomp bench --config configs/bench/layers.toml`, with its figures in docs/layers.md.

use glam::Vec2;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::{FrameTable, TerrainGrid};
use pomp_terrain::HeightMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Trenches narrower than this are bridged, metres: what a walker steps over without a leap.
const BRIDGED_M: f32 = 0.7;
/// Depth at which a hollow begins to be a trench, and from which it is bridged wholly, metres.
const TRENCH_FROM_M: f32 = 0.12;
const TRENCH_FULLY_M: f32 = 0.2;
/// Standard deviation of the smoothing, metres: half the radius of `HeightMap::smoothed_height`, the second moment of
/// its disc, by which the training data places root frames. A flight of 0.3 m treads becomes a ramp without ripples.
const SMOOTHING_M: f32 = 0.5 * HeightMap::SMOOTHING_RADIUS_M;
/// Steepest ground that the kinematic module is shown by default, as a tangent: 3.4°. It walks there as on the level. On stairs it lasts
/// longer than when shown 7° or 15°, held by the assist. On its own feet other values lasted longer in some settings and shorter in others
/// (docs/experiments/0149-stairs-at-a-walk.md).
const STEEPEST_SHOWN: f32 = 0.06;

/// Settings of the shown surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShownSurfaceConfig {
    /// If off, the kinematic module is shown the terrain as it is. Default true.
    pub enabled: bool,
    /// Steepest ground that the module is shown, as a tangent. Default 0.06 (3.4°): it walks there as on the level.
    pub steepest: f32,
}

impl Default for ShownSurfaceConfig {
    fn default() -> Self {
        Self { enabled: true, steepest: STEEPEST_SHOWN }
    }
}

impl Validate for ShownSurfaceConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("steepest", self.steepest, 0.0..=2.0)
    }
}

/// The surface over one terrain.
#[derive(Clone, Debug)]
pub(crate) struct ShownSurface {
    /// Switched off, the terrain.
    map: Arc<HeightMap>,
    enabled: bool,
    steepest: f32,
}

impl ShownSurface {
    pub fn new(config: ShownSurfaceConfig, terrain: &Arc<HeightMap>) -> Self {
        if config.enabled {
            Self { steepest: config.steepest, ..Self::over(terrain) }
        } else {
            Self { map: Arc::clone(terrain), enabled: false, steepest: config.steepest }
        }
    }

    /// The surface of the layer switched on, with the default settings.
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
        Self { map: Arc::new(map), enabled: true, steepest: STEEPEST_SHOWN }
    }

    /// The surface as a map of heights.
    pub fn map(&self) -> &HeightMap {
        &self.map
    }

    /// Height of the surface, world metres.
    pub fn height(&self, x: f32, z: f32) -> f32 {
        if self.enabled { self.map.height(x, z) } else { self.map.smoothed_height(x, z) }
    }

    /// The surface as the kinematic module is shown it when its root stands at `root` (world x and z): nowhere farther
    /// above or below the surface there than the steepest shown slope would lead.
    pub fn shown(&self, root: Vec2, x: f32, z: f32) -> f32 {
        if !self.enabled {
            return self.map.height(x, z);
        }
        let here = self.map.height(root.x, root.y);
        let most = self.steepest * root.distance(Vec2::new(x, z));
        here + (self.map.height(x, z) - here).clamp(-most, most)
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
            let surface = ShownSurface::over(&slope);
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
        let surface = ShownSurface::over(&hills);
        let worst = (0..1000)
            .map(|i| ((i % 25) as f32 * 0.4 - 5.0, (i / 25) as f32 * 0.25 - 5.0))
            .map(|(x, z)| (surface.height(x, z) - hills.smoothed_height(x, z)).abs())
            .fold(0.0, f32::max);
        println!("farthest from the smoothed hills: {worst:.4} m");
        assert!(worst < 0.01);

        let (rise_m, run_m) = (0.2, 0.3);
        let stairs = map(Shape::Stairs { rise_m, run_m, count: 8, landing_m: 2.0, heading_deg: 0.0 }, 0.05);
        let surface = ShownSurface::over(&stairs);
        let slopes: Vec<f32> = (0..20)
            .map(|i| 2.8 + 0.05 * i as f32)
            .map(|z| (surface.height(0.0, z + 0.05) - surface.height(0.0, z)) / 0.05)
            .collect();
        let (low, high) = slopes.iter().fold((f32::INFINITY, 0.0f32), |(a, b), s| (a.min(*s), b.max(*s)));
        println!("slope within the flight: {low:.3} to {high:.3}");
        assert!((low - rise_m / run_m).abs() < 0.1 && (high - rise_m / run_m).abs() < 0.1);

        // The module sees as much of the ramp as it is set to.
        let stairs = Arc::new(stairs);
        for (steepest, expected) in [(STEEPEST_SHOWN, STEEPEST_SHOWN), (0.3, 0.3), (1.0, rise_m / run_m)] {
            let surface = ShownSurface::new(ShownSurfaceConfig { enabled: true, steepest }, &stairs);
            let root = Vec2::new(0.0, 3.2);
            let rise = surface.shown(root, 0.0, 3.5) - surface.shown(root, 0.0, 2.9);
            assert!((rise / 0.6 - expected).abs() < 0.05, "{} is shown for {steepest}", rise / 0.6);
        }
    }

    #[test]
    fn a_narrow_trench_is_bridged_and_a_wide_one_is_not() {
        let gaps = |width_m| {
            let shape = Shape::Gaps { width_m, depth_m: 0.5, spacing_m: 3.0, heading_deg: 0.0 };
            ShownSurface::over(&map(shape, 0.1))
        };
        let (narrow, wide) = (gaps(0.4), gaps(1.5));
        let lowest = |surface: &ShownSurface| {
            (0..60).map(|i| surface.height(0.0, 2.0 + 0.05 * i as f32)).fold(0.0, f32::min)
        };
        println!("lowest: {} m and {} m", lowest(&narrow), lowest(&wide));
        assert!(lowest(&narrow) > -0.01 && lowest(&wide) < -0.4);
    }

    #[test]
    fn switched_off_the_terrain_is_shown_as_it_is() {
        let gaps = Shape::Gaps { width_m: 0.4, depth_m: 0.5, spacing_m: 3.0, heading_deg: 0.0 };
        let terrain = Arc::new(map(gaps, 0.1));
        let off = ShownSurface::new(
            ShownSurfaceConfig { enabled: false, ..ShownSurfaceConfig::default() },
            &terrain,
        );
        let on = ShownSurface::new(ShownSurfaceConfig::default(), &terrain);
        let mut bridged = 0.0f32;
        for i in 0..200 {
            let z = 0.02 * i as f32;
            assert_eq!(off.shown(Vec2::ZERO, 0.0, z), terrain.height(0.0, z));
            assert_eq!(off.height(0.0, z), terrain.smoothed_height(0.0, z));
            bridged = bridged.max(on.shown(Vec2::ZERO, 0.0, z) - terrain.height(0.0, z));
        }
        assert!(bridged > 0.4, "switched on, it bridges {bridged} m");
    }
}
