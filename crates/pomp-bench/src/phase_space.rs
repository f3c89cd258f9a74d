//! Motions as sets of points on the phase manifold of the clean periodic autoencoder.

use crate::BenchError;
use crate::mocap::{Mocap, poses};
use pomp_eval::FeatureSums;
use pomp_model::Model;
use pomp_motion::{FrameTable, Gait, GlobalPose, RootFrame};
use pomp_phase::{PhaseState, VelocityWindow, WindowConfig, WindowEncoder};
use pomp_train::{FRAME_RATE_HZ, TrainingClip};

/// Frames between the windows of a motion.
const STRIDE: usize = 6;
/// Windows that are encoded at once.
const BATCH: usize = 32;

/// What held-out mocap looks like, and how far other mocap is from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Held-out clips, one set per clip.
    pub held_out: FeatureSums,
    /// Training clips: the floor, a distance that real motion has from real motion.
    pub training: FeatureSums,
    /// Standard deviations over the held-out clips, the unit of each feature.
    pub scale: Vec<f64>,
}

/// Reads motions into feature vectors: phase code, amplitude, frequency and offset of each channel, 5 C values.
pub struct PhaseSpace {
    encoder: WindowEncoder,
    window: WindowConfig,
    channels: usize,
}

impl PhaseSpace {
    /// The space of a model's clean autoencoder.
    pub fn new(model: &Model) -> Self {
        Self {
            encoder: WindowEncoder::new(&model.phase.encoder),
            window: model.description.phase.window,
            channels: model.description.phase.channels,
        }
    }

    /// Values of a feature vector.
    pub fn dimensions(&self) -> usize {
        5 * self.channels
    }

    /// Features of a motion at 60 Hz: those of the windows that lie within it.
    ///
    /// Velocities are differences of positions, whoever made the motion, so that no method is told by its filter.
    ///
    /// # Errors
    /// A pose that is not finite.
    pub fn features(&self, motion: &[GlobalPose]) -> Result<FeatureSums, BenchError> {
        let radius = self.window.radius_frames;
        let frames: Vec<usize> = (radius..motion.len().saturating_sub(radius)).step_by(STRIDE).collect();
        self.sums(&root_velocities(motion), &frames)
    }

    /// The mocap that motions of these gaits are compared with: the windows within clips that are of these gaits nearly
    /// throughout. `None` when there is not enough of it.
    ///
    /// # Errors
    /// A pose that is not finite.
    pub fn reference(&self, mocap: &Mocap, gaits: &[Gait]) -> Result<Option<Reference>, BenchError> {
        let [held_out, training] = mocap.reference(gaits);
        let collect = |clips: Vec<&TrainingClip>| {
            clips.into_iter().try_fold(FeatureSums::new(self.dimensions()), |mut all, clip| {
                all.add(&self.features(&poses(&clip.recording))?);
                Ok::<_, BenchError>(all)
            })
        };
        let (held_out, training) = (collect(held_out)?, collect(training)?);
        let scale = held_out.deviations();
        let enough = held_out.count > 2 * self.dimensions() && training.count > 2 * self.dimensions();
        Ok(enough.then_some(Reference { held_out, training, scale }))
    }

    /// Phase states at `frames`, in order, encoded in batches. Beyond the ends of the motion its first and last
    /// velocities are held.
    ///
    /// # Errors
    /// A velocity that is not finite.
    pub fn states(
        &self,
        velocities: &FrameTable<glam::Vec3>,
        frames: &[usize],
    ) -> Result<Vec<PhaseState>, BenchError> {
        let mut states = Vec::with_capacity(frames.len());
        for batch in frames.chunks(BATCH) {
            let windows = batch
                .iter()
                .map(|&frame| self.window.cut(velocities, frame))
                .collect::<Result<Vec<VelocityWindow>, _>>()?;
            states.extend(self.encoder.encode_all(&windows.iter().collect::<Vec<_>>())?);
        }
        Ok(states)
    }

    fn sums(&self, velocities: &FrameTable<glam::Vec3>, frames: &[usize]) -> Result<FeatureSums, BenchError> {
        let mut sums = FeatureSums::new(self.dimensions());
        for state in self.states(velocities, frames)? {
            let parts = [state.code(), state.amplitudes(), state.frequencies_hz(), state.offsets()];
            sums.push(&parts.iter().flatten().map(|&v| f64::from(v)).collect::<Vec<_>>());
        }
        Ok(sums)
    }
}

/// Velocities of all joints by central differences, m/s, each frame in its own root frame `[T, J]`.
pub(crate) fn root_velocities(motion: &[GlobalPose]) -> FrameTable<glam::Vec3> {
    let joints = motion.first().map_or(0, |pose| pose.positions.len());
    let mut table = FrameTable::with_columns(joints);
    for (frame, pose) in motion.iter().enumerate() {
        let (before, after) = (frame.saturating_sub(1), (frame + 1).min(motion.len() - 1));
        let rate = FRAME_RATE_HZ / (after - before).max(1) as f32;
        let root = RootFrame::of_pose(pose, 0.0);
        let row: Vec<glam::Vec3> = motion[before]
            .positions
            .iter()
            .zip(&motion[after].positions)
            .map(|(a, b)| root.vector_to_root((*b - *a) * rate))
            .collect();
        table.push(&row);
    }
    table
}
