//! Root following: the root of the target follows the simulated root slowly (ours).
//!
//! Acts at `after_simulation`. In the paper's loop the next target starts where the body is; here it keeps its own place and
//! moves a share of the way to the body each frame, so that a body that lags behind its drives does not slow the walk. Where
//! nothing is simulated, the root of a controller with blended experts is where its root motion leads; that of others follows their pose.
//!
//! Cost: below 0.2 % of a frame.
//!
//! Evidence: `pomp bench --config configs/bench/layers.toml`, with its figures in docs/layers.md.

use super::shown_surface::ShownSurface;
use crate::loop_state::ground_position;
use glam::Vec3;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::RootFrame;
use pomp_motion::rotation::wrap_angle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of root following.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RootFollowingConfig {
    /// If off, the target's root is the simulated root in each frame. Default true.
    pub enabled: bool,
    /// Share of the distance by which the target's root moves towards the body's root in each frame, 0 … 1. At 0 the body
    /// springs back after a push as if nothing had happened; with larger values every lag slows the target: at 0.15, a body
    /// that is 4 cm behind slows it by 0.36 m/s. Default 0.06.
    pub share: f32,
}

impl Default for RootFollowingConfig {
    fn default() -> Self {
        Self { enabled: true, share: 0.06 }
    }
}

impl Validate for RootFollowingConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("share", self.share, 0.0..=1.0)
    }
}

impl RootFollowingConfig {
    /// Where the `target`'s root goes on from when the body's is at `body`.
    pub(crate) fn follow(&self, target: &RootFrame, body: &RootFrame, surface: &ShownSurface) -> RootFrame {
        let share = if self.enabled { self.share } else { 1.0 };
        let position = ground_position(target).lerp(ground_position(body), share);
        RootFrame {
            origin: Vec3::new(position.x, surface.height(position.x, position.y), position.y),
            yaw: wrap_angle(target.yaw + wrap_angle(body.yaw - target.yaw) * share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_terrain::{Shape, StartArea, TerrainSpec, generate};
    use std::sync::Arc;

    #[test]
    fn the_target_moves_its_share_of_the_way_and_all_of_it_when_switched_off() {
        let spec = TerrainSpec { size_m: 10.0, cell_m: 0.1, start: StartArea::NONE, shape: Shape::Flat {} };
        let surface = ShownSurface::over(&Arc::new(generate(&spec, 1).unwrap()));
        let target = RootFrame { origin: Vec3::ZERO, yaw: 3.0 };
        let body = RootFrame { origin: Vec3::new(1.0, 0.0, -0.5), yaw: -3.0 };
        let on = RootFollowingConfig { enabled: true, share: 0.25 }.follow(&target, &body, &surface);
        assert!(on.origin.distance(Vec3::new(0.25, 0.0, -0.125)) < 1e-6);
        let turn = wrap_angle(body.yaw - target.yaw);
        assert!((wrap_angle(on.yaw - target.yaw) - 0.25 * turn).abs() < 1e-5);
        let off = RootFollowingConfig { enabled: false, share: 0.25 }.follow(&target, &body, &surface);
        assert!(off.origin.distance(body.origin) < 1e-6 && wrap_angle(off.yaw - body.yaw).abs() < 1e-5);
    }
}
