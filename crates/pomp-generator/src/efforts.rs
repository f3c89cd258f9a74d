//! What the drives of a character gave, as a recording keeps it.

use crate::{Dynamics, Generator};
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
    frames.into_iter().for_each(|frame| torques.push(&frame.joint_torque));
    Some(of_torques(generator, torques))
}

/// The efforts of `generator` whose drives gave these torques.
pub(crate) fn of_torques(generator: &Generator, joint_torque: FrameTable<f32>) -> EffortTrack {
    EffortTrack { joint_torque, assist_limit: generator.assist_limit() }
}
