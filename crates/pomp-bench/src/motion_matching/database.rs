use crate::config::MatchedFeatures;
use glam::{Vec2, Vec3};
use pomp_motion::features::CharacterState;
use pomp_motion::rotation::wrap_angle;
use pomp_motion::{Skeleton, humanoid};
use std::sync::Arc;

/// Frames between entries.
pub(crate) const STRIDE: usize = 4;
/// Frames ahead at which the trajectory is compared.
pub(crate) const AHEAD: [usize; 3] = [20, 40, 60];
/// Frames that a clip has to go on for after an entry.
const LEAST_LEFT: usize = 30;
/// Weight of the trajectory against that of the rest.
const TRAJECTORY_WEIGHT: f32 = 1.0;
/// Values of a feature vector that describe the trajectory: places and directions.
const TRAJECTORY: usize = 4 * AHEAD.len();

/// A clip to match against, at 60 Hz.
#[derive(Clone, Debug)]
pub struct MatchingClip {
    /// States of all frames `[T]`.
    pub states: Vec<CharacterState>,
    /// Whether a frame may be jumped to `[T]`.
    pub usable: Vec<bool>,
    /// Phase codes at the frames that [`MatchingDatabase::entry_frames`] gives; empty when phases are not matched.
    pub phase_codes: Vec<Vec<f32>>,
}

/// A frame of a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub clip: usize,
    pub frame: usize,
}

/// Clips with a feature vector for every fourth frame.
///
/// Vectors are normalised per group (places of feet, their velocities, velocity of the hips, phases, places and
/// directions of the trajectory): less the mean, over the group's standard deviation.
#[derive(Clone, Debug)]
pub struct MatchingDatabase {
    pub(crate) skeleton: Arc<Skeleton>,
    features: MatchedFeatures,
    clips: Vec<MatchingClip>,
    entries: Vec<Place>,
    width: usize,
    /// Row-major, one normalised row per entry.
    vectors: Vec<f32>,
    mean: Vec<f32>,
    scale: Vec<f32>,
}

impl MatchingDatabase {
    /// A database over `clips` of one skeleton; `None` when no frame may be jumped to.
    ///
    /// # Panics
    /// When a clip lacks a phase code for an entry although phases are matched.
    pub fn new(skeleton: Arc<Skeleton>, clips: Vec<MatchingClip>, features: MatchedFeatures) -> Option<Self> {
        let mut database = Self {
            skeleton,
            features,
            clips,
            entries: Vec::new(),
            width: 0,
            vectors: Vec::new(),
            mean: Vec::new(),
            scale: Vec::new(),
        };
        for (clip, data) in database.clips.iter().enumerate() {
            let frames = Self::entry_frames(data.states.len());
            let usable = frames.into_iter().filter(|&frame| data.usable[frame]);
            database.entries.extend(usable.map(|frame| Place { clip, frame }));
        }
        let rows: Vec<Vec<f32>> = database.entries.iter().map(|&place| database.raw(place)).collect();
        database.width = rows.first()?.len();
        database.normalise(&rows);
        Some(database)
    }

    /// Frames of a clip of `frames` frames that have an entry when they are usable.
    pub fn entry_frames(frames: usize) -> Vec<usize> {
        (0..frames.saturating_sub(LEAST_LEFT)).step_by(STRIDE).collect()
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn states(&self, clip: usize) -> &[CharacterState] {
        &self.clips[clip].states
    }

    /// The entry nearest to `query` and its squared distance; the first among equals.
    pub(crate) fn nearest(&self, query: &[f32]) -> (Place, f32) {
        let mut best = (0, f32::INFINITY);
        for (entry, row) in self.vectors.chunks_exact(self.width).enumerate() {
            let mut distance = 0.0;
            for (a, b) in row.iter().zip(query) {
                distance += (a - b) * (a - b);
            }
            if distance < best.1 {
                best = (entry, distance);
            }
        }
        (self.entries[best.0], best.1)
    }

    /// The entry whose path is `choice`-th nearest to `trajectory`, counted from 0, among entries half a second or more
    /// apart; the last of them when there are fewer. Poses do not count: nothing has been shown yet.
    pub(crate) fn nth_by_path(&self, trajectory: &[(Vec2, f32)], choice: usize) -> Place {
        let start = self.width - TRAJECTORY;
        let values = trajectory_values(trajectory);
        let query: Vec<f32> =
            (start..self.width).map(|i| (values[i - start] - self.mean[i]) * self.scale[i]).collect();
        let distance =
            |row: &[f32]| row[start..].iter().zip(&query).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
        let mut order: Vec<(f32, Place)> =
            self.vectors.chunks_exact(self.width).map(distance).zip(self.entries.iter().copied()).collect();
        // The sort is stable: equals stay in the order of entries.
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut chosen: Vec<Place> = Vec::new();
        for (_, place) in order {
            if chosen.len() > choice {
                break;
            }
            let apart =
                |other: &Place| other.clip != place.clip || other.frame.abs_diff(place.frame) >= LEAST_LEFT;
            if chosen.iter().all(apart) {
                chosen.push(place);
            }
        }
        chosen[chosen.len() - 1]
    }

    /// The query that asks for `trajectory` (place in the root frame and heading against it per time ahead) from the
    /// pose at `place`.
    pub(crate) fn query(&self, place: Place, trajectory: &[(Vec2, f32)]) -> Vec<f32> {
        let mut raw = self.raw(place);
        let start = self.width - TRAJECTORY;
        raw[start..].copy_from_slice(&trajectory_values(trajectory));
        self.normalised(&raw)
    }

    /// Squared distance of the pose and path at `place` from `query`.
    pub(crate) fn distance(&self, place: Place, query: &[f32]) -> f32 {
        let row = self.normalised(&self.raw(place));
        row.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    /// Where a clip goes from a frame on, as a query's trajectory; beyond its end its last motion goes on.
    pub(crate) fn trajectory(&self, place: Place) -> Vec<(Vec2, f32)> {
        let states = self.states(place.clip);
        let frame = &states[place.frame].frame;
        AHEAD
            .iter()
            .map(|ahead| {
                let (at, yaw) = pomp_train::TrainingClip::root_at(states, (place.frame + ahead) as i64);
                (frame.ground_to_root(at.x, at.y), wrap_angle(yaw - frame.yaw))
            })
            .collect()
    }

    fn raw(&self, place: Place) -> Vec<f32> {
        let data = &self.clips[place.clip];
        let state = &data.states[place.frame];
        let mut row = Vec::new();
        let mut put = |v: Vec3| row.extend(v.to_array());
        match self.features {
            MatchedFeatures::Pose => {
                for foot in [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT] {
                    put(state.positions_root[foot.0]);
                }
                for joint in [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT, humanoid::HIPS] {
                    put(state.velocities_root[joint.0]);
                }
            }
            MatchedFeatures::Phase => {
                // Between entries the phase of the last one has hardly moved on; it is the clip's own in any case.
                let entry = (place.frame / STRIDE).min(data.phase_codes.len().saturating_sub(1));
                row.extend(&data.phase_codes[entry]);
            }
        }
        row.extend(trajectory_values(&self.trajectory(place)));
        row
    }

    /// Ends of the groups of values that share a scale.
    fn groups(&self) -> Vec<usize> {
        let start = self.width - TRAJECTORY;
        let mut ends = match self.features {
            MatchedFeatures::Pose => vec![6, 12, 15],
            MatchedFeatures::Phase => vec![start],
        };
        ends.extend([start + TRAJECTORY / 2, self.width]);
        ends
    }

    fn normalise(&mut self, rows: &[Vec<f32>]) {
        let count = rows.len() as f32;
        let column = |i: usize| rows.iter().map(move |row| row[i]);
        self.mean = (0..self.width).map(|i| column(i).sum::<f32>() / count).collect();
        let variance: Vec<f32> = (0..self.width)
            .map(|i| column(i).map(|v| (v - self.mean[i]).powi(2)).sum::<f32>() / count)
            .collect();
        self.scale = vec![0.0; self.width];
        let mut from = 0;
        for end in self.groups() {
            // Each group weighs the same, whatever its size.
            let deviation = variance[from..end].iter().sum::<f32>().sqrt();
            let weight = if from >= self.width - TRAJECTORY { TRAJECTORY_WEIGHT } else { 1.0 };
            self.scale[from..end].fill(weight / deviation.max(1e-3));
            from = end;
        }
        self.vectors = rows.iter().flat_map(|row| self.normalised(row)).collect();
    }

    fn normalised(&self, raw: &[f32]) -> Vec<f32> {
        raw.iter()
            .zip(self.mean.iter().zip(&self.scale))
            .map(|(v, (mean, scale))| (v - mean) * scale)
            .collect()
    }
}

/// Places first, then directions.
fn trajectory_values(trajectory: &[(Vec2, f32)]) -> Vec<f32> {
    let places = trajectory.iter().flat_map(|(at, _)| at.to_array());
    places.chain(trajectory.iter().flat_map(|(_, yaw)| [yaw.sin(), yaw.cos()])).collect()
}
