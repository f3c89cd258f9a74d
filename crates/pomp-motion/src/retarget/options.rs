use super::{LengthUnit, UpAxis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Source of the bone lengths of the result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Proportions {
    /// [`crate::Skeleton::humanoid`] of `height_m`: the same bones for every clip.
    Project {
        /// Body height, metres.
        height_m: f32,
    },
    /// The subject's own bone lengths, made symmetric, in the project's topology and T-pose.
    Source,
}

/// Where inverse kinematics puts the wrists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WristTarget {
    /// The position of the source's wrist relative to its shoulder, scaled by the ratio of arm lengths: a straight arm
    /// stays straight.
    LimbScaled,
    /// The position of the source's wrist in the world, scaled like that of the feet: hands on the ground stay there,
    /// but an arm bends if its shoulder is in a different place.
    BodyScaled,
}

/// How to retarget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetargetOptions {
    /// Bone lengths of the result; default: those of the project skeleton at 1.75 m.
    pub proportions: Proportions,
    /// What the wrists follow; default: [`WristTarget::LimbScaled`].
    pub wrist_target: WristTarget,
    /// Unit of the file; by default (`None`), it is inferred from the leg length.
    pub unit: Option<LengthUnit>,
    /// Up axis of the file; by default (`None`), it is the axis along which the feet are below the hips.
    pub up_axis: Option<UpAxis>,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self {
            proportions: Proportions::Project { height_m: 1.75 },
            wrist_target: WristTarget::LimbScaled,
            unit: None,
            up_axis: None,
        }
    }
}
