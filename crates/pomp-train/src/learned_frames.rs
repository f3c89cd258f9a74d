//! The clips of motion matching as rows: what the networks of learned motion matching are trained on.

use crate::rows::matrix;
use burn::tensor::{Device, Tensor};
use glam::Vec3;
use pomp_controllers::learned::{PoseLayout, Scales};
use pomp_controllers::matching::{MatchingDatabase, Place};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Least deviation of a value that is divided by.
const LEAST_DEVIATION: f32 = 1e-3;

/// A table of rows of one width.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub width: usize,
    pub values: Vec<f32>,
}

impl Table {
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    pub fn rows(&self) -> usize {
        self.values.len() / self.width
    }

    /// Chosen rows as a matrix.
    pub fn chosen(&self, rows: &[usize], device: &Device) -> Tensor<2> {
        let values = rows.iter().flat_map(|row| self.row(*row)).copied().collect();
        matrix(values, self.width, device)
    }

    /// Mean and deviation of every column.
    pub fn scales(&self) -> Scales {
        let count = self.rows() as f64;
        let (mut mean, mut square) = (vec![0.0f64; self.width], vec![0.0f64; self.width]);
        for row in self.values.chunks_exact(self.width) {
            for (at, value) in row.iter().enumerate() {
                mean[at] += f64::from(*value) / count;
                square[at] += f64::from(*value).powi(2) / count;
            }
        }
        let deviation = mean
            .iter()
            .zip(&square)
            .map(|(mean, square)| ((square - mean * mean).max(0.0).sqrt() as f32).max(LEAST_DEVIATION));
        Scales { deviation: deviation.collect(), mean: mean.iter().map(|mean| *mean as f32).collect() }
    }

    /// Less the means, over the deviations.
    pub fn normalise(&mut self, scales: &Scales) {
        for row in self.values.chunks_exact_mut(self.width) {
            for ((value, mean), deviation) in row.iter_mut().zip(&scales.mean).zip(&scales.deviation) {
                *value = (*value - mean) / deviation;
            }
        }
    }
}

/// Every frame of the clips.
pub(crate) struct Frames {
    pub layout: PoseLayout,
    /// Features, normalised.
    pub features: Table,
    /// Values of the pose, normalised by `scales`.
    pub poses: Table,
    pub scales: Scales,
    /// Joint positions in the root frame, metres, 3J.
    pub positions: Table,
    /// Rows of each clip.
    clips: Vec<Range<usize>>,
    /// Place of each row.
    pub places: Vec<Place>,
}

impl Frames {
    pub fn of(database: &MatchingDatabase) -> Self {
        let skeleton = database.skeleton();
        let layout = PoseLayout::new(skeleton.len());
        let mut features = Table { width: database.width(), values: Vec::new() };
        let mut poses = Table { width: layout.width(), values: Vec::new() };
        let mut positions = Table { width: 3 * skeleton.len(), values: Vec::new() };
        let (mut clips, mut places) = (Vec::new(), Vec::new());
        for (number, clip) in database.clips().iter().enumerate() {
            let first = places.len();
            for frame in 0..clip.frames() {
                let place = Place { clip: number, frame };
                places.push(place);
                features.values.extend(database.vector(place));
                layout.append(clip, frame, &mut poses.values);
                let decoded = layout.read(poses.row(poses.rows() - 1));
                let joints = skeleton.forward_kinematics(&decoded.pose).positions;
                positions.values.extend(joints.iter().flat_map(Vec3::to_array));
            }
            clips.push(first..places.len());
        }
        let scales = poses.scales();
        poses.normalise(&scales);
        Self { layout, features, poses, scales, positions, clips, places }
    }

    /// First rows of windows of so many rows within a clip, drawn evenly over all windows.
    pub fn windows(&self, length: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let room = |clip: &Range<usize>| (clip.len() + 1).saturating_sub(length);
        let all: usize = self.clips.iter().map(room).sum();
        (0..count)
            .map(|_| {
                let mut place = rng.random_range(0..all);
                for clip in &self.clips {
                    if place < room(clip) {
                        return clip.start + place;
                    }
                    place -= room(clip);
                }
                unreachable!("a place is less than the sum of all rooms")
            })
            .collect()
    }

    /// Rows that have a next one.
    pub fn with_next(&self) -> impl Iterator<Item = usize> {
        self.clips.iter().flat_map(|clip| clip.start..clip.end.saturating_sub(1))
    }

    /// Whether there are windows of so many rows.
    pub fn has_windows(&self, length: usize) -> bool {
        self.clips.iter().any(|clip| clip.len() >= length)
    }
}
