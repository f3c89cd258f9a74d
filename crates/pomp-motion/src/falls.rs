//! When a body is down, and which frames of a motion are falls: for the simulator, preprocessing and the metrics.

use crate::{FrameTable, Gait, GlobalPose, Skeleton, humanoid};
use glam::Vec3;
use std::ops::Range;

/// Height of the pelvis below which a body is down, fraction of its standing height.
pub const FALL_HEIGHT: f32 = 0.5;
/// Tilt of the trunk from upright beyond which a body is down, degrees.
pub const FALL_TILT_DEG: f32 = 65.0;
/// A body that is down for longer than this has fallen, and one that is up for less between two falls has not risen,
/// seconds.
pub const FALL_AFTER_S: f32 = 0.3;

/// Judges poses of one skeleton.
#[derive(Clone, Debug)]
pub struct FallDetector {
    standing_height_m: f32,
    lowest_m: f32,
    cosine: f32,
}

impl FallDetector {
    /// A body is down with its pelvis below `fall_height` of the height that it stands at, or its trunk farther than
    /// `fall_tilt_deg` degrees from upright.
    pub fn new(skeleton: &Skeleton, fall_height: f32, fall_tilt_deg: f32) -> Self {
        Self::with_standing_height(skeleton.joints()[0].offset.y, fall_height, fall_tilt_deg)
    }

    /// The same for a body whose pelvis is at `standing_height_m` metres when it stands.
    pub fn with_standing_height(standing_height_m: f32, fall_height: f32, fall_tilt_deg: f32) -> Self {
        Self {
            standing_height_m,
            lowest_m: standing_height_m * fall_height,
            cosine: fall_tilt_deg.to_radians().cos(),
        }
    }

    /// Whether the trunk is tilted or the pelvis sunk beyond the limits; `ground_y` is the ground below the pelvis, metres.
    pub fn is_down(&self, pose: &GlobalPose, ground_y: f32) -> bool {
        self.are_down(&pose.positions, ground_y)
    }

    /// As [`Self::is_down`], of the joints of the project skeleton, metres, world.
    pub fn are_down(&self, joints: &[Vec3], ground_y: f32) -> bool {
        let pelvis = joints[humanoid::HIPS.0];
        let trunk = (joints[humanoid::NECK.0] - pelvis).normalize_or(Vec3::Y);
        pelvis.y - ground_y < self.lowest_m || trunk.y < self.cosine
    }

    /// The falls of a motion, as runs of frames: down, or labelled as lying, for longer than [`FALL_AFTER_S`]. A body that
    /// is labelled as getting up after a fall is still down. Falls with less than [`FALL_AFTER_S`] between them are one.
    ///
    /// `joints` are `[T, J]`, metres, world; `gait` is `[T, 8]` or empty; `ground` gives the height at x and z.
    pub fn falls(
        &self,
        joints: &FrameTable<Vec3>,
        gait: &[[f32; Gait::COUNT]],
        frame_rate_hz: f32,
        ground: impl Fn(f32, f32) -> f32,
    ) -> Vec<Range<usize>> {
        let mut down = Vec::with_capacity(joints.frames());
        for (frame, row) in joints.rows().enumerate() {
            let pelvis = row[humanoid::HIPS.0];
            let before = down.last().copied().unwrap_or(false);
            down.push(match gait.get(frame).map(Gait::dominant) {
                Some(Gait::Lie) => true,
                Some(Gait::GetUp) if before => true,
                _ => self.are_down(row, ground(pelvis.x, pelvis.z)),
            });
        }
        runs(&down, frame_rate_hz)
    }

    /// Height of the pelvis of a standing body, metres.
    pub fn standing_height_m(&self) -> f32 {
        self.standing_height_m
    }
}

/// Runs of `true` that last long enough, joined where little is between them.
fn runs(down: &[bool], frame_rate_hz: f32) -> Vec<Range<usize>> {
    let seconds = |frames: usize| frames as f32 / frame_rate_hz;
    let mut start = 0;
    let mut falls: Vec<Range<usize>> = Vec::new();
    for run in down.chunk_by(|a, b| a == b) {
        let frames = start..start + run.len();
        start = frames.end;
        if !run[0] || seconds(run.len()) <= FALL_AFTER_S {
            continue;
        }
        match falls.last_mut() {
            Some(last) if seconds(frames.start - last.end) < FALL_AFTER_S => last.end = frames.end,
            _ => falls.push(frames),
        }
    }
    falls
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pelvis and neck of a body that stands at 1 m, `tilt_deg` from upright.
    fn joints(pelvis_y: f32, tilt_deg: f32) -> Vec<Vec3> {
        let mut joints = vec![Vec3::Y * pelvis_y; humanoid::NECK.0 + 1];
        let (sine, cosine) = tilt_deg.to_radians().sin_cos();
        joints[humanoid::NECK.0] += 0.5 * Vec3::new(sine, cosine, 0.0);
        joints
    }

    fn detector() -> FallDetector {
        FallDetector::with_standing_height(1.0, FALL_HEIGHT, FALL_TILT_DEG)
    }

    /// Falls on ground at 2 m of frames at 60 Hz, each down or not, with these labels.
    fn falls(down: &[bool], gait: &[Gait]) -> Vec<Range<usize>> {
        let mut table = FrameTable::with_columns(humanoid::NECK.0 + 1);
        down.iter().for_each(|&down| table.push(&joints(if down { 2.3 } else { 3.0 }, 0.0)));
        let gait: Vec<_> = gait.iter().map(|gait| gait.one_hot()).collect();
        detector().falls(&table, &gait, 60.0, |_, _| 2.0)
    }

    /// `(value, frames)` in a row.
    fn row<V: Copy>(parts: &[(V, usize)]) -> Vec<V> {
        parts.iter().flat_map(|&(value, frames)| vec![value; frames]).collect()
    }

    #[test]
    fn a_low_pelvis_or_a_tilted_trunk_is_down() {
        assert!(!detector().are_down(&joints(0.51, 64.0), 0.0));
        assert!(detector().are_down(&joints(0.49, 0.0), 0.0));
        assert!(detector().are_down(&joints(1.0, 66.0), 0.0));
        assert!(detector().are_down(&joints(1.0, 0.0), 0.6), "the ground is high");
    }

    #[test]
    fn a_stumble_is_no_fall_and_a_short_rise_separates_none() {
        assert_eq!(falls(&row(&[(false, 20), (true, 18), (false, 20)]), &[]), []);
        assert_eq!(falls(&row(&[(false, 20), (true, 19), (false, 20)]), &[]), vec![20..39]);
        assert_eq!(falls(&row(&[(true, 30), (false, 17), (true, 30)]), &[]), vec![0..77]);
        assert_eq!(falls(&row(&[(true, 30), (false, 18), (true, 30)]), &[]), [0..30, 48..78]);
    }

    #[test]
    fn a_body_that_is_labelled_as_lying_or_getting_up_is_still_down() {
        let down = row(&[(true, 30), (false, 60)]);
        let labels = row(&[(Gait::Walk, 20), (Gait::Lie, 20), (Gait::GetUp, 20), (Gait::Walk, 30)]);
        assert_eq!(falls(&down, &labels), vec![0..60]);
        // Getting up that follows no fall is a gait like others.
        assert_eq!(falls(&[false; 90], &row(&[(Gait::GetUp, 90)])), []);
    }
}
