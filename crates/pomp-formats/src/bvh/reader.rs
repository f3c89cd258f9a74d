use super::header::{check_header, parse_checked};
use super::motion_block::{motion_block, motion_header};
use super::position_channels::translations;
use super::problem::BvhProblem;
use super::scanner::{Scanner, Token};
use super::warning::BvhWarning;
use crate::FormatError;
use bvh_anim::ChannelType;
use pomp_motion::{Joint, JointIndex, Skeleton, SourceMotion};
use std::path::Path;

/// A BVH file as read.
#[derive(Clone, Debug, PartialEq)]
pub struct BvhFile {
    /// Skeleton and motion in the file's unit and axes; joint names as the file spells them.
    pub motion: SourceMotion,
    /// Channels of each joint in their order in the file; rotations compose in this order.
    pub channels: Vec<Vec<ChannelType>>,
    /// Time between frames as the file says it, seconds.
    pub frame_time_s: f64,
    /// What was repaired or interpreted, in the order of the file's sections.
    pub warnings: Vec<BvhWarning>,
}

/// How to read what BVH leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BvhReadOptions {
    /// How position channels and `OFFSET` of one joint combine.
    pub position_channels: PositionChannels,
}

/// How position channels combine with the joint's `OFFSET`. Both conventions are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionChannels {
    /// One answer for the file. Where several joints below the root have position channels: displacements
    /// when most of them lie closer to zero than to their offset. Otherwise whichever puts the lowest point of
    /// the body nearer to y = 0. The choice for the root, and displacements of any joint, are warnings.
    #[default]
    Detect,
    /// The channels are the position (LaFAN1, Blender).
    ReplaceOffset,
    /// The channels are displacements from the offset.
    AddToOffset,
}

/// Reads a BVH file; the motion is named after the file.
///
/// # Errors
/// [`FormatError::Io`], or [`FormatError::Bvh`] with line, column and token.
pub fn read_bvh(path: &Path) -> Result<BvhFile, FormatError> {
    read_bvh_with(path, &BvhReadOptions::default())
}

/// [`read_bvh`] with a choice of convention.
///
/// # Errors
/// As [`read_bvh`].
pub fn read_bvh_with(path: &Path, options: &BvhReadOptions) -> Result<BvhFile, FormatError> {
    let bytes = std::fs::read(path).map_err(|source| FormatError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    parse(&bytes, &path.display().to_string(), &name, options)
}

/// Reads BVH text; `name` names the motion and stands for the file in errors.
///
/// # Errors
/// [`FormatError::Bvh`] with line, column and token.
pub fn parse_bvh(bytes: &[u8], name: &str) -> Result<BvhFile, FormatError> {
    parse_bvh_with(bytes, name, &BvhReadOptions::default())
}

/// [`parse_bvh`] with a choice of convention.
///
/// # Errors
/// As [`parse_bvh`].
pub fn parse_bvh_with(bytes: &[u8], name: &str, options: &BvhReadOptions) -> Result<BvhFile, FormatError> {
    parse(bytes, name, name, options)
}

fn parse(bytes: &[u8], file: &str, name: &str, options: &BvhReadOptions) -> Result<BvhFile, FormatError> {
    let mut warnings = Vec::new();
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => {
            warnings.push(BvhWarning::ByteOrderMark);
            rest
        }
        None => bytes,
    };
    let mut scanner = Scanner::new(file, bytes);
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(scanner.error(Token { text: b"", line: 1, column: 1 }, BvhProblem::Utf16));
    }
    let checked = check_header(&mut scanner, &mut warnings)?;
    let header = parse_checked(&scanner, &checked)?;
    let announced = motion_header(&mut scanner)?;
    let mut block = motion_block(&mut scanner, &announced, &header, &mut warnings)?;

    let invalid = |source| FormatError::Motion { file: file.to_owned(), source };
    let joints = checked
        .iter()
        .map(|joint| Joint {
            name: joint.name.clone(),
            parent: joint.parent.map(JointIndex),
            offset: joint.offset,
        })
        .collect();
    let skeleton = Skeleton::new(joints).map_err(invalid)?;
    let reading = options.position_channels;
    let joint_translations = translations(&checked, &header, &mut block, reading, &mut warnings);
    let end_sites = checked
        .iter()
        .enumerate()
        .flat_map(|(joint, described)| described.end_sites.iter().map(move |&end| (JointIndex(joint), end)))
        .collect();
    let motion = SourceMotion {
        name: name.to_owned(),
        skeleton,
        end_sites,
        frame_rate_hz: announced.frame_rate_hz,
        poses: block.poses,
        joint_translations,
    };
    motion.validate().map_err(invalid)?;
    let channels = header
        .into_iter()
        .map(|joint| joint.channels.into_iter().map(|(channel, _)| channel).collect())
        .collect();
    Ok(BvhFile { motion, channels, frame_time_s: announced.frame_time_s, warnings })
}
