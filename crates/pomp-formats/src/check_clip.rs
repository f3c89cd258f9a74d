use crate::FormatError;
use pomp_motion::{Clip, MotionError};

/// Checks what [`Clip::new`] promises and public fields may have broken since, and that quaternions have a
/// direction: a writer must not put NaN into a file.
pub(crate) fn check_clip(clip: &Clip, file: &str) -> Result<(), FormatError> {
    problem_of(clip).map_or(Ok(()), |source| Err(FormatError::Motion { file: file.to_owned(), source }))
}

fn problem_of(clip: &Clip) -> Option<MotionError> {
    let joints = clip.skeleton.len();
    if clip.poses.is_empty() || !(clip.frame_rate_hz.is_finite() && clip.frame_rate_hz > 0.0) {
        let reason = format!("it has {} frames at {} Hz", clip.poses.len(), clip.frame_rate_hz);
        return Some(MotionError::BadClip { name: clip.name.clone(), reason });
    }
    clip.poses.iter().enumerate().find_map(|(frame, pose)| {
        let what = || format!("clip \"{}\"", clip.name);
        if pose.local_rotations.len() != joints {
            return Some(MotionError::SizeMismatch {
                what: format!("rotations of frame {frame} of {}", what()),
                expected: joints,
                found: pose.local_rotations.len(),
            });
        }
        let column =
            pose.local_rotations.iter().position(|q| !q.length_recip().is_finite() || !q.is_finite());
        let column = column.or((!pose.root_position.is_finite()).then_some(0));
        column.map(|column| MotionError::NotFinite { what: what(), frame, column })
    })
}
