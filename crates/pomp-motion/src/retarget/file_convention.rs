//! How a file writes lengths and axes.

use glam::Quat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of length of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LengthUnit {
    /// 1 m.
    Metre,
    /// 0.01 m.
    Centimetre,
    /// 0.001 m.
    Millimetre,
    /// 0.0254 m.
    Inch,
    /// CMU's scaled inch: 0.0254 / 0.45 m = 5.6444 cm.
    CmuUnit,
}

impl LengthUnit {
    /// All units, in the order in which they are tried.
    pub const ALL: [Self; 5] = [Self::Metre, Self::Centimetre, Self::Millimetre, Self::Inch, Self::CmuUnit];

    /// Length of the unit, metres.
    pub fn metres(self) -> f32 {
        match self {
            Self::Metre => 1.0,
            Self::Centimetre => 0.01,
            Self::Millimetre => 0.001,
            Self::Inch => 0.0254,
            Self::CmuUnit => 0.0254 / 0.45,
        }
    }

    /// Name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metre => "metres",
            Self::Centimetre => "centimetres",
            Self::Millimetre => "millimetres",
            Self::Inch => "inches",
            Self::CmuUnit => "CMU units of 5.6444 cm",
        }
    }
}

/// Axis of a file that points to the sky.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpAxis {
    /// +Y, as in this project.
    Y,
    /// +Z.
    Z,
}

impl UpAxis {
    /// Rotation from the file's world to a world with Y up.
    pub fn world_from_file(self) -> Quat {
        match self {
            Self::Y => Quat::IDENTITY,
            Self::Z => Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        }
    }
}
