use pomp_motion::SourceMotion;
use pomp_motion::glam::Vec3;

/// Positions of every joint of a file in every frame, metres.
pub(super) struct JointTracks {
    positions: Vec<Vec<Vec3>>,
    rate_hz: f32,
}

impl JointTracks {
    pub fn of(motion: &SourceMotion, metres: f32) -> Self {
        let positions = (0..motion.frames())
            .map(|frame| motion.global_pose(frame).positions.into_iter().map(|p| p * metres).collect())
            .collect();
        Self { positions, rate_hz: motion.frame_rate_hz }
    }

    pub fn frames(&self) -> usize {
        self.positions.len()
    }

    pub fn seconds(&self, frames: usize) -> f32 {
        frames as f32 / self.rate_hz
    }

    /// Speed of the fastest joint between two frames, m/s.
    pub fn speed(&self, from: usize, to: usize) -> f32 {
        let moved = self.positions[from].iter().zip(&self.positions[to]).map(|(a, b)| a.distance(*b));
        moved.fold(0.0, f32::max) / self.seconds(to - from)
    }

    /// Joints that are faster than `limit` between two frames, m/s, parents first.
    pub fn faster_than(&self, limit: f32, from: usize, to: usize) -> Vec<usize> {
        let farthest = limit * self.seconds(to - from);
        (0..self.positions[from].len())
            .filter(|&joint| self.positions[from][joint].distance(self.positions[to][joint]) > farthest)
            .collect()
    }

    /// Largest distance of a joint of `frame` from its interpolation between two other frames, metres.
    pub fn distance_from_between(&self, frame: usize, [before, after]: [usize; 2]) -> f32 {
        let share = (frame - before) as f32 / (after - before) as f32;
        let between =
            self.positions[before].iter().zip(&self.positions[after]).map(|(a, b)| a.lerp(*b, share));
        between.zip(&self.positions[frame]).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
    }
}
