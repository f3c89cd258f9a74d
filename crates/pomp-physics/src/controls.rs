use crate::balance::{CatchingStep, HeightWave, MovedFoot, Reaction};
use pomp_motion::glam::Vec3;
use serde::{Deserialize, Serialize};

/// What belongs to a snapshot besides the state of the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Controls {
    pub(crate) assist_scale: f32,
    pub(crate) strength_scale: f32,
    /// Whether the assist also holds a body up that otherwise balances by its legs.
    pub(crate) held: bool,
    /// Running mean of the assist's horizontal force, N.
    pub(crate) assist_given_n: Vec3,
    /// How much of a blow there is to get over, 0 to 1.
    pub(crate) struck: f32,
    /// Smoothed velocity of the target's centre of mass, m/s, and angular velocity of its pelvis, rad/s, of a body that balances;
    /// none before the first frame.
    pub(crate) led: Option<(Vec3, Vec3)>,
    /// How far the target of a body that balances is stepping, 0 to 1.
    pub(crate) stepping: f32,
    /// What is known of the height of the target's centre of mass at the end of the last frame, of a body that balances.
    pub(crate) height: Option<HeightWave>,
    /// Feet of the target of a body that balances.
    pub(crate) feet: [MovedFoot; 2],
    /// The catching step that a body that balances takes.
    pub(crate) catching: Option<CatchingStep>,
    /// What a body that balances does beyond what its target asks.
    pub(crate) reaction: Reaction,
    pub(crate) divergences: u32,
    /// For how long a joint has been too deep in the ground.
    pub(crate) frames_in_ground: u32,
}

impl Controls {
    /// Drives and assist in full, and nothing that has happened.
    pub(crate) fn new() -> Self {
        Self {
            assist_scale: 1.0,
            strength_scale: 1.0,
            held: false,
            assist_given_n: Vec3::ZERO,
            struck: 0.0,
            led: None,
            stepping: 0.0,
            height: None,
            feet: [MovedFoot::default(); 2],
            catching: None,
            reaction: Reaction::default(),
            divergences: 0,
            frames_in_ground: 0,
        }
    }

    /// The same scales, and nothing that has happened.
    pub(crate) fn after_reset(&self) -> Self {
        Self { assist_scale: self.assist_scale, strength_scale: self.strength_scale, ..Self::new() }
    }
}
