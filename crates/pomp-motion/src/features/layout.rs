use super::{FUTURE_KEYS, KEYS};
use crate::Gait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The parts of x and y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockName {
    /// Joint positions in the root frame, metres, 3 J.
    JointPositions,
    /// Joint velocities in the root frame, m/s, 3 J.
    JointVelocities,
    /// Local rotations (the root's relative to its yaw), two matrix columns, 6 J.
    JointRotations,
    /// Root velocity on the ground plane, m/s, 2, and yaw rate, rad/s, 1.
    RootMotion,
    /// Gait weights: per key in x, of the frame in y.
    Gait,
    /// Ground heights left, centre and right of each key, relative to the root frame, metres.
    TerrainHeights,
    /// Contact impulse per body in the root frame, as a mean force in body weights.
    ContactImpulses,
    /// Phase codes pe of the whole window (x) or its future half (y).
    PhaseCodes,
    /// Frequency (Hz), amplitude and offset of each channel at the future keys.
    PhaseParameters,
    /// Positions (metres) and directions on the ground plane: every key in x, future keys in y.
    Trajectory,
}

/// A named range of a feature vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Which part it is.
    pub name: BlockName,
    /// Where it lies in the vector.
    pub range: Range<usize>,
}

/// Most joints, bodies and channels of a layout that is read from a file.
const MOST: usize = 10_000;

/// Sizes and places of all blocks of x and y. From a file only one that [`Self::new`] makes is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedLayout")]
pub struct FeatureLayout {
    joints: usize,
    bodies: usize,
    channels: usize,
    x: Vec<Block>,
    y: Vec<Block>,
}

/// What a file says of a layout.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedLayout {
    joints: usize,
    bodies: usize,
    channels: usize,
    x: Vec<Block>,
    y: Vec<Block>,
}

impl TryFrom<UncheckedLayout> for FeatureLayout {
    type Error = String;
    fn try_from(found: UncheckedLayout) -> Result<Self, String> {
        let UncheckedLayout { joints, bodies, channels, x, y } = found;
        for (what, count) in [("joints", joints), ("bodies", bodies), ("channels", channels)] {
            if !(1..=MOST).contains(&count) {
                return Err(format!("a layout has 1 to {MOST} {what}, not {count}"));
            }
        }
        let found = Self { joints, bodies, channels, x, y };
        let same = |rotations| found == Self::new(joints, bodies, channels, rotations);
        if same(Rotations::SixD) || same(Rotations::None) {
            return Ok(found);
        }
        Err(format!(
            "the blocks of the layout are not those of {joints} joints, {bodies} bodies and {channels} phase channels"
        ))
    }
}

impl FeatureLayout {
    /// The layout for `joints` joints, `bodies` bodies with contact impulses and `channels` phase channels;
    /// `rotations` adds the joints' local rotations, which the paper's layout does not have.
    pub fn new(joints: usize, bodies: usize, channels: usize, rotations: Rotations) -> Self {
        let rotation_size = match rotations {
            Rotations::SixD => 6 * joints,
            Rotations::None => 0,
        };
        let x = blocks(&[
            (BlockName::JointPositions, 3 * joints),
            (BlockName::JointVelocities, 3 * joints),
            (BlockName::JointRotations, rotation_size),
            (BlockName::RootMotion, 3),
            (BlockName::Gait, KEYS * Gait::COUNT),
            (BlockName::TerrainHeights, KEYS * 3),
            (BlockName::ContactImpulses, 3 * bodies),
            (BlockName::PhaseCodes, KEYS * 2 * channels),
            (BlockName::Trajectory, KEYS * 4),
        ]);
        let y = blocks(&[
            (BlockName::JointPositions, 3 * joints),
            (BlockName::JointVelocities, 3 * joints),
            (BlockName::JointRotations, rotation_size),
            (BlockName::RootMotion, 3),
            (BlockName::Gait, Gait::COUNT),
            (BlockName::Trajectory, FUTURE_KEYS * 4),
            (BlockName::PhaseCodes, FUTURE_KEYS * 2 * channels),
            (BlockName::PhaseParameters, FUTURE_KEYS * 3 * channels),
        ]);
        Self { joints, bodies, channels, x, y }
    }

    /// Number of joints, J.
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// Number of bodies, B.
    pub fn bodies(&self) -> usize {
        self.bodies
    }

    /// Number of phase channels, C.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Whether x and y carry local rotations.
    pub fn rotations(&self) -> Rotations {
        if self.y_range(BlockName::JointRotations).is_empty() { Rotations::None } else { Rotations::SixD }
    }

    /// Length of x.
    pub fn x_len(&self) -> usize {
        self.x.last().map_or(0, |block| block.range.end)
    }

    /// Length of y.
    pub fn y_len(&self) -> usize {
        self.y.last().map_or(0, |block| block.range.end)
    }

    /// Blocks of x in order.
    pub fn x_blocks(&self) -> &[Block] {
        &self.x
    }

    /// Blocks of y in order.
    pub fn y_blocks(&self) -> &[Block] {
        &self.y
    }

    /// Range of a block in x; empty when x has no such block.
    pub fn x_range(&self, name: BlockName) -> Range<usize> {
        range_of(&self.x, name)
    }

    /// Range of a block in y; empty when y has no such block.
    pub fn y_range(&self, name: BlockName) -> Range<usize> {
        range_of(&self.y, name)
    }
}

/// Whether a layout carries joint rotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rotations {
    /// Two columns of each local rotation matrix.
    SixD,
    /// Positions only, as in the paper.
    None,
}

fn blocks(sizes: &[(BlockName, usize)]) -> Vec<Block> {
    let mut start = 0;
    sizes
        .iter()
        .filter(|(_, size)| *size > 0)
        .map(|&(name, size)| {
            let range = start..start + size;
            start += size;
            Block { name, range }
        })
        .collect()
}

fn range_of(blocks: &[Block], name: BlockName) -> Range<usize> {
    blocks.iter().find(|block| block.name == name).map_or(0..0, |block| block.range.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_layout_has_541_inputs_and_388_outputs() {
        let layout = FeatureLayout::new(29, 13, 5, Rotations::None);
        assert_eq!((layout.x_len(), layout.y_len()), (541, 388));
    }

    #[test]
    fn rejects_a_layout_of_a_file_whose_blocks_are_not_those_of_its_sizes() {
        for rotations in [Rotations::SixD, Rotations::None] {
            let layout = FeatureLayout::new(22, 22, 5, rotations);
            let json = serde_json::to_string(&layout).unwrap();
            assert_eq!(serde_json::from_str::<FeatureLayout>(&json).unwrap(), layout);
            for (text, other) in
                [("\"end\":66", "\"end\":60"), ("\"joints\":22", "\"joints\":21"), ("gait", "trajectory")]
            {
                let changed = json.replacen(text, other, 1);
                let said = serde_json::from_str::<FeatureLayout>(&changed).unwrap_err().to_string();
                assert!(said.contains("are not those of"), "{text}: {said}");
            }
            let huge = json.replacen("\"bodies\":22", "\"bodies\":18446744073709551615", 1);
            let said = serde_json::from_str::<FeatureLayout>(&huge).unwrap_err().to_string();
            assert!(said.contains("1 to 10000 bodies"), "{said}");
        }
    }

    #[test]
    fn blocks_follow_each_other_without_gap_or_overlap() {
        let layout = FeatureLayout::new(22, 22, 5, Rotations::SixD);
        for blocks in [layout.x_blocks(), layout.y_blocks()] {
            assert_eq!(blocks[0].range.start, 0);
            for pair in blocks.windows(2) {
                assert_eq!(pair[0].range.end, pair[1].range.start);
            }
        }
    }
}
