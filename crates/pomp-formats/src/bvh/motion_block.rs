use super::half_turn::half_turns;
use super::header::HeaderJoint;
use super::problem::BvhProblem;
use super::scanner::{Scanner, Token};
use super::warning::BvhWarning;
use crate::FormatError;
use bvh_anim::{Axis, ChannelType};
use glam::{DQuat, Quat, Vec3};
use pomp_motion::{FrameTable, Pose};

/// What `MOTION` announces before its rows.
pub(super) struct MotionHeader<'a> {
    frames: u64,
    frames_token: Token<'a>,
    pub frame_time_s: f64,
    pub frame_rate_hz: f32,
}

/// The rows, already turned into rotations.
pub(super) struct MotionBlock {
    /// The rotations, `[T, J]`; the roots are at the origin until [`super::position_channels`] are read.
    pub poses: Vec<Pose>,
    /// Values of all position channels in their order in a row, `[T, P]`.
    pub positions: FrameTable<f32>,
}

/// Reads `MOTION`, `Frames:` and `Frame Time:`.
pub(super) fn motion_header<'a>(scanner: &mut Scanner<'a>) -> Result<MotionHeader<'a>, FormatError> {
    let motion = scanner.expect("MOTION")?;
    if motion.is("ROOT") {
        return Err(scanner.error(motion, BvhProblem::SecondRoot));
    }
    if !motion.is("MOTION") {
        return Err(scanner.error(motion, BvhProblem::Expected { expected: "MOTION" }));
    }
    let word = scanner.expect_or_colon("Frames:")?;
    if !word.is("Frames") {
        return Err(scanner.error(word, BvhProblem::Expected { expected: "Frames:" }));
    }
    let frames_token = after_colon(scanner, "the number of frames")?;
    let frames: u64 =
        std::str::from_utf8(frames_token.text).ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
            scanner.error(frames_token, BvhProblem::Expected { expected: "the number of frames" })
        })?;
    if frames == 0 {
        return Err(scanner.error(frames_token, BvhProblem::NoFrames));
    }
    let word = scanner.expect_or_colon("Frame Time:")?;
    if word.is("Frame") {
        let time = scanner.expect_or_colon("Time:")?;
        if !time.is("Time") {
            return Err(scanner.error(time, BvhProblem::Expected { expected: "Time:" }));
        }
    } else if !word.is("FrameTime") {
        return Err(scanner.error(word, BvhProblem::Expected { expected: "Frame Time:" }));
    }
    let time_token = after_colon(scanner, "the frame time in seconds")?;
    let frame_time_s = scanner.number(time_token)?;
    let frame_rate_hz = (1.0 / frame_time_s) as f32;
    if !(frame_time_s > 0.0 && frame_rate_hz.is_finite() && frame_rate_hz > 0.0) {
        return Err(scanner.error(time_token, BvhProblem::FrameTime));
    }
    Ok(MotionHeader { frames, frames_token, frame_time_s, frame_rate_hz })
}

fn after_colon<'a>(scanner: &mut Scanner<'a>, expected: &'static str) -> Result<Token<'a>, FormatError> {
    let token = scanner.expect_or_colon(expected)?;
    if token.is(":") { scanner.expect_or_colon(expected) } else { Ok(token) }
}

/// Reads the rows to the end of the text; a row may be wrapped over several lines.
pub(super) fn motion_block(
    scanner: &mut Scanner<'_>,
    header: &MotionHeader<'_>,
    joints: &[HeaderJoint],
    warnings: &mut Vec<BvhWarning>,
) -> Result<MotionBlock, FormatError> {
    let channels: usize = joints.iter().map(|joint| joint.channels.len()).sum();
    if channels == 0 {
        return Err(scanner.error(header.frames_token, BvhProblem::NoChannels));
    }
    let position_columns: Vec<usize> = joints
        .iter()
        .flat_map(|joint| &joint.channels)
        .filter(|(channel, _)| channel.is_position())
        .map(|&(_, column)| column)
        .collect();
    let turns: Vec<Vec<(Axis, usize)>> = joints.iter().map(turns).collect();
    let mut block =
        MotionBlock { poses: Vec::new(), positions: FrameTable::with_columns(position_columns.len()) };
    let mut row = Vec::with_capacity(channels);
    let mut half = vec![[0.0; 2]; channels];
    let mut positions = Vec::new();
    let mut lines = LineWidths::new(channels);
    while let Some(value) = scanner.next_number()? {
        row.push(value);
        lines.count(scanner.value_line());
        if row.len() < channels {
            continue;
        }
        half_turns(&row, &mut half);
        let local_rotations = turns.iter().map(|turns| rotation(turns, &half)).collect();
        block.poses.push(Pose { root_position: Vec3::ZERO, local_rotations });
        positions.clear();
        positions.extend(position_columns.iter().map(|&column| row[column] as f32));
        block.positions.push(&positions);
        row.clear();
        let frames = block.poses.len();
        if frames * joints.len() > scanner.len() + (1 << 16) {
            return Err(
                scanner.error(scanner.value_token(), BvhProblem::TooSparse { frames, joints: joints.len() })
            );
        }
    }
    let found = block.poses.len();
    let off_by_one = found > 0 && row.is_empty() && header.frames.abs_diff(found as u64) == 1;
    if row.is_empty() && header.frames == found as u64 {
        Ok(block)
    } else if off_by_one {
        let line = header.frames_token.line;
        warnings.push(BvhWarning::FrameCount { line, declared: header.frames, found });
        Ok(block)
    } else {
        let values = found * channels + row.len();
        let problem =
            BvhProblem::MotionCount { frames: header.frames, channels, values, uneven: lines.finish() };
        Err(scanner.error(header.frames_token, problem))
    }
}

/// Axes and columns of the rotation channels of a joint.
fn turns(joint: &HeaderJoint) -> Vec<(Axis, usize)> {
    let turns = joint.channels.iter().filter(|(channel, _)| channel.is_rotation());
    turns.map(|(channel, column)| (channel.axis(), *column)).collect()
}

/// Rotation of a joint: the product of its rotation channels in their order, from the [`half_turns`] of a row. In double precision its length is 1 within a few 1e-16, so
/// that it needs no normalisation before it is rounded.
fn rotation(turns: &[(Axis, usize)], half: &[[f64; 2]]) -> Quat {
    let mut rotation = DQuat::IDENTITY;
    for &(axis, column) in turns {
        let [sin, cos] = half[column];
        let DQuat { x, y, z, w } = rotation;
        // The product with a turn about one axis, which has no other components.
        rotation = match axis {
            Axis::X => {
                DQuat::from_xyzw(x * cos + w * sin, y * cos + z * sin, z * cos - y * sin, w * cos - x * sin)
            }
            Axis::Y => {
                DQuat::from_xyzw(x * cos - z * sin, y * cos + w * sin, z * cos + x * sin, w * cos - y * sin)
            }
            Axis::Z => {
                DQuat::from_xyzw(x * cos + y * sin, y * cos - x * sin, z * cos + w * sin, w * cos - z * sin)
            }
        };
    }
    rotation.as_quat()
}

/// Index of the axis of a position channel: 0 for x, 1 for y, 2 for z.
pub(super) fn axis_index(channel: ChannelType) -> usize {
    match channel.axis() {
        Axis::X => 0,
        Axis::Y => 1,
        Axis::Z => 2,
    }
}

/// Finds the first line that does not hold exactly one row.
struct LineWidths {
    channels: usize,
    line: usize,
    values: usize,
    uneven: Option<(usize, usize)>,
}

impl LineWidths {
    fn new(channels: usize) -> Self {
        Self { channels, line: 0, values: 0, uneven: None }
    }

    fn count(&mut self, line: usize) {
        if line != self.line {
            self.end_line();
            self.line = line;
            self.values = 0;
        }
        self.values += 1;
    }

    fn end_line(&mut self) {
        if self.line > 0 && self.values != self.channels && self.uneven.is_none() {
            self.uneven = Some((self.line, self.values));
        }
    }

    fn finish(mut self) -> Option<(usize, usize)> {
        self.end_line();
        self.uneven
    }
}
