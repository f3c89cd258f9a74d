//! From features back to poses.

use crate::RATE_HZ;
use crate::kinematics::FEATURES;
use crate::structure::{Body, Path, Structure};
use burn::tensor::{Tensor, TensorData};
use glam::{Quat, Vec3};
use pomp_motion::Pose;
use pomp_motion::rotation::from_yaw;

/// Deviation of the smoothing below which a path follows its source's, seconds.
const HELD_S: f32 = 0.5;

impl Structure {
    /// Features less their mean over their deviation.
    pub(crate) fn normalise(&self, features: &mut [f32]) {
        for row in features.chunks_exact_mut(self.width()) {
            for ((value, mean), deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *value = (*value - mean) / deviation;
            }
        }
    }

    /// The way back from [`Self::normalise`].
    pub(crate) fn denormalise(&self, features: &mut [f32]) {
        for row in features.chunks_exact_mut(self.width()) {
            for ((value, mean), deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *value = *value * deviation + mean;
            }
        }
    }

    /// Normalised features in their own units.
    pub fn restored(&self, features: &Tensor<3>) -> Tensor<3> {
        let row = |values: &[f32]| {
            let data = TensorData::new(values.to_vec(), [1, 1, values.len()]);
            Tensor::<3>::from_data(data, &features.device())
        };
        features.clone() * row(&self.deviation) + row(&self.mean)
    }

    /// The poses of features in their own units, in the unit and the axes of the files, on a body. The path is that of the features'
    /// velocities, and below about a third of a hertz the source's, over the length of the
    /// legs: velocities add up to a path that drifts.
    pub fn poses(&self, body: &Body, features: &[f32], source: &Path) -> Vec<Pose> {
        let frames = features.len() / self.width();
        let wanted: Vec<Vec3> = source.ground.iter().map(|at| *at * body.legs).collect();
        let mut own = Path { yaw: vec![source.yaw[0]], ground: vec![wanted[0]] };
        for row in features.chunks_exact(self.width()).take(frames - 1) {
            let (yaw, at) = (own.yaw[own.yaw.len() - 1], own.ground[own.ground.len() - 1]);
            own.ground.push(at + from_yaw(yaw) * Vec3::new(row[0], 0.0, row[1]) / RATE_HZ);
            own.yaw.push(yaw + row[3] / RATE_HZ);
        }
        let yaw_drift: Vec<Vec3> =
            source.yaw.iter().zip(&own.yaw).map(|(from, own)| Vec3::X * (from - own)).collect();
        let ground_drift: Vec<Vec3> =
            wanted.iter().zip(&own.ground).map(|(from, own)| *from - *own).collect();
        let (yaw_drift, ground_drift) = (smoothed(&yaw_drift), smoothed(&ground_drift));
        let file_from_world = self.up.world_from_file().inverse();
        features
            .chunks_exact(self.width())
            .enumerate()
            .map(|(frame, row)| {
                let yaw = own.yaw[frame] + yaw_drift[frame].x;
                let at = own.ground[frame] + ground_drift[frame] + Vec3::Y * row[2];
                let local = |joint: usize| {
                    let raw = Quat::from_slice(&row[FEATURES * (joint + 1)..]);
                    let raw = if raw.length_squared() > 1e-12 { raw.normalize() } else { Quat::IDENTITY };
                    let own = self.mean_rotations[joint] * raw;
                    if joint == 0 {
                        (file_from_world * from_yaw(yaw) * own).normalize()
                    } else {
                        own.normalize()
                    }
                };
                Pose {
                    root_position: file_from_world * at * body.height,
                    local_rotations: (0..self.parents.len()).map(local).collect(),
                }
            })
            .collect()
    }
}

/// A weighted mean around each value, by a Gaussian of [`HELD_S`].
fn smoothed(values: &[Vec3]) -> Vec<Vec3> {
    let deviation = HELD_S * RATE_HZ;
    let reach = (3.0 * deviation) as usize;
    (0..values.len())
        .map(|at| {
            let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
            for (other, value) in
                values.iter().enumerate().take(at + reach + 1).skip(at.saturating_sub(reach))
            {
                let weight = (-0.5 * ((other as f32 - at as f32) / deviation).powi(2)).exp();
                sum += *value * weight;
                weights += weight;
            }
            sum / weights
        })
        .collect()
}
