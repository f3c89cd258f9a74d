//! Reference tracking: the kinematic module goes on from its own target, and the body tracks it (ours).
//!
//! Acts at `after_simulation`, in place of pose blending and root following. In the paper's loop the kinematic module is shown the
//! simulated body. A body that stands on its own feet alone misses its target by more than the module was trained on, and the two
//! drive each other to a fall within three seconds. So the module, the phase encoding module among it, is shown the target as if the
//! body had followed it. What they learn of the body is where it is: the target's place is moved a share of the way to the body's
//! each frame, and the past and the path are moved along, so that this is no motion to the module. The path comes back
//! slowly, while the character moves along it.
//!
//! A controller in the place of the module is shown its last prediction instead of the target, without what layers made of it, moved
//! along in the same way; so is the module with `shows_prediction`. Controllers with blended experts always go on so, because they have not
//! learned to answer a body.
//!
//! The price is that the module does not answer a push: the balance of the body does ([`pomp_physics::BalanceConfig`]).
//!
//! Cost: about that of the layers that it replaces; not measured apart.
//!
//! Evidence: docs/experiments/0075-own-feet.md, docs/experiments/0076-steps-that-balance.md,
//! docs/experiments/0100-a-root-that-goes-where-it-is-led.md.

use crate::layers::shown_surface::ShownSurface;
use crate::loop_state::ground_position;
use glam::{Vec2, Vec3};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::{FRAME_RATE_HZ, RootFrame};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of reference tracking.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReferenceTrackingConfig {
    /// If off, the kinematic module is shown the simulated body. Default false. A controller with blended experts always goes on from its
    /// own target, because it has not learned to answer a body.
    pub enabled: bool,
    /// Share of the distance by which the target's root moves towards the body's root in each frame, 0 … 1. Default 0.05.
    pub share: f32,
    /// Speed at which the path returns from the displaced position of the body, as a share of the commanded speed, 0 to 1; while the
    /// command is to stand, the path does not move. Default 0.04.
    pub return_share: f32,
    /// Whether the kinematic module is shown its own last prediction instead of the target, which layers have changed. Default false; a
    /// controller in its place always is.
    pub shows_prediction: bool,
}

impl Default for ReferenceTrackingConfig {
    fn default() -> Self {
        Self { enabled: false, share: 0.05, return_share: 0.04, shows_prediction: false }
    }
}

impl Validate for ReferenceTrackingConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("share", self.share, 0.0..=1.0)?;
        fields.within("return_share", self.return_share, 0.0..=1.0)
    }
}

impl ReferenceTrackingConfig {
    /// Where the `target`'s root goes on from when the body's is at `body`; its heading stays.
    pub(crate) fn follow(&self, target: &RootFrame, body: Vec3, surface: &ShownSurface) -> RootFrame {
        let position = ground_position(target).lerp(Vec2::new(body.x, body.z), self.share);
        let height = surface.height(position.x, position.y);
        RootFrame { origin: Vec3::new(position.x, height, position.y), yaw: target.yaw }
    }

    /// How far the path lies beside its own place, world x and z in metres, a frame after it was `aside` and moved by `way`, while the
    /// command is to move at `speed_mps`.
    pub(crate) fn displaced(&self, aside: Vec2, way: Vec2, speed_mps: f32) -> Vec2 {
        let aside = aside + way;
        aside - aside.clamp_length_max(self.return_share * speed_mps / FRAME_RATE_HZ)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_terrain::{Shape, StartArea, TerrainSpec, generate};
    use std::sync::Arc;

    #[test]
    fn the_target_moves_its_share_of_the_way_and_keeps_its_heading() {
        let spec = TerrainSpec { size_m: 10.0, cell_m: 0.1, start: StartArea::NONE, shape: Shape::Flat {} };
        let surface = ShownSurface::over(&Arc::new(generate(&spec, 1).unwrap()));
        let target = RootFrame { origin: Vec3::ZERO, yaw: 1.0 };
        let layer = ReferenceTrackingConfig { share: 0.25, ..Default::default() };
        let next = layer.follow(&target, Vec3::new(1.0, 0.9, -2.0), &surface);
        assert!(next.origin.distance(Vec3::new(0.25, 0.0, -0.5)) < 1e-6);
        assert_eq!(next.yaw, target.yaw);
    }

    #[test]
    fn a_displaced_path_comes_back_at_its_speed_and_stays_there() {
        let layer = ReferenceTrackingConfig { return_share: 0.1, ..Default::default() };
        let mut aside = layer.displaced(Vec2::ZERO, Vec2::new(0.3, 0.4), 1.0);
        let mut frames = 1;
        while aside != Vec2::ZERO {
            aside = layer.displaced(aside, Vec2::ZERO, 1.0);
            frames += 1;
            assert!(frames < 1000);
        }
        // Half a metre at a tenth of 1 m/s.
        assert!((295..=305).contains(&frames), "{frames}");
        assert_eq!(layer.displaced(Vec2::X, Vec2::ZERO, 0.0), Vec2::X);
    }
}
