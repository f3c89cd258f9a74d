//! Clips of motions: strides one after the other, with root motion.

use crate::model::StyleModel;
use crate::motion::{AlignedMotion, between};
use crate::planted_feet::hold_planted_feet;
use crate::posture::{PELVIS, PostureSpace};
use crate::warp::time_at;
use glam::{Vec2, Vec3};
use nalgebra::DVector;
use pomp_motion::{Clip, MotionError, Pose, Recording, RootFrame, smoothstep};
use std::sync::Arc;

/// Place of the height of the pelvis in a posture's vector.
const HEIGHT: usize = 1;

/// A stride to lay out.
pub(crate) struct Stride {
    pub motion: AlignedMotion,
    /// Heading of its frame over that of the stride before, radians.
    pub turn: f32,
}

/// A walk of one code: the same cycle again and again, straight ahead along +Z from the origin on ground at y = 0.
///
/// What the cycle's end lacks to its beginning is spread over it; planted feet are held where they stand if `hold_feet` is set. The
/// recording has the contacts of the reference, warped as the motion.
///
/// # Errors
/// [`MotionError`] for a code so far from all cycles that the motion is not finite.
pub fn walk(
    model: &StyleModel,
    code: &DVector<f64>,
    seconds: f32,
    hold_feet: bool,
    name: &str,
) -> Result<Recording, MotionError> {
    let motion = model.motion(code);
    let frames = (seconds * model.reference.frame_rate_hz).round().max(1.0) as usize + 1;
    let strides = (frames as f64 / motion.length()).ceil().max(1.0) as usize;
    let jump = jump(&motion.postures, &motion.postures);
    let mut strides: Vec<Stride> =
        (0..strides).map(|_| Stride { motion: motion.clone(), turn: 0.0 }).collect();
    let jumps = vec![jump; strides.len() + 1];
    close(&mut strides, &jumps);
    let start = RootFrame { origin: Vec3::ZERO, yaw: 0.0 };
    let contacts = vec![model.reference.contact.clone(); strides.len()];
    let mut laid = lay_out(&model.space, &strides, &contacts, start);
    laid.poses.truncate(frames);
    laid.contact.truncate(frames);
    recording(model, laid, hold_feet, name)
}

/// A recording of poses that are laid out.
pub(crate) fn recording(
    model: &StyleModel,
    mut laid: LaidOut,
    hold_feet: bool,
    name: &str,
) -> Result<Recording, MotionError> {
    let skeleton = model.space.skeleton();
    if hold_feet {
        hold_planted_feet(skeleton, &mut laid.poses, &laid.contact);
    }
    let clip = Clip::new(name, Arc::clone(skeleton), model.reference.frame_rate_hz, laid.poses)?;
    let mut recording = Recording::of_clip(&clip);
    recording.foot_contact = laid.contact;
    recording.gait = vec![pomp_motion::Gait::Walk.one_hot(); recording.frames()];
    Ok(recording)
}

/// What the beginning of a motion lacks to the end of the one before, but for the place on the ground.
pub(crate) fn jump(before: &[Vec<f64>], after: &[Vec<f64>]) -> Vec<f64> {
    let end = before.last().expect("a motion has frames");
    let mut jump: Vec<f64> = after[0].iter().zip(end).map(|(b, a)| b - a).collect();
    for (place, value) in jump.iter_mut().enumerate().take(PELVIS) {
        if place != HEIGHT {
            *value = 0.0;
        }
    }
    jump
}

/// Spreads jumps between strides over them: half of each over the stride before, half over the stride after. `jumps[k]` is that before
/// stride k; the last is behind the last stride.
pub(crate) fn close(strides: &mut [Stride], jumps: &[Vec<f64>]) {
    for (k, stride) in strides.iter_mut().enumerate() {
        let length = stride.motion.length();
        for (posture, at) in stride.motion.postures.iter_mut().zip(&stride.motion.warp) {
            let share = f64::from(smoothstep((at / length) as f32));
            for (place, value) in posture.iter_mut().enumerate() {
                *value += 0.5 * (share * jumps[k + 1][place] - (1.0 - share) * jumps[k][place]);
            }
        }
    }
}

/// Poses in the world, one per frame.
pub(crate) struct LaidOut {
    pub poses: Vec<Pose>,
    /// The contacts of the stride at the time of each frame.
    pub contact: Vec<[bool; 4]>,
}

/// Lays strides one after the other, the first in the frame `start`; `contact` are those of each stride on the reference's time axis.
pub(crate) fn lay_out(
    space: &PostureSpace,
    strides: &[Stride],
    contact: &[Vec<[bool; 4]>],
    start: RootFrame,
) -> LaidOut {
    let (mut poses, mut contacts) = (Vec::new(), Vec::new());
    let mut frame = start;
    // Time at which the stride begins, in frames.
    let mut begin = 0.0;
    for (k, Stride { motion, turn }) in strides.iter().enumerate() {
        if k > 0 {
            frame.yaw += turn;
        }
        let end = begin + motion.length();
        let is_last = k + 1 == strides.len();
        while (poses.len() as f64) < end || (is_last && poses.len() as f64 <= end) {
            let t = time_at(&motion.warp, poses.len() as f64 - begin);
            poses.push(crate::cycle::in_world(&space.decode(&between(&motion.postures, t)), &frame));
            contacts.push(contact[k][(t.round() as usize).min(contact[k].len() - 1)]);
        }
        let last = motion.postures.last().expect("a motion has frames");
        let first = &motion.postures[0];
        frame = frame.advanced(Vec2::new((last[0] - first[0]) as f32, (last[2] - first[2]) as f32), 0.0);
        begin = end;
    }
    LaidOut { poses, contact: contacts }
}
