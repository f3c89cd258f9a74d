use super::boxes::Boxes;
use super::clip::MatchingClip;
use super::features::{Ahead, MatchedFeatures, MatchingWeights};
use super::vectors::{Vectors, ahead};
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
    clips: Vec<MatchingClip>,
    /// Sorted.
    entries: Vec<Place>,
    vectors: Vectors,
    /// Among how many entries that phases have found the pose decides, and the vectors of poses.
    poses: Option<(usize, Vectors)>,
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
        for (clip, data) in clips.iter().enumerate() {
            for frame in 0..data.frames().saturating_sub(END_FRAMES) {
                if data.usable[frame] {
                    entries.push(Place { clip, frame });
                }
            }
        }
        if entries.is_empty() {
            return None;
        }
        let vectors = Vectors::new(&skeleton, &clips, &entries, features, weights);
        Some(Self { skeleton, clips, entries, vectors, poses: None })
    }

    /// The same, where the pose decides among the `candidates` entries nearest by phases and path: phases say where in the cycle to go
    /// on, and several clips are there. One candidate leaves the pose out.
    #[must_use]
    pub fn with_candidates(mut self, candidates: usize, weights: &MatchingWeights) -> Self {
        self.poses = (candidates > 1).then(|| {
            let features = MatchedFeatures::Pose;
            (candidates, Vectors::new(&self.skeleton, &self.clips, &self.entries, features, weights))
        });
        self
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
        self.vectors.features
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
        self.vectors.width()
    }

    /// What each value of a vector is less of, and then multiplied by.
    pub fn normalisation(&self) -> [&[f32]; 2] {
        [&self.vectors.mean, &self.vectors.scale]
    }

    /// The vector of a frame, also of one that is no entry.
    pub fn vector(&self, place: Place) -> Vec<f32> {
        self.vectors.of(&self.skeleton, &self.clips[place.clip], place.frame)
    }

    /// The place of an entry.
    pub fn place(&self, entry: usize) -> Place {
        self.entries[entry]
    }

    /// The query that asks to go on `ahead` from the pose, or phase, at `place`.
    pub fn query(&self, place: Place, ahead: &Ahead) -> Vec<f32> {
        self.vectors.query(&self.skeleton, &self.clips[place.clip], place.frame, ahead)
    }

    /// The entry from which a character in a pose, of its joint positions and velocities in the root frame, goes on `ahead`: the nearest
    /// by pose and path; by the path alone where only phases are compared. `None` when the pose is not finite.
    pub fn first(&self, positions: &[Vec3], velocities: &[Vec3], ahead: &Ahead) -> Option<Place> {
        let poses = match &self.poses {
            Some((_, poses)) => poses,
            None if self.features() == MatchedFeatures::Phase => return Some(self.nth_by_path(ahead, 0)),
            None => &self.vectors,
        };
        let query = poses.query_of_pose(positions, velocities, ahead);
        Some(self.entries[poses.rows.nearest(&query, &(0..0), f32::INFINITY)?.0])
    }

    /// Where the clip goes from a frame on, as a query asks for it.
    pub fn ahead(&self, place: Place) -> Ahead {
        ahead(&self.clips[place.clip], place.frame)
    }

    /// Squared distance of the pose and path at `place` from `query`.
    pub fn distance(&self, place: Place, query: &[f32]) -> f32 {
        Boxes::distance_between(&self.vector(place), query)
    }

    /// The entry to jump to from `place` to go on `ahead`, if one is nearer than going on; when the clip `ends`, the nearest one.
    pub fn jump(&self, place: Place, ahead: &Ahead, ends: bool) -> Option<Place> {
        let found = self.better(place, ahead, ends, Some(place));
        // When there is none although the clip ends, every entry is near its end.
        if ends { found.or_else(|| self.better(place, ahead, ends, None)) } else { found }
    }

    fn better(&self, place: Place, ahead: &Ahead, ends: bool, playing: Option<Place>) -> Option<Place> {
        let query = self.query(place, ahead);
        let below = |at: &[f32], query: &[f32]| {
            if ends { f32::INFINITY } else { Boxes::distance_between(at, query) }
        };
        let Some((candidates, poses)) = &self.poses else {
            return Some(self.nearest(&query, playing, below(&self.vector(place), &query))?.0);
        };
        let clip = &self.clips[place.clip];
        let pose_query = poses.query(&self.skeleton, clip, place.frame, ahead);
        let below = below(&poses.of(&self.skeleton, clip, place.frame), &pose_query);
        let found = self.vectors.rows.nearest_few(&query, &self.near(playing), *candidates);
        let costs = found.into_iter().map(|(entry, _)| (poses.rows.distance(entry, &pose_query), entry));
        let (cost, entry) = costs.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        (cost < below).then(|| self.entries[entry])
    }

    /// The entry nearest to `query` whose squared distance is less than `below`, and that distance; the first among equals. Entries
    /// within 20 frames of `playing` are passed over.
    pub fn nearest(&self, query: &[f32], playing: Option<Place>, below: f32) -> Option<(Place, f32)> {
        let (entry, distance) = self.vectors.rows.nearest(query, &self.near(playing), below)?;
        Some((self.entries[entry], distance))
    }

    /// As [`Self::nearest`], by comparing all entries.
    pub fn nearest_of_all(&self, query: &[f32], playing: Option<Place>, below: f32) -> Option<(Place, f32)> {
        let (entry, distance) = self.vectors.rows.nearest_of_all(query, &self.near(playing), below)?;
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
        let distance = self.vectors.path_distances(ahead);
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
