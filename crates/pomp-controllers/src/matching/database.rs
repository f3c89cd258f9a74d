use super::boxes::Boxes;
use super::clip::MatchingClip;
use super::features::{
    AHEAD, Ahead, MatchedFeatures, MatchingWeights, TRAJECTORY, pose_values, trajectory_values,
};
use glam::Vec3;
use pomp_motion::Skeleton;
use std::ops::Range;
use std::sync::Arc;

/// Frames at the end of a clip that are not jumped to.
const END_FRAMES: usize = 20;
/// Frames this near to the one that is played are not jumped to.
const NEAR_FRAMES: usize = 20;
/// Entries by whose paths a character may begin are so many frames apart.
const BEGINNINGS_APART: usize = 30;
/// Least standard deviation of a group of features, in their units.
const LEAST_DEVIATION: f32 = 1e-3;

/// A frame of a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the clip.
    pub clip: usize,
    /// Frame of the clip.
    pub frame: usize,
}

/// Clips with a feature vector for every usable frame but the last 20 of each clip.
///
/// Each value of a vector is less its mean, over the mean standard deviation of its group (place of a foot, its velocity, velocity
/// of the hips, phases, places and directions of the trajectory), times the weight of the group.
#[derive(Clone, Debug)]
pub struct MatchingDatabase {
    skeleton: Arc<Skeleton>,
    features: MatchedFeatures,
    clips: Vec<MatchingClip>,
    /// Sorted.
    entries: Vec<Place>,
    vectors: Boxes,
    mean: Vec<f32>,
    scale: Vec<f32>,
}

impl MatchingDatabase {
    /// A database over `clips` of one skeleton, which has the joints of the project skeleton; `None` when no frame may be jumped to.
    ///
    /// # Panics
    /// When a clip lacks phase codes although phases are matched.
    pub fn new(
        skeleton: Arc<Skeleton>,
        clips: Vec<MatchingClip>,
        features: MatchedFeatures,
        weights: &MatchingWeights,
    ) -> Option<Self> {
        let mut entries = Vec::new();
        let mut rows: Vec<f32> = Vec::new();
        for (clip, data) in clips.iter().enumerate() {
            for frame in 0..data.frames().saturating_sub(END_FRAMES) {
                if data.usable[frame] {
                    entries.push(Place { clip, frame });
                    raw(&skeleton, data, frame, features, &mut rows);
                }
            }
        }
        if entries.is_empty() {
            return None;
        }
        let width = rows.len() / entries.len();
        let (mean, scale) = normalisation(&rows, &features.groups(width, weights));
        for row in rows.chunks_exact_mut(width) {
            normalise(row, &mean, &scale);
        }
        let vectors = Boxes::new(&rows, width);
        Some(Self { skeleton, features, clips, entries, vectors, mean, scale })
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The skeleton of all clips.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// What is compared besides the trajectory.
    pub fn features(&self) -> MatchedFeatures {
        self.features
    }

    /// The clips.
    pub fn clips(&self) -> &[MatchingClip] {
        &self.clips
    }

    pub(super) fn clip(&self, clip: usize) -> &MatchingClip {
        &self.clips[clip]
    }

    /// Values of a feature vector.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// What each value of a vector is less of, and then multiplied by.
    pub fn normalisation(&self) -> [&[f32]; 2] {
        [&self.mean, &self.scale]
    }

    /// The vector of a frame, also of one that is no entry.
    pub fn vector(&self, place: Place) -> Vec<f32> {
        let mut row = Vec::with_capacity(self.width());
        raw(&self.skeleton, &self.clips[place.clip], place.frame, self.features, &mut row);
        normalise(&mut row, &self.mean, &self.scale);
        row
    }

    /// The place of an entry.
    pub fn place(&self, entry: usize) -> Place {
        self.entries[entry]
    }

    /// The query that asks to go on `ahead` from the pose, or phase, at `place`.
    pub fn query(&self, place: Place, ahead: &Ahead) -> Vec<f32> {
        let mut query = Vec::with_capacity(self.width());
        raw(&self.skeleton, &self.clips[place.clip], place.frame, self.features, &mut query);
        self.with_trajectory(query, ahead)
    }

    /// The query that asks to go on `ahead` from a pose of its joint positions and velocities in the root frame; `None` when phases
    /// are matched.
    pub fn query_of_pose(&self, positions: &[Vec3], velocities: &[Vec3], ahead: &Ahead) -> Option<Vec<f32>> {
        (self.features == MatchedFeatures::Pose).then(|| {
            let mut query = pose_values(positions, velocities).to_vec();
            query.resize(self.width(), 0.0);
            self.with_trajectory(query, ahead)
        })
    }

    fn with_trajectory(&self, mut query: Vec<f32>, ahead: &Ahead) -> Vec<f32> {
        let start = self.width() - TRAJECTORY;
        query[start..].copy_from_slice(&trajectory_values(ahead));
        normalise(&mut query, &self.mean, &self.scale);
        query
    }

    /// Where the clip goes from a frame on, as a query asks for it.
    pub fn ahead(&self, place: Place) -> Ahead {
        ahead(&self.clips[place.clip], place.frame)
    }

    /// Squared distance of the pose and path at `place` from `query`.
    pub fn distance(&self, place: Place, query: &[f32]) -> f32 {
        Boxes::distance_between(&self.vector(place), query)
    }

    /// The entry nearest to `query` whose squared distance is less than `below`, and that distance; the first among equals. Entries
    /// within 20 frames of `playing` are passed over.
    pub fn nearest(&self, query: &[f32], playing: Option<Place>, below: f32) -> Option<(Place, f32)> {
        let (entry, distance) = self.vectors.nearest(query, &self.near(playing), below)?;
        Some((self.entries[entry], distance))
    }

    /// As [`Self::nearest`], by comparing all entries.
    pub fn nearest_of_all(&self, query: &[f32], playing: Option<Place>, below: f32) -> Option<(Place, f32)> {
        let (entry, distance) = self.vectors.nearest_of_all(query, &self.near(playing), below)?;
        Some((self.entries[entry], distance))
    }

    /// Entries that are too near to what is played.
    fn near(&self, playing: Option<Place>) -> Range<usize> {
        let Some(Place { clip, frame }) = playing else { return 0..0 };
        let first = Place { clip, frame: frame.saturating_sub(NEAR_FRAMES) };
        let last = Place { clip, frame: frame + NEAR_FRAMES };
        self.entries.partition_point(|entry| *entry < first)
            ..self.entries.partition_point(|entry| *entry <= last)
    }

    /// The entry whose path is `choice`-th nearest to `ahead`, counted from 0, among entries half a second or more apart; the last of
    /// them when there are fewer. Poses do not count.
    pub fn nth_by_path(&self, ahead: &Ahead, choice: usize) -> Place {
        let start = self.width() - TRAJECTORY;
        let mut query = trajectory_values(ahead);
        normalise(&mut query, &self.mean[start..], &self.scale[start..]);
        let distance = |entry: usize| {
            let row = self.vectors.row(entry).skip(start);
            row.zip(query).map(|(a, b)| (a - b) * (a - b)).sum::<f32>()
        };
        let mut order: Vec<(f32, Place)> =
            self.entries.iter().enumerate().map(|(entry, place)| (distance(entry), *place)).collect();
        // The sort is stable: equals stay in the order of entries.
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut chosen: Vec<Place> = Vec::new();
        for (_, place) in order {
            if chosen.len() > choice {
                break;
            }
            let apart = |other: &Place| {
                other.clip != place.clip || other.frame.abs_diff(place.frame) >= BEGINNINGS_APART
            };
            if chosen.iter().all(apart) {
                chosen.push(place);
            }
        }
        chosen[chosen.len() - 1]
    }
}

fn ahead(clip: &MatchingClip, frame: usize) -> Ahead {
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
