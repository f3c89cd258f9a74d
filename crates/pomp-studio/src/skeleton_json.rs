//! A skeleton and its bodies as the page draws them.

use pomp_motion::Skeleton;
use pomp_physics::{BodyShape, body_shapes};
use serde_json::{Value, json};

/// Names, parents and offsets of the joints.
pub(crate) fn joints_json(skeleton: &Skeleton) -> Value {
    let joints = skeleton.joints().iter();
    joints
        .map(|joint| {
            let parent = joint.parent.map(|parent| parent.0);
            json!({ "name": joint.name, "parent": parent, "offset": joint.offset })
        })
        .collect()
}

/// Shapes of the bodies, one per joint; none for a skeleton that this program does not simulate, which the page then draws by
/// its bones.
pub(crate) fn shapes_json(skeleton: &Skeleton) -> Value {
    let Ok(shapes) = body_shapes(skeleton) else { return json!([]) };
    let shapes = shapes.into_iter();
    shapes
        .map(|shape| match shape {
            BodyShape::Capsule { from, to, radius } => json!({ "capsule": [from, to], "radius": radius }),
            BodyShape::Prism { profile, from_x, to_x } => {
                json!({ "prism": profile, "from_x": from_x, "to_x": to_x })
            }
        })
        .collect()
}
