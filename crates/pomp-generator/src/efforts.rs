//! What the drives of a character gave, as a recording keeps it.

use crate::{Dynamics, Generator};
use glam::Vec3;
use pomp_motion::{EffortTrack, FrameTable};
use pomp_physics::Frame;

/// The efforts of `generator` in these frames of it; `None` where nothing is simulated.
pub fn efforts<'a>(
    generator: &Generator,
    frames: impl IntoIterator<Item = &'a Frame>,
) -> Option<EffortTrack> {
    if generator.dynamics() != Dynamics::Simulated {
        return None;
    }
    let mut torques = FrameTable::with_columns(generator.body_names().len());
    let mut points = FrameTable::with_columns(generator.body_names().len());
    for frame in frames {
        torques.push(&frame.joint_torque);
        points.push(&frame.contact_point);
    }
    Some(recorded(generator, torques, points))
}

/// The efforts of `generator` whose drives gave these torques, and which the ground pushed at these points.
pub(crate) fn recorded(
    generator: &Generator,
    joint_torque: FrameTable<f32>,
    points: FrameTable<Vec3>,
) -> EffortTrack {
    EffortTrack { joint_torque, assist_limit: generator.assist_limit(), contact_point: Some(points) }
}
