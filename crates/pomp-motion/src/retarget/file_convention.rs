//! How a file writes lengths and axes.

use glam::{Quat, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::f32::consts::{FRAC_PI_2, PI};

/// Unit of length of a file: a name such as `"centimetre"`, or `{ metres = 0.05 }`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LengthUnit {
    /// 1 m.
    Metre,
    /// 0.1 m.
    Decimetre,
    /// 0.01 m.
    Centimetre,
    /// 0.001 m.
    Millimetre,
    /// 0.0254 m.
    Inch,
    /// 0.3048 m.
    Foot,
    /// CMU's scaled inch: 0.0254 / 0.45 m = 5.6444 cm.
    CmuUnit,
    /// A length in metres; more than 0.
    Metres(f32),
}

impl LengthUnit {
    /// All units with a name, in the order in which they are tried.
    pub const ALL: [Self; 7] = [
        Self::Metre,
        Self::Centimetre,
        Self::Millimetre,
        Self::Inch,
        Self::CmuUnit,
        Self::Decimetre,
        Self::Foot,
    ];

    /// Length of the unit, metres.
    pub fn metres(self) -> f32 {
        match self {
            Self::Metre => 1.0,
            Self::Decimetre => 0.1,
            Self::Centimetre => 0.01,
            Self::Millimetre => 0.001,
            Self::Inch => 0.0254,
            Self::Foot => 0.3048,
            Self::CmuUnit => 0.0254 / 0.45,
            Self::Metres(metres) => metres,
        }
    }

    /// Name in a sentence.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Metre => "metres".into(),
            Self::Decimetre => "decimetres".into(),
            Self::Centimetre => "centimetres".into(),
            Self::Millimetre => "millimetres".into(),
            Self::Inch => "inches".into(),
            Self::Foot => "feet".into(),
            Self::CmuUnit => "CMU units of 5.6444 cm".into(),
            Self::Metres(metres) => format!("units of {metres} m").into(),
        }
    }

    /// Whether a length in this unit is one.
    pub fn is_positive(self) -> bool {
        self.metres().is_finite() && self.metres() > 0.0
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
    /// +X.
    X,
    /// −Y.
    #[serde(rename = "-y")]
    NegY,
    /// −Z.
    #[serde(rename = "-z")]
    NegZ,
    /// −X.
    #[serde(rename = "-x")]
    NegX,
}

impl UpAxis {
    /// The axis in the file.
    pub fn direction(self) -> Vec3 {
        match self {
            Self::Y => Vec3::Y,
            Self::Z => Vec3::Z,
            Self::X => Vec3::X,
            Self::NegY => Vec3::NEG_Y,
            Self::NegZ => Vec3::NEG_Z,
            Self::NegX => Vec3::NEG_X,
        }
    }

    /// Name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Y => "Y",
            Self::Z => "Z",
            Self::X => "X",
            Self::NegY => "-Y",
            Self::NegZ => "-Z",
            Self::NegX => "-X",
        }
    }

    /// Rotation from the file's world to a world with Y up.
    pub fn world_from_file(self) -> Quat {
        match self {
            Self::Y => Quat::IDENTITY,
            Self::Z => Quat::from_rotation_x(-FRAC_PI_2),
            Self::X => Quat::from_rotation_z(FRAC_PI_2),
            Self::NegY => Quat::from_rotation_x(PI),
            Self::NegZ => Quat::from_rotation_x(FRAC_PI_2),
            Self::NegX => Quat::from_rotation_z(-FRAC_PI_2),
        }
    }
}

/// What a rig map states about its files, in addition to their joints. What it does not state is inferred from each file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FileConvention {
    /// Unit of length; if absent, it is inferred from the length of the legs.
    pub unit: Option<LengthUnit>,
    /// Up axis; if absent, it is inferred from the way the body stands.
    pub up_axis: Option<UpAxis>,
    /// Whether the file uses a left-handed coordinate system and thus shows the mirror image; the motion is then reflected
    /// when it is read. Default false.
    pub mirrored: bool,
    /// Whether a T-pose or rest pose at the ends of the motion is left out if the motion jumps away from it. Default false.
    pub leave_out_t_pose: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_up_axis_is_turned_to_y() {
        for axis in [UpAxis::Y, UpAxis::Z, UpAxis::X, UpAxis::NegY, UpAxis::NegZ, UpAxis::NegX] {
            let up = axis.world_from_file() * axis.direction();
            assert!(up.distance(Vec3::Y) < 1e-6, "{axis:?} becomes {up}");
        }
    }
}
