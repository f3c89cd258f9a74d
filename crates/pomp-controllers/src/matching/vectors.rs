//! Feature vectors of the frames that may be jumped to, on one scale.

use super::boxes::Boxes;
use super::clip::MatchingClip;
use super::database::Place;
use super::features::{
    AHEAD, Ahead, MatchedFeatures, MatchingWeights, TRAJECTORY, pose_values, trajectory_values,
};
use glam::Vec3;
use pomp_motion::Skeleton;
use std::ops::Range;

/// Least standard deviation of a group of features, in their units.
const LEAST_DEVIATION: f32 = 1e-3;

/// A vector for each entry: each value is less its mean, over the mean standard deviation of its group (place of a foot, its velocity,
/// velocity of the hips, phases, places and directions of the trajectory), times the weight of the group.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    pub features: MatchedFeatures,
    /// In the order of the entries.
    pub rows: Boxes,
    pub mean: Vec<f32>,
    pub scale: Vec<f32>,
}

impl Vectors {
    /// The vectors of `entries`, which are not empty.
    pub fn new(
        skeleton: &Skeleton,
        clips: &[MatchingClip],
        entries: &[Place],
        features: MatchedFeatures,
        weights: &MatchingWeights,
    ) -> Self {
        let mut rows: Vec<f32> = Vec::new();
        for place in entries {
            raw(skeleton, &clips[place.clip], place.frame, features, &mut rows);
        }
        let width = rows.len() / entries.len();
        let (mean, scale) = normalisation(&rows, &features.groups(width, weights));
        for row in rows.chunks_exact_mut(width) {
            normalise(row, &mean, &scale);
        }
        Self { features, rows: Boxes::new(&rows, width), mean, scale }
    }

    /// Values of a vector.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// The vector of a frame.
    pub fn of(&self, skeleton: &Skeleton, clip: &MatchingClip, frame: usize) -> Vec<f32> {
        let mut row = Vec::with_capacity(self.width());
        raw(skeleton, clip, frame, self.features, &mut row);
        normalise(&mut row, &self.mean, &self.scale);
        row
    }

    /// The query that asks to go on `way` from the pose, or phase, of a frame.
    pub fn query(&self, skeleton: &Skeleton, clip: &MatchingClip, frame: usize, way: &Ahead) -> Vec<f32> {
        let mut query = Vec::with_capacity(self.width());
        raw(skeleton, clip, frame, self.features, &mut query);
        self.with_trajectory(query, way)
    }

    /// The query that asks to go on `way` from a pose; the vectors are of poses.
    pub fn query_of_pose(&self, positions: &[Vec3], velocities: &[Vec3], way: &Ahead) -> Vec<f32> {
        let mut query = pose_values(positions, velocities).to_vec();
        query.resize(self.width(), 0.0);
        self.with_trajectory(query, way)
    }

    fn with_trajectory(&self, mut query: Vec<f32>, way: &Ahead) -> Vec<f32> {
        let start = self.width() - TRAJECTORY;
        query[start..].copy_from_slice(&trajectory_values(way));
        normalise(&mut query, &self.mean, &self.scale);
        query
    }

    /// Squared distance of the path of an entry from `way`.
    pub fn path_distances(&self, way: &Ahead) -> impl Fn(usize) -> f32 {
        let start = self.width() - TRAJECTORY;
        let mut query = trajectory_values(way);
        normalise(&mut query, &self.mean[start..], &self.scale[start..]);
        move |entry: usize| {
            let row = self.rows.row(entry).skip(start);
            row.zip(query).map(|(a, b)| (a - b) * (a - b)).sum::<f32>()
        }
    }
}

/// Where a clip goes from a frame on, as a query asks for it.
pub(super) fn ahead(clip: &MatchingClip, frame: usize) -> Ahead {
    AHEAD.map(|ahead| {
        let (position, yaw) = clip.root_at(frame + ahead);
        clip.roots[frame].to_root(position, yaw)
    })
}
/// Appends the values of a frame in their own units.
fn raw(
    skeleton: &Skeleton,
    clip: &MatchingClip,
    frame: usize,
    features: MatchedFeatures,
    row: &mut Vec<f32>,
) {
    match features {
        MatchedFeatures::Pose => row.extend(pose_values(
            &clip.positions_root(skeleton, frame),
            &clip.velocities_root(skeleton, frame),
        )),
        MatchedFeatures::Phase => row.extend(&clip.phase_codes[frame]),
    }
    row.extend(trajectory_values(&ahead(clip, frame)));
}

/// Mean of each value, and what its difference from it is multiplied by.
fn normalisation(rows: &[f32], groups: &[(Range<usize>, f32)]) -> (Vec<f32>, Vec<f32>) {
    let width = groups.last().map_or(0, |(range, _)| range.end);
    let count = (rows.len() / width) as f64;
    let mut mean = vec![0.0f64; width];
    let mut variance = vec![0.0f64; width];
    for row in rows.chunks_exact(width) {
        mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value) / count);
    }
    for row in rows.chunks_exact(width) {
        for ((sum, mean), value) in variance.iter_mut().zip(&mean).zip(row) {
            *sum += (f64::from(*value) - mean).powi(2) / count;
        }
    }
    let mut scale = vec![0.0; width];
    for (range, weight) in groups {
        let deviations = variance[range.clone()].iter().map(|variance| variance.sqrt());
        let deviation = deviations.sum::<f64>() as f32 / range.len() as f32;
        scale[range.clone()].fill(weight / deviation.max(LEAST_DEVIATION));
    }
    (mean.into_iter().map(|mean| mean as f32).collect(), scale)
}

fn normalise(row: &mut [f32], mean: &[f32], scale: &[f32]) {
    for (value, (mean, scale)) in row.iter_mut().zip(mean.iter().zip(scale)) {
        *value = (*value - mean) * scale;
    }
}
