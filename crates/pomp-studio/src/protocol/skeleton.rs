//! A skeleton and its bodies as the page draws them.

use glam::Vec2;
use pomp_motion::Skeleton;
use pomp_physics::{BodyShape, body_shapes};
use serde::Serialize;
use ts_rs::TS;

/// A joint of a skeleton.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct JointInfo {
    /// Its name.
    pub name: String,
    /// Index of its parent; absent for the root.
    pub parent: Option<usize>,
    /// Its place in its parent's frame, metres.
    pub offset: [f32; 3],
}

/// The shape of a body in its joint's frame, metres.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(untagged)]
pub enum Shape {
    /// A capsule.
    Capsule {
        /// Centres of its caps.
        capsule: [[f32; 3]; 2],
        /// Its radius.
        radius: f32,
    },
    /// A convex prism.
    Prism {
        /// Corners of its profile, y and z.
        prism: Vec<[f32; 2]>,
        /// Where it begins along x.
        from_x: f32,
        /// Where it ends along x.
        to_x: f32,
    },
}

/// The joints of a skeleton.
pub(crate) fn joints(skeleton: &Skeleton) -> Vec<JointInfo> {
    let joints = skeleton.joints().iter();
    joints
        .map(|joint| JointInfo {
            name: joint.name.clone(),
            parent: joint.parent.map(|parent| parent.0),
            offset: joint.offset.to_array(),
        })
        .collect()
}

/// Shapes of the bodies, one per joint; none for a skeleton that this program does not simulate, which the page then draws by
/// its bones.
pub(crate) fn shapes(skeleton: &Skeleton) -> Vec<Shape> {
    let shapes = body_shapes(skeleton).unwrap_or_default().into_iter();
    shapes
        .map(|shape| match shape {
            BodyShape::Capsule { from, to, radius } => {
                Shape::Capsule { capsule: [from.to_array(), to.to_array()], radius }
            }
            BodyShape::Prism { profile, from_x, to_x } => {
                Shape::Prism { prism: profile.iter().map(Vec2::to_array).collect(), from_x, to_x }
            }
        })
        .collect()
}
