use super::header::{CheckedJoint, HeaderJoint};
use super::motion_block::{MotionBlock, axis_index};
use super::reader::PositionChannels;
use super::warning::BvhWarning;
use glam::Vec3;
use pomp_motion::{FrameTable, GlobalPose, JointIndex, Pose, Skeleton};

/// Frames that are looked at to tell the two readings of the root's position channels apart.
const SAMPLED_FRAMES: usize = 64;

/// The position channels of one joint: axis and column in [`MotionBlock::positions`].
struct AnimatedPosition {
    joint: usize,
    axes: Vec<(usize, usize)>,
    added: bool,
}

/// Translation of every joint from its parent, `[T, J]`, and whether a joint other than the root is animated.
///
/// A joint without position channels keeps its offset.
pub(super) fn translations(
    checked: &[CheckedJoint],
    header: &[HeaderJoint],
    skeleton: &Skeleton,
    block: &MotionBlock,
    reading: PositionChannels,
    warnings: &mut Vec<BvhWarning>,
) -> (FrameTable<Vec3>, bool) {
    let mut column = 0;
    let mut animated = Vec::new();
    for (joint, described) in header.iter().enumerate() {
        let axes: Vec<(usize, usize)> = described
            .channels
            .iter()
            .filter(|(channel, _)| channel.is_position())
            .zip(column..)
            .map(|(&(channel, _), column)| (axis_index(channel), column))
            .collect();
        column += axes.len();
        if axes.is_empty() {
            continue;
        }
        let offset = checked[joint].offset;
        let mut position = AnimatedPosition { joint, axes, added: false };
        if position.axes.iter().any(|&(axis, _)| offset[axis] != 0.0) {
            position.added = match reading {
                PositionChannels::ReplaceOffset => false,
                PositionChannels::AddToOffset => true,
                PositionChannels::Detect if joint == 0 => root_is_added(&position, checked, skeleton, block),
                PositionChannels::Detect => joint_is_added(&position, offset, block),
            };
            // Files whose joints all carry their offset in the channels are the ordinary case: only the
            // root, and what departs from the ordinary, is worth a word.
            if joint == 0 || position.added {
                let (line, name) = (checked[joint].line, checked[joint].name.clone());
                let added = position.added;
                warnings.push(BvhWarning::PositionChannels { line, joint: name, offset, added });
            }
        }
        animated.push(position);
    }
    let offsets: Vec<Vec3> = checked.iter().map(|joint| joint.offset).collect();
    let mut table = FrameTable::with_columns(checked.len());
    let mut row = offsets.clone();
    for frame in 0..block.rotations.frames() {
        for position in &animated {
            row[position.joint] = position.read(offsets[position.joint], block, frame);
        }
        table.push(&row);
    }
    (table, animated.iter().any(|position| position.joint > 0))
}

impl AnimatedPosition {
    fn read(&self, offset: Vec3, block: &MotionBlock, frame: usize) -> Vec3 {
        let mut translation = offset;
        for &(axis, column) in &self.axes {
            let value = block.positions[frame][column];
            translation[axis] = if self.added { offset[axis] + value } else { value };
        }
        translation
    }
}

/// Whether the channels lie closer to zero than to the offset: then they are displacements from it.
fn joint_is_added(position: &AnimatedPosition, offset: Vec3, block: &MotionBlock) -> bool {
    let (mut to_offset, mut to_zero) = (0.0_f64, 0.0_f64);
    for values in block.positions.rows() {
        for &(axis, column) in &position.axes {
            let value = f64::from(values[column]);
            to_offset += (value - f64::from(offset[axis])).powi(2);
            to_zero += value.powi(2);
        }
    }
    to_zero < to_offset
}

/// Whether adding the offset brings the lowest point of the body nearer to the ground (y = 0) than replacing
/// it, at the median of some frames. Files of both kinds exist, and nothing in the format tells them apart.
fn root_is_added(
    position: &AnimatedPosition,
    checked: &[CheckedJoint],
    skeleton: &Skeleton,
    block: &MotionBlock,
) -> bool {
    let frames = block.rotations.frames();
    let step = frames.div_ceil(SAMPLED_FRAMES).max(1);
    let mut lowest: Vec<f32> = (0..frames)
        .step_by(step)
        .map(|frame| {
            let root_position = position.read(checked[0].offset, block, frame);
            let pose = Pose { root_position, local_rotations: block.rotations[frame].to_vec() };
            lowest_point(&skeleton.forward_kinematics(&pose), checked)
        })
        .collect();
    lowest.sort_by(f32::total_cmp);
    let replaced = lowest[lowest.len() / 2];
    (replaced + checked[0].offset.y).abs() < replaced.abs()
}

fn lowest_point(pose: &GlobalPose, checked: &[CheckedJoint]) -> f32 {
    let joints = pose.positions.iter().map(|p| p.y);
    let ends = checked.iter().enumerate().flat_map(|(joint, described)| {
        let at = JointIndex(joint).0;
        described.end_sites.iter().map(move |end| (pose.positions[at] + pose.rotations[at] * *end).y)
    });
    joints.chain(ends).fold(f32::INFINITY, f32::min)
}
