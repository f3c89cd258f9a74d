//! Frames that equal the previous one to the last digit. Recorded motion never does, because people tremble; files repeat frames that
//! a camera lost, and files of a higher rate than the motion's repeat every frame.

use super::defect::Defect;
use super::track::JointTracks;
use pomp_motion::{FrameTable, SourceMotion};

/// Below this speed of every joint the body is at rest, and equal frames are plausible, m/s.
const MOVING_M_S: f32 = 0.1;
/// Largest number of copies of every frame.
const MOST_TIMES: usize = 5;
/// Least number of groups of equal frames that decide on the number of copies.
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

/// Copies of each frame; 1 when their number is not regular.
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

/// One copy of each frame, where every frame is stored several times.
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
    // Slow motion may repeat frames because of few digits in the file.
    let tracks = JointTracks::of(&divided, metres);
    let moving = (1..tracks.frames()).filter(|&t| tracks.speed(t - 1, t) > MOVING_M_S).count();
    if 2 * moving < tracks.frames() {
        return motion;
    }
    defects.push(Defect::Multiplied { times, frames: motion.frames(), rate_hz: motion.frame_rate_hz });
    divided
}

/// Repeated frames and frozen stretches during motion.
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
