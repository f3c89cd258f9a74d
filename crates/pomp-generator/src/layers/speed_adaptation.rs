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
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Length over which steepness is measured, metres, and how far ahead.
const PIECE_M: f32 = 0.3;
const PIECES_AHEAD: usize = 3;
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
}

impl Default for SpeedAdaptationConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// The layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpeedAdaptation {
    enabled: bool,
}

impl SpeedAdaptation {
    pub fn new(config: SpeedAdaptationConfig) -> Self {
        Self { enabled: config.enabled }
    }

    /// Share of the pace at which a walker at `place` goes on in `direction` (of length 1).
    pub fn scale(self, surface: &ShownSurface, place: Vec2, direction: Vec2) -> f32 {
        if self.enabled { speed_scale(surface, place, direction) } else { 1.0 }
    }
}

/// Share of the pace at `place` in `direction` (of length 1): 1 up to 11°, half on stairs, 0 before what no walker steps up or
/// down.
pub(crate) fn speed_scale(surface: &ShownSurface, place: Vec2, direction: Vec2) -> f32 {
    let height = |piece: usize| {
        let at = place + direction * (piece as f32 * PIECE_M);
        surface.height(at.x, at.y)
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
    fn a_wide_trench_stops_the_walker_a_narrow_one_does_not_and_switched_off_neither_does() {
        let gaps =
            |width_m| surface(Shape::Gaps { width_m, depth_m: 0.5, spacing_m: 3.0, heading_deg: 0.0 }, 0.1);
        let before = Vec2::new(0.0, 2.5);
        let on = SpeedAdaptation::new(SpeedAdaptationConfig::default());
        let off = SpeedAdaptation::new(SpeedAdaptationConfig { enabled: false });
        assert_eq!(on.scale(&gaps(0.4), before, Vec2::Y), 1.0);
        assert_eq!(on.scale(&gaps(1.5), before, Vec2::Y), 0.0);
        assert_eq!(off.scale(&gaps(1.5), before, Vec2::Y), 1.0);
    }
}
