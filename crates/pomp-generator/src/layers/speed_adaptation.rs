//! Speed adaptation: slower on steep ground and stairs, a stop before what cannot be walked (ours).
//!
//! Acts at `before_sample`, on the future keys of the window, and on the cursor of the plan, which advances at the same share
//! of its pace. On ground up to 11° it changes nothing.
//!
//! Cost: below 0.1 % of a frame.
//!
//! Evidence: `pomp bench --config configs/bench/layers.toml`, with its figures in docs/layers.md.

use super::shown_surface::ShownSurface;
use glam::Vec2;
use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Length over which steepness is measured, metres, and how far ahead.
const PIECE_M: f32 = 0.3;
const PIECES_AHEAD: i32 = 3;
/// Rise over run up to which a walker keeps the pace, at which it goes at [`SLOWEST`], and from which it stops.
const EASY_RISE: f32 = 0.2;
const STEEP_RISE: f32 = 0.5;
const UNWALKABLE_RISE: f32 = 0.9;
/// Share of the pace on stairs: people climb them at 0.5 to 0.6 m/s along the ground.
const SLOWEST: f32 = 0.5;

/// Settings of speed adaptation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpeedAdaptationConfig {
    /// If off, the character keeps the commanded pace on any ground. Default true.
    pub enabled: bool,
    /// Share of the pace on stairs. Default 0.5: people climb them at 0.5 to 0.6 m/s along the ground.
    pub slowest: f32,
    /// Distance over which the pace falls before stairs and rises after them, metres. Default 0: at once, 0.9 m before them.
    pub braking_m: f32,
}

impl Validate for SpeedAdaptationConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("slowest", self.slowest, 0.05..=1.0)?;
        fields.within("braking_m", self.braking_m, 0.0..=10.0)
    }
}

impl Default for SpeedAdaptationConfig {
    fn default() -> Self {
        Self { enabled: true, slowest: SLOWEST, braking_m: 0.0 }
    }
}

/// The layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpeedAdaptation {
    config: SpeedAdaptationConfig,
}

impl SpeedAdaptation {
    pub fn new(config: SpeedAdaptationConfig) -> Self {
        Self { config }
    }

    /// Share of the pace at which a walker at `place` goes on in `direction` (of length 1).
    pub fn scale(self, surface: &ShownSurface, place: Vec2, direction: Vec2) -> f32 {
        if !self.config.enabled {
            return 1.0;
        }
        let rise = |piece: i32| {
            let height = |piece: i32| {
                let at = place + direction * (piece as f32 * PIECE_M);
                surface.height(at.x, at.y)
            };
            (height(piece + 1) - height(piece)).abs() / PIECE_M
        };
        if (0..PIECES_AHEAD).any(|piece| rise(piece) >= UNWALKABLE_RISE) {
            return 0.0;
        }
        let ahead = (0..PIECES_AHEAD).map(|piece| steep(rise(piece)));
        // Farther ahead, and behind.
        let farther = (0..(self.config.braking_m / PIECE_M) as i32).flat_map(|piece| {
            let near = 1.0 - piece as f32 * PIECE_M / self.config.braking_m;
            [PIECES_AHEAD + piece, -1 - piece].map(|at| near * steep(rise(at)))
        });
        let slow = ahead.chain(farther).fold(0.0, f32::max);
        1.0 + (self.config.slowest - 1.0) * slow
    }
}

/// How steep a rise over run is, from 0, where a walker keeps the pace, to 1 on stairs.
fn steep(rise: f32) -> f32 {
    ((rise - EASY_RISE) / (STEEP_RISE - EASY_RISE)).clamp(0.0, 1.0)
}

/// Share of the pace at `place` in `direction` (of length 1): 1 up to 11°, half on stairs, 0 before what no walker steps up or
/// down.
pub(crate) fn speed_scale(surface: &ShownSurface, place: Vec2, direction: Vec2) -> f32 {
    SpeedAdaptation::new(SpeedAdaptationConfig::default()).scale(surface, place, direction)
}

/// How far the ground ahead is stairs or as steep, from 0, where a walker keeps the pace, to 1.
pub(crate) fn steepness(surface: &ShownSurface, place: Vec2, direction: Vec2) -> f32 {
    ((1.0 - speed_scale(surface, place, direction)) / (1.0 - SLOWEST)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_terrain::{HeightMap, Shape, StartArea, TerrainSpec, generate};
    use std::sync::Arc;

    fn map(shape: Shape, cell_m: f32) -> HeightMap {
        let spec = TerrainSpec { size_m: 16.0, cell_m, start: StartArea::NONE, shape };
        generate(&spec, 1).unwrap()
    }

    fn surface(shape: Shape, cell_m: f32) -> ShownSurface {
        ShownSurface::over(&Arc::new(map(shape, cell_m)))
    }

    #[test]
    fn the_pace_slows_on_stairs_and_not_on_gentle_slopes() {
        let scale = |shape| speed_scale(&surface(shape, 0.05), Vec2::new(0.0, 3.0), Vec2::Y);
        assert!(scale(Shape::Slope { angle_deg: 8.0, heading_deg: 0.0 }) > 0.999);
        let stairs =
            scale(Shape::Stairs { rise_m: 0.17, run_m: 0.29, count: 10, landing_m: 2.0, heading_deg: 0.0 });
        assert!((stairs - SLOWEST).abs() < 0.02, "{stairs}");
    }

    #[test]
    fn the_pace_falls_over_the_braking_distance_before_stairs_and_rises_over_it_after_them() {
        let stairs = Shape::Stairs { rise_m: 0.15, run_m: 0.3, count: 6, landing_m: 4.0, heading_deg: 0.0 };
        let ground = surface(stairs, 0.05);
        let config =
            SpeedAdaptationConfig { slowest: 0.65, braking_m: 2.0, ..SpeedAdaptationConfig::default() };
        let [sudden, gradual] = [SpeedAdaptationConfig { braking_m: 0.0, ..config }, config].map(|config| {
            let layer = SpeedAdaptation::new(config);
            let paces = (0..55).map(|i| layer.scale(&ground, Vec2::new(0.0, 0.5 + 0.1 * i as f32), Vec2::Y));
            paces.collect::<Vec<f32>>()
        });
        println!("{gradual:.2?}");
        // Risers from 4.0 to 5.5 m; the walk begins 3.5 m before them and ends half a metre behind them.
        assert_eq!((sudden[0], gradual[0], sudden[25]), (1.0, 1.0, 1.0));
        assert!((gradual[40] - 0.65).abs() < 1e-3 && (sudden[40] - 0.65).abs() < 1e-3);
        assert!(gradual[54] < 0.8 && sudden[54] > 0.99);
        let steepest = gradual.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max);
        assert!(steepest < 0.08, "{steepest} in 10 cm");
        assert!(gradual[..36].windows(2).all(|pair| pair[1] <= pair[0] + 1e-6));
    }

    #[test]
    fn a_wide_trench_stops_the_walker_a_narrow_one_does_not_and_switched_off_neither_does() {
        let gaps =
            |width_m| surface(Shape::Gaps { width_m, depth_m: 0.5, spacing_m: 3.0, heading_deg: 0.0 }, 0.1);
        let before = Vec2::new(0.0, 2.5);
        let on = SpeedAdaptation::new(SpeedAdaptationConfig::default());
        let off = SpeedAdaptation::new(SpeedAdaptationConfig {
            enabled: false,
            ..SpeedAdaptationConfig::default()
        });
        assert_eq!(on.scale(&gaps(0.4), before, Vec2::Y), 1.0);
        assert_eq!(on.scale(&gaps(1.5), before, Vec2::Y), 0.0);
        assert_eq!(off.scale(&gaps(1.5), before, Vec2::Y), 1.0);
    }
}
