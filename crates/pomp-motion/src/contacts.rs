//! Which parts of the feet rest on the ground, found from their heights and speeds alone.
//!
//! Heights count against the low points that the same part visits within a fraction of a second, not against
//! y = 0, so that slopes and stairs need no terrain. What is slow and locally low is planted; what hovers (a
//! foot held up, a heel on tiptoe) is told from the ground by having rested lower near the same place, or by
//! standing high above the other end of the same foot.

use crate::retarget::sole_heights;
use crate::{Clip, FrameTable, MotionError, Skeleton, humanoid};
use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Thresholds of [`foot_contacts`]. Lengths and speeds are for a body of 1.75 m and scale with the body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContactConfig {
    /// A contact begins below this speed, m/s; default 0.7. With 0.7 and an `end_speed` of 1.0, 94 % of frames agree
    /// with force plates (walking, running, landing); 0.4 and 0.7 detect steps 50 ms late, 1.5 and 2.0 detect them too
    /// early.
    pub begin_speed: f32,
    /// A contact ends above this speed, m/s; default 1.0. At least `begin_speed`.
    pub end_speed: f32,
    /// A contact begins when the point is within this height above its local low point, m; default 0.03.
    pub begin_height_m: f32,
    /// A contact ends when the point is more than this height above its local low point, m; default 0.06.
    pub end_height_m: f32,
    /// Half width of the window in which the local low point is searched, s; default 0.2. With a window longer than a
    /// swing, a contact on the upper stair is compared with the lower one and missed; with one shorter than the apex of
    /// a jump, the apex looks like rest.
    pub low_point_window_s: f32,
    /// A heel that is this much higher than the toe, or a toe than the heel, is lifted, m; default 0.08, which allows
    /// slopes up to about 30°.
    pub lifted_end_m: f32,
    /// A point at rest is held in the air, not in contact, if it also rested this much lower near the same place, m;
    /// default 0.06.
    pub hover_height_m: f32,
    /// Horizontal distance that counts as "near the same place", m; default 0.25: less than two treads of a stair.
    pub hover_radius_m: f32,
    /// Time before or after in which such a lower rest counts, s; default 3.
    pub hover_window_s: f32,
    /// Contacts shorter than this are dropped, and gaps shorter than this are closed, s; default 0.05.
    pub min_duration_s: f32,
}

impl Default for ContactConfig {
    fn default() -> Self {
        Self {
            begin_speed: 0.7,
            end_speed: 1.0,
            begin_height_m: 0.03,
            end_height_m: 0.06,
            low_point_window_s: 0.2,
            lifted_end_m: 0.08,
            hover_height_m: 0.06,
            hover_radius_m: 0.25,
            hover_window_s: 3.0,
            min_duration_s: 0.05,
        }
    }
}

/// The points, in the order of the result: left heel, left toe, right heel, right toe.
const POINTS: [usize; 4] =
    [humanoid::LEFT_FOOT.0, humanoid::LEFT_TOE.0, humanoid::RIGHT_FOOT.0, humanoid::RIGHT_TOE.0];
/// Body height that the thresholds are for, metres.
const REFERENCE_HEIGHT_M: f32 = 1.75;

/// Contacts of left heel, left toe, right heel and right toe in every frame of a clip on the project skeleton.
///
/// The heel is judged by the ankle joint, the toe by the toe joint, each less its height above the sole.
pub fn foot_contacts(clip: &Clip, config: &ContactConfig) -> Vec<[bool; 4]> {
    let mut positions = FrameTable::with_columns(clip.skeleton.len());
    for pose in clip.global_poses() {
        positions.push(&pose.positions);
    }
    foot_contacts_of_positions(&clip.skeleton, &positions, clip.frame_rate_hz, config)
        .expect("a clip has positions of all its joints")
}

/// [`foot_contacts`] of world joint positions `[T, J]`, metres.
///
/// # Errors
/// [`MotionError::SizeMismatch`] when the table does not have one column per joint.
pub fn foot_contacts_of_positions(
    skeleton: &Skeleton,
    positions: &FrameTable<Vec3>,
    frame_rate_hz: f32,
    config: &ContactConfig,
) -> Result<Vec<[bool; 4]>, MotionError> {
    if positions.columns() != skeleton.len() {
        return Err(MotionError::SizeMismatch {
            what: "joint positions for foot contacts".to_owned(),
            expected: skeleton.len(),
            found: positions.columns(),
        });
    }
    let size = crate::retarget::body_height(skeleton) / REFERENCE_HEIGHT_M;
    let (ankle, toe) = sole_heights(skeleton);
    let tracks: Vec<Track> = POINTS
        .iter()
        .zip([ankle, toe, ankle, toe])
        .map(|(&joint, sole)| Track::new(positions, joint, sole, frame_rate_hz, config, size))
        .collect();
    let min_frames = (config.min_duration_s * frame_rate_hz).round() as usize;
    let mut contacts = vec![[false; 4]; positions.frames()];
    for (point, track) in tracks.iter().enumerate() {
        let other_end = &tracks[point ^ 1];
        let mut planted = track.planted(other_end, config, size);
        track.drop_hovering(&mut planted, config, size, frame_rate_hz);
        close_gaps(&mut planted, min_frames);
        drop_short(&mut planted, min_frames);
        for (row, planted) in contacts.iter_mut().zip(planted) {
            row[point] = planted;
        }
    }
    Ok(contacts)
}

/// One point of a foot over time.
struct Track {
    /// Place on the ground.
    place: Vec<Vec2>,
    /// Height less the height of the joint above the sole.
    height: Vec<f32>,
    /// Lowest height within the window around each frame.
    low_point: Vec<f32>,
    speed: Vec<f32>,
}

impl Track {
    fn new(
        positions: &FrameTable<Vec3>,
        joint: usize,
        sole: f32,
        rate: f32,
        config: &ContactConfig,
        size: f32,
    ) -> Self {
        let frames = positions.frames();
        let last = frames.saturating_sub(1);
        let at = |frame: usize| positions[frame][joint];
        // A fixed time span, so that thresholds mean the same at any rate.
        let half_span = ((rate / 60.0).round() as usize).max(1);
        let speed = (0..frames)
            .map(|frame| {
                let (before, after) = (frame.saturating_sub(half_span), (frame + half_span).min(last));
                at(before).distance(at(after)) * rate / ((after - before).max(1) as f32 * size)
            })
            .collect();
        let height: Vec<f32> = (0..frames).map(|frame| at(frame).y - sole).collect();
        let window = (config.low_point_window_s * rate).round() as usize;
        let low_point = (0..frames)
            .map(|frame| {
                let range = frame.saturating_sub(window)..=(frame + window).min(last);
                height[range].iter().copied().fold(f32::INFINITY, f32::min)
            })
            .collect();
        let place = (0..frames).map(|frame| Vec2::new(at(frame).x, at(frame).z)).collect();
        Self { place, height, low_point, speed }
    }

    /// Slow and low, with hysteresis.
    fn planted(&self, other_end: &Self, config: &ContactConfig, size: f32) -> Vec<bool> {
        let mut state = false;
        (0..self.height.len())
            .map(|frame| {
                let above = (self.height[frame] - self.low_point[frame]) / size;
                let lifted = (self.height[frame] - other_end.height[frame]) / size > config.lifted_end_m;
                let (speed, height) = if state {
                    (config.end_speed, config.end_height_m)
                } else {
                    (config.begin_speed, config.begin_height_m)
                };
                state = self.speed[frame] < speed && above < height && !lifted;
                state
            })
            .collect()
    }

    /// Removes rests in the air: the point also rested clearly lower near the same place.
    fn drop_hovering(&self, planted: &mut [bool], config: &ContactConfig, size: f32, rate: f32) {
        let rests = runs(planted, true);
        let summary: Vec<(f32, Vec2)> = rests
            .iter()
            .map(|range| {
                let count = range.len() as f32;
                let height = self.height[range.clone()].iter().sum::<f32>() / count;
                (height, self.place[range.clone()].iter().sum::<Vec2>() / count)
            })
            .collect();
        let window = (config.hover_window_s * rate) as usize;
        for (range, (height, place)) in rests.iter().zip(&summary) {
            let hovers = rests.iter().zip(&summary).any(|(other, (other_height, other_place))| {
                let near_in_time = other.start < range.end + window && range.start < other.end + window;
                near_in_time
                    && height - other_height > config.hover_height_m * size
                    && place.distance(*other_place) < config.hover_radius_m * size
            });
            if hovers {
                planted[range.clone()].fill(false);
            }
        }
    }
}

/// Maximal ranges in which `values` equal `wanted`.
pub(crate) fn runs(values: &[bool], wanted: bool) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (i, &value) in values.iter().enumerate() {
        match (value == wanted, start) {
            (true, None) => start = Some(i),
            (false, Some(from)) => {
                found.push(from..i);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        found.push(from..values.len());
    }
    found
}

fn close_gaps(values: &mut [bool], shorter_than: usize) {
    for gap in runs(values, false) {
        if gap.len() < shorter_than && gap.start > 0 && gap.end < values.len() {
            values[gap].fill(true);
        }
    }
}

fn drop_short(values: &mut [bool], shorter_than: usize) {
    for run in runs(values, true) {
        if run.len() < shorter_than && run.start > 0 && run.end < values.len() {
            values[run].fill(false);
        }
    }
}
