use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the character is doing (docs/method.md §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gait {
    /// Both feet down, root nearly still.
    Stand,
    /// Stepping with at least one foot down.
    Walk,
    /// Running at any speed: steps with flight.
    Jog,
    /// Pelvis well below standing height over planted feet.
    Crouch,
    /// Take-off, flight and landing of a jump.
    Jump,
    /// Reacting to an impact.
    Bump,
    /// On the ground.
    Lie,
    /// From the ground back to the feet.
    GetUp,
}

impl Gait {
    /// Number of gaits, G.
    pub const COUNT: usize = 8;
    /// All gaits in the order of the one-hot vector.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Stand, Self::Walk, Self::Jog, Self::Crouch, Self::Jump, Self::Bump, Self::Lie, Self::GetUp];

    /// Position in the one-hot vector.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The one-hot vector.
    pub fn one_hot(self) -> [f32; Self::COUNT] {
        let mut v = [0.0; Self::COUNT];
        v[self.index()] = 1.0;
        v
    }

    /// The gait with the largest weight, the first among equals.
    pub fn dominant(weights: &[f32; Self::COUNT]) -> Self {
        let mut best = 0;
        for i in 1..Self::COUNT {
            if weights[i] > weights[best] {
                best = i;
            }
        }
        Self::ALL[best]
    }

    /// Lower-case name, as in configs and files.
    pub fn name(self) -> &'static str {
        ["stand", "walk", "jog", "crouch", "jump", "bump", "lie", "get_up"][self.index()]
    }
}
