use crate::PhaseError;
use crate::manifold::expect_size;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::FrameTable;
use pomp_motion::glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Most frames on each side of the centre: the tables of the transforms grow with the square.
const LARGEST_RADIUS: usize = 1000;

/// The stretch of time that the network sees around a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowConfig {
    /// Number of frames on each side of the centre; 60 gives the window of DeepPhase, 121 frames. Shorter windows cannot
    /// distinguish slow frequencies from offsets; longer windows blur transitions. 2 to 1000.
    pub radius_frames: usize,
    /// Frames per second of the motion, 60 by default.
    pub frame_rate_hz: f32,
}

impl Default for WindowConfig {
    fn default() -> Self {
        Self { radius_frames: 60, frame_rate_hz: 60.0 }
    }
}

impl Validate for WindowConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("radius_frames", self.radius_frames, 2..=LARGEST_RADIUS)?;
        fields.within("frame_rate_hz", self.frame_rate_hz, (Bound::Excluded(0.0), Bound::Unbounded))
    }
}

impl WindowConfig {
    /// Number of frames, N = 2·radius + 1.
    pub fn frames(&self) -> usize {
        self.radius_frames.saturating_mul(2).saturating_add(1)
    }

    /// Time of frame `index` of the window, seconds from its centre.
    pub fn time_s(&self, index: usize) -> f32 {
        (index as f32 - self.radius_frames as f32) / self.frame_rate_hz
    }

    /// # Errors
    /// [`PhaseError::OutOfRange`] for an empty window or a frame rate that is not positive.
    pub fn validate(&self) -> Result<(), PhaseError> {
        Ok(self.check(&Fields::root().section("window"))?)
    }

    /// The window around `frame` of joint velocities `[T, J]`, m/s, each frame in its own root frame.
    ///
    /// Beyond the ends of the motion its first and last velocities are held, so that every frame has a window.
    ///
    /// # Errors
    /// As [`Self::validate`]; [`PhaseError::NoSuchFrame`]; [`PhaseError::NotFinite`] with the frame as row and the joint as
    /// column.
    pub fn cut(&self, velocities: &FrameTable<Vec3>, frame: usize) -> Result<VelocityWindow, PhaseError> {
        self.validate()?;
        let frames = velocities.frames();
        if frame >= frames {
            return Err(PhaseError::NoSuchFrame { frame, frames });
        }
        let at = |index: usize| (frame + index).saturating_sub(self.radius_frames).min(frames - 1);
        VelocityWindow::from_frames(velocities.columns(), self.frames(), |index| &velocities[at(index)])
            .map_err(|error| match error {
                PhaseError::NotFinite { what, row, column } => {
                    PhaseError::NotFinite { what, row: at(row), column }
                }
                other => other,
            })
    }
}

/// Joint velocities over a window, V ∈ R^{3J×N}, less the mean of each row: the input of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct VelocityWindow {
    joints: usize,
    frames: usize,
    values: Vec<f32>,
    mean: Vec<f32>,
}

impl VelocityWindow {
    /// A window of `frames` rows of J velocities (m/s, root frame): takes the mean off.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`], [`PhaseError::NotFinite`].
    pub fn from_frames<'a>(
        joints: usize,
        frames: usize,
        row: impl Fn(usize) -> &'a [Vec3],
    ) -> Result<Self, PhaseError> {
        let mut values = vec![0.0; 3 * joints * frames];
        for frame in 0..frames {
            let velocities = row(frame);
            expect_size("joints of a velocity window", joints, velocities.len())?;
            for (joint, velocity) in velocities.iter().enumerate() {
                if !velocity.is_finite() {
                    return Err(PhaseError::NotFinite {
                        what: "joint velocities",
                        row: frame,
                        column: joint,
                    });
                }
                for (axis, value) in velocity.to_array().into_iter().enumerate() {
                    values[(3 * joint + axis) * frames + frame] = value;
                }
            }
        }
        let mut mean = Vec::with_capacity(3 * joints);
        for row in values.chunks_exact_mut(frames) {
            let average = row.iter().sum::<f32>() / frames as f32;
            row.iter_mut().for_each(|value| *value -= average);
            mean.push(average);
        }
        Ok(Self { joints, frames, values, mean })
    }

    /// Number of joints, J.
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// Number of frames, N.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Row-major `[3J, N]`: row 3·joint + axis, one column per frame; m/s without the row's mean.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The means that were taken off, R^{3J}, m/s.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }
}
