//! Frames that are the same to the last digit as the one before. Recorded people tremble: they never are, but files repeat
//! frames that a camera lost, and files of a higher rate than the motion's repeat them all.

use super::defect::Defect;
use super::track::JointTracks;
use pomp_motion::{FrameTable, SourceMotion};

/// A body that moves slower in every joint is at rest and may be the same twice, m/s.
const MOVING_M_S: f32 = 0.1;
/// Most times that a frame may be there throughout.
const MOST_TIMES: usize = 5;
/// Fewest groups of equal frames that tell how often each is there.
const FEWEST_GROUPS: usize = 10;
/// Share of groups whose length has to be a multiple; a few may be lost frames.
const ALL_BUT_A_FEW: f32 = 0.95;

/// First frames of the groups of equal frames, and the number of frames after them.
fn groups(motion: &SourceMotion) -> Vec<usize> {
    let equal = |frame: usize| {
        motion.poses[frame] == motion.poses[frame - 1]
            && motion.joint_translations.as_ref().is_none_or(|t| t[frame] == t[frame - 1])
    };
    let mut starts = vec![0];
    starts.extend((1..motion.frames()).filter(|&frame| !equal(frame)));
    starts.push(motion.frames());
    starts
}

/// How often each frame is there; 1 when it is no regular number.
fn times(starts: &[usize]) -> usize {
    // The first and the last group may be cut.
    let lengths: Vec<usize> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let Some(inner) = lengths.get(1..lengths.len() - 1).filter(|inner| inner.len() >= FEWEST_GROUPS) else {
        return 1;
    };
    let share = |holds: &dyn Fn(usize) -> bool| {
        inner.iter().filter(|&&length| holds(length)).count() as f32 / inner.len() as f32
    };
    (2..=MOST_TIMES)
        .find(|&times| {
            share(&|length| length % times == 0) >= ALL_BUT_A_FEW && share(&|length| length == times) >= 0.5
        })
        .unwrap_or(1)
}

/// One of each where every frame is there several times over.
pub(super) fn divided(motion: SourceMotion, metres: f32, defects: &mut Vec<Defect>) -> SourceMotion {
    let starts = groups(&motion);
    let times = times(&starts);
    if times == 1 {
        return motion;
    }
    let kept = (starts[1] % times..motion.frames()).step_by(times);
    let joint_translations = motion.joint_translations.as_ref().map(|table| {
        let mut kept_rows = FrameTable::with_columns(table.columns());
        kept.clone().for_each(|frame| kept_rows.push(&table[frame]));
        kept_rows
    });
    let divided = SourceMotion {
        poses: kept.map(|frame| motion.poses[frame].clone()).collect(),
        joint_translations,
        frame_rate_hz: motion.frame_rate_hz / times as f32,
        ..motion.clone()
    };
    // What hardly moves may be the same twice for want of digits.
    let tracks = JointTracks::of(&divided, metres);
    let moving = (1..tracks.frames()).filter(|&t| tracks.speed(t - 1, t) > MOVING_M_S).count();
    if 2 * moving < tracks.frames() {
        return motion;
    }
    defects.push(Defect::Multiplied { times, frames: motion.frames(), rate_hz: motion.frame_rate_hz });
    divided
}

/// Repeated frames and frozen stretches in the midst of motion.
pub(super) fn report(motion: &SourceMotion, tracks: &JointTracks, defects: &mut Vec<Defect>) {
    let starts = groups(motion);
    let frames = motion.frames();
    let mut repeated = Vec::new();
    for pair in starts.windows(2) {
        let (first, last) = (pair[0], pair[1] - 1);
        let comes = first > 0 && tracks.speed(first - 1, first) > MOVING_M_S;
        let goes = last + 1 < frames && tracks.speed(last, last + 1) > MOVING_M_S;
        // At an end of the clip the motion may have been padded.
        let stops = (comes || first == 0) && (goes || last + 1 == frames) && (comes || goes);
        match last - first {
            1 if comes && goes => repeated.push(last),
            2.. if stops => {
                defects.push(Defect::Frozen { frames: [first, last], seconds: tracks.seconds(last - first) });
            }
            _ => {}
        }
    }
    if !repeated.is_empty() {
        defects.push(Defect::Repeated { frames: repeated });
    }
}
