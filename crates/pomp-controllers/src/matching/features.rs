//! What frames are compared by.

use glam::{Vec2, Vec3};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::humanoid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Frames ahead at which the trajectory is compared.
pub const AHEAD: [usize; 3] = [20, 40, 60];

/// Where a character goes or is asked to go: at each time of [`AHEAD`], place on the ground and heading in the present root frame.
pub type Ahead = [(Vec2, f32); AHEAD.len()];

/// Values of a feature vector that describe the trajectory: places and directions.
pub(crate) const TRAJECTORY: usize = 4 * AHEAD.len();
/// Values of a feature vector that describe the feet and hips.
pub(crate) const POSE_WIDTH: usize = 15;

/// What motion matching compares besides the trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchedFeatures {
    /// Places and velocities of the feet, velocity of the hips.
    Pose,
    /// Phase codes of the clean periodic autoencoder.
    Phase,
}

/// How much a difference in each feature counts, in standard deviations of the clips.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchingWeights {
    /// Place of each foot. Default 0.75.
    pub foot_position: f32,
    /// Velocity of each foot. Default 1; less lets swinging feet turn back at a jump.
    pub foot_velocity: f32,
    /// Velocity of the hips. Default 1.
    pub hip_velocity: f32,
    /// Places on the way ahead. Default 1; more follows a path closer and jumps more often.
    pub trajectory_position: f32,
    /// Directions on the way ahead. Default 1.5.
    pub trajectory_direction: f32,
    /// Phase codes, where they take the place of feet and hips. Default 1; `matching-phase` has 0.5, above which circles are wider.
    pub phase: f32,
}

impl Default for MatchingWeights {
    fn default() -> Self {
        Self {
            foot_position: 0.75,
            foot_velocity: 1.0,
            hip_velocity: 1.0,
            trajectory_position: 1.0,
            trajectory_direction: 1.5,
            phase: 1.0,
        }
    }
}

impl Validate for MatchingWeights {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        for (name, value) in [
            ("foot_position", self.foot_position),
            ("foot_velocity", self.foot_velocity),
            ("hip_velocity", self.hip_velocity),
            ("trajectory_position", self.trajectory_position),
            ("trajectory_direction", self.trajectory_direction),
            ("phase", self.phase),
        ] {
            fields.within(name, value, 0.0..=100.0)?;
        }
        Ok(())
    }
}

impl MatchedFeatures {
    /// The groups of values that share a scale, each with its weight, for vectors of so many values.
    pub(super) fn groups(self, width: usize, weights: &MatchingWeights) -> Vec<(Range<usize>, f32)> {
        let start = width - TRAJECTORY;
        let mut groups = match self {
            Self::Pose => vec![
                (0..3, weights.foot_position),
                (3..6, weights.foot_position),
                (6..9, weights.foot_velocity),
                (9..12, weights.foot_velocity),
                (12..POSE_WIDTH, weights.hip_velocity),
            ],
            Self::Phase => vec![(0..start, weights.phase)],
        };
        let middle = start + TRAJECTORY / 2;
        groups.push((start..middle, weights.trajectory_position));
        groups.push((middle..width, weights.trajectory_direction));
        groups
    }
}

/// Feet and hips of a pose whose joint positions and velocities are given in its root frame.
pub(crate) fn pose_values(positions_root: &[Vec3], velocities_root: &[Vec3]) -> [f32; POSE_WIDTH] {
    let feet = [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0];
    let vectors = [
        positions_root[feet[0]],
        positions_root[feet[1]],
        velocities_root[feet[0]],
        velocities_root[feet[1]],
        velocities_root[humanoid::HIPS.0],
    ];
    std::array::from_fn(|value| vectors[value / 3][value % 3])
}

/// Places first, then directions.
pub(crate) fn trajectory_values(ahead: &Ahead) -> [f32; TRAJECTORY] {
    std::array::from_fn(|value| {
        let (place, yaw) = ahead[value % (TRAJECTORY / 2) / 2];
        match (value < TRAJECTORY / 2, value % 2) {
            (true, axis) => place[axis],
            (false, 0) => yaw.sin(),
            (false, _) => yaw.cos(),
        }
    })
}
