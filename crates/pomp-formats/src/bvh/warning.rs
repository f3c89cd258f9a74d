use glam::Vec3;
use thiserror::Error;

/// Something that the reader repaired or had to interpret; the motion is usable.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BvhWarning {
    /// Two joints of one name: the later one was renamed.
    #[error("line {line}: a second joint \"{name}\" was renamed \"{renamed}\"")]
    DuplicateName {
        /// Line of the later joint.
        line: usize,
        /// Name in the file.
        name: String,
        /// Name given.
        renamed: String,
    },
    /// A name that is not UTF-8: the bytes that are not were replaced.
    #[error("line {line}: the name \"{name}\" was not UTF-8; unreadable bytes were replaced")]
    NameNotUtf8 {
        /// Line of the joint.
        line: usize,
        /// The name after replacement.
        name: String,
    },
    /// A leaf without end site: its bone has no length.
    #[error("line {line}: leaf \"{joint}\" has no End Site")]
    MissingEndSite {
        /// Line of the joint.
        line: usize,
        /// The joint.
        joint: String,
    },
    /// Several end sites in one joint: all are listed.
    #[error("line {line}: joint \"{joint}\" has {count} End Sites; all were kept")]
    SeveralEndSites {
        /// Line of the joint.
        line: usize,
        /// The joint.
        joint: String,
        /// How many.
        count: usize,
    },
    /// An end site with a name, which has no place in the result.
    #[error("line {line}: the name \"{name}\" of an End Site was dropped")]
    EndSiteName {
        /// Line of the end site.
        line: usize,
        /// The name.
        name: String,
    },
    /// A joint without a `CHANNELS` line: it was taken as fixed.
    #[error("line {line}: joint \"{joint}\" has no CHANNELS; it was taken as fixed")]
    MissingChannels {
        /// Line of the joint.
        line: usize,
        /// The joint.
        joint: String,
    },
    /// `Frames:` is one more or one less than the rows that follow, which were all taken.
    #[error("line {line}: Frames announces {declared}, the file holds {found} whole rows; all were taken")]
    FrameCount {
        /// Line of `Frames:`.
        line: usize,
        /// The number announced.
        declared: u64,
        /// The rows found.
        found: usize,
    },
    /// The file starts with a UTF-8 byte-order mark, which was skipped.
    #[error("line 1: a byte-order mark was skipped")]
    ByteOrderMark,
    /// A joint has both an offset and position channels, which files combine in two ways.
    #[error(
        "line {line}: joint \"{joint}\" has the offset {offset} and position channels; its channels were taken as {}",
        if *added { "displacements from the offset" } else { "positions that replace the offset" }
    )]
    PositionChannels {
        /// Line of the joint.
        line: usize,
        /// The joint.
        joint: String,
        /// Its offset, file units.
        offset: Vec3,
        /// Whether the channels were added to the offset.
        added: bool,
    },
}
