//! Recorded get-up motions.

use pomp_motion::{Clip, Gait, Recording, humanoid};

/// Cosine of the angle between a standing trunk and upright.
const UPRIGHT: f32 = 0.95;

/// A clip of a person who gets up, from lying to standing.
#[derive(Clone, Debug)]
pub struct GetUpClip {
    /// From lying to standing.
    pub clip: Clip,
    /// Height of the ground, metres.
    pub level_m: f32,
    /// Licence of the clip.
    pub license: String,
}

/// From the beginning of the last period of lying that ends in standing to the frame that stands most still.
pub fn way_up(recording: &Recording) -> Option<std::ops::RangeInclusive<usize>> {
    let gait = |frame: &usize| Gait::dominant(&recording.gait[*frame]);
    let frames = recording.frames();
    let rises = (0..frames).rfind(|frame| gait(frame) == Gait::GetUp)?;
    let begins = (0..rises).rfind(|frame| gait(frame) == Gait::Lie)?;
    let lies = (0..begins).rfind(|frame| gait(frame) != Gait::Lie).map_or(0, |frame| frame + 1);
    let upright = |frame: &usize| {
        let joints = &recording.positions[*frame];
        (joints[humanoid::NECK.0] - joints[humanoid::HIPS.0]).normalize_or_zero().y > UPRIGHT
    };
    let speed = |frame: &usize| recording.velocities[*frame].iter().map(|v| v.length()).sum::<f32>();
    let stands = (rises + 1..frames).filter(upright).min_by(|a, b| speed(a).total_cmp(&speed(b)))?;
    Some(lies..=stands)
}
