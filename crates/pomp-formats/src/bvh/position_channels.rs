use super::header::{CheckedJoint, HeaderJoint};
use super::motion_block::{MotionBlock, axis_index};
use super::reader::PositionChannels;
use super::warning::BvhWarning;
use glam::{Quat, Vec3};
use pomp_motion::FrameTable;
use pomp_motion::statistics::median;

/// Frames that are looked at to tell the two readings of position channels apart.
const SAMPLED_FRAMES: usize = 64;

/// The position channels of one joint: axis and column in [`MotionBlock::positions`].
struct AnimatedPosition {
    joint: usize,
    axes: Vec<(usize, usize)>,
    offset: Vec3,
}

/// Puts the roots of the poses where their channels say. Translation of every joint from its parent, `[T, J]`, where a joint other than
/// the root is animated.
///
/// A joint without position channels keeps its offset.
pub(super) fn translations(
    checked: &[CheckedJoint],
    header: &[HeaderJoint],
    block: &mut MotionBlock,
    reading: PositionChannels,
    warnings: &mut Vec<BvhWarning>,
) -> Option<FrameTable<Vec3>> {
    let animated = animated_positions(checked, header);
    let ambiguous = animated.iter().any(AnimatedPosition::is_ambiguous);
    let added = ambiguous
        && match reading {
            PositionChannels::ReplaceOffset => false,
            PositionChannels::AddToOffset => true,
            PositionChannels::Detect => is_added(&animated, checked, block),
        };
    for position in animated.iter().filter(|position| position.is_ambiguous()) {
        // Joints that carry their offset in their channels are the ordinary case: only the root, and what
        // departs from the ordinary, is worth a word.
        if position.joint == 0 || added {
            let described = &checked[position.joint];
            let (line, joint, offset) = (described.line, described.name.clone(), described.offset);
            warnings.push(BvhWarning::PositionChannels { line, joint, offset, added });
        }
    }
    let others_move = animated.iter().any(|position| position.joint > 0);
    let mut table = others_move.then(|| FrameTable::with_columns(checked.len()));
    let mut row: Vec<Vec3> = checked.iter().map(|joint| joint.offset).collect();
    for frame in 0..block.poses.len() {
        for position in &animated {
            row[position.joint] = position.read(added, block, frame);
        }
        block.poses[frame].root_position = row[0];
        if let Some(table) = &mut table {
            table.push(&row);
        }
    }
    table
}

fn animated_positions(checked: &[CheckedJoint], header: &[HeaderJoint]) -> Vec<AnimatedPosition> {
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
        if !axes.is_empty() {
            animated.push(AnimatedPosition { joint, axes, offset: checked[joint].offset });
        }
    }
    animated
}

impl AnimatedPosition {
    /// Whether adding to the offset differs from replacing it.
    fn is_ambiguous(&self) -> bool {
        self.axes.iter().any(|&(axis, _)| self.offset[axis] != 0.0)
    }

    fn read(&self, added: bool, block: &MotionBlock, frame: usize) -> Vec3 {
        let mut translation = self.offset;
        for &(axis, column) in &self.axes {
            let value = block.positions[frame][column];
            translation[axis] = if added { self.offset[axis] + value } else { value };
        }
        translation
    }

    /// Whether the channels lie closer to zero than to the offset.
    fn is_nearer_to_zero(&self, block: &MotionBlock) -> bool {
        let (mut to_offset, mut to_zero) = (0.0_f64, 0.0_f64);
        for values in block.positions.rows() {
            for &(axis, column) in &self.axes {
                let value = f64::from(values[column]);
                to_offset += (value - f64::from(self.offset[axis])).powi(2);
                to_zero += value.powi(2);
            }
        }
        to_zero < to_offset
    }
}

/// Whether the channels of this file are displacements from the offsets. A program that writes files has one
/// convention, so one answer holds for all joints. The bones tell: they keep their length, so their channels
/// stay near the offset or near zero; a single joint may travel (hips below a still root), so it takes two and
/// a majority. Where the bones do not tell, the ground does: the reading whose lowest point, at the median of
/// some frames, is nearer to y = 0.
fn is_added(animated: &[AnimatedPosition], checked: &[CheckedJoint], block: &MotionBlock) -> bool {
    let bones: Vec<&AnimatedPosition> =
        animated.iter().filter(|position| position.joint > 0 && position.is_ambiguous()).collect();
    let added = bones.iter().filter(|bone| bone.is_nearer_to_zero(block)).count();
    let replaced = bones.len() - added;
    if bones.len() >= 2 && added != replaced {
        return added > replaced;
    }
    let height = |added| median_lowest_point(animated, checked, block, added).abs();
    height(true) < height(false)
}

fn median_lowest_point(
    animated: &[AnimatedPosition],
    checked: &[CheckedJoint],
    block: &MotionBlock,
    added: bool,
) -> f32 {
    let mut row: Vec<Vec3> = checked.iter().map(|joint| joint.offset).collect();
    let frames = block.poses.len();
    let lowest: Vec<f32> = (0..frames)
        .step_by(frames.div_ceil(SAMPLED_FRAMES).max(1))
        .map(|frame| {
            for position in animated {
                row[position.joint] = position.read(added, block, frame);
            }
            lowest_point(&row, &block.poses[frame].local_rotations, checked)
        })
        .collect();
    median(&lowest).expect("a motion has frames") as f32
}

fn lowest_point(translations: &[Vec3], rotations: &[Quat], checked: &[CheckedJoint]) -> f32 {
    let mut world: Vec<(Vec3, Quat)> = Vec::with_capacity(checked.len());
    let mut lowest = f32::INFINITY;
    for (joint, described) in checked.iter().enumerate() {
        let (origin, frame) = described.parent.map_or((Vec3::ZERO, Quat::IDENTITY), |parent| world[parent]);
        let position = origin + frame * translations[joint];
        let rotation = frame * rotations[joint];
        let ends = described.end_sites.iter().map(|end| (position + rotation * *end).y);
        lowest = ends.chain([position.y]).fold(lowest, f32::min);
        world.push((position, rotation));
    }
    lowest
}
