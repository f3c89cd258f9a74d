use pomp_motion::{Clip, GlobalPose, MotionError};
use pomp_motion::{FRAME_RATE_HZ, Pose, Skeleton};
use pomp_physics::PoseVelocity;
use pomp_terrain::HeightMap;
use std::sync::Arc;

use super::FRAMES_PER_STEP;
use super::observation::{BodyState, body_state};

/// A clip to track and the ground that it is on.
#[derive(Debug)]
pub struct Reference {
    /// The clip, at the rate of the simulator.
    pub clip: Clip,
    /// The ground.
    pub terrain: HeightMap,
    pub(super) states: Vec<BodyState>,
}

impl Reference {
    /// Takes the clip to 60 Hz and finds its velocities.
    ///
    /// # Errors
    /// A clip that is shorter than two steps.
    pub fn new(clip: &Clip, terrain: HeightMap) -> Result<Arc<Self>, MotionError> {
        let clip = clip.resampled(FRAME_RATE_HZ);
        if clip.frames() <= 2 * FRAMES_PER_STEP {
            let reason = format!(
                "it has {} frames at {FRAME_RATE_HZ} Hz; give a clip of more than {}",
                clip.frames(),
                2 * FRAMES_PER_STEP
            );
            return Err(MotionError::BadClip { name: clip.name, reason });
        }
        let last = clip.frames() - 1;
        let states = (0..=last)
            .map(|frame| {
                let velocity = velocity(&clip, frame.min(last - 1));
                body_state(&clip.skeleton, clip.skeleton.forward_kinematics(&clip.poses[frame]), &velocity)
            })
            .collect();
        Ok(Arc::new(Self { clip, terrain, states }))
    }

    /// Last frame.
    pub fn last(&self) -> usize {
        self.clip.frames() - 1
    }

    /// Frames at which an episode can begin: a step can be made from each.
    pub fn starts(&self) -> usize {
        self.last() - FRAMES_PER_STEP + 1
    }

    /// Pose of a frame, that of the last one beyond it.
    pub fn pose(&self, frame: usize) -> &Pose {
        &self.clip.poses[frame.min(self.last())]
    }

    /// World pose of a frame.
    pub fn placed(&self, frame: usize) -> &GlobalPose {
        &self.states[frame.min(self.last())].pose
    }

    /// Velocities from a frame to the next one.
    pub(super) fn velocity(&self, frame: usize) -> PoseVelocity {
        velocity(&self.clip, frame.min(self.last() - 1))
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Skeleton {
        &self.clip.skeleton
    }
}

fn velocity(clip: &Clip, frame: usize) -> PoseVelocity {
    PoseVelocity::between(&clip.poses[frame], &clip.poses[frame + 1], 1.0 / clip.frame_rate_hz)
}
