//! The journal of a run: one line of JSON per finished clip, appended as clips finish, so that an interrupted run continues where it
//! stopped.

use crate::PreprocessError;
use pomp_estimate::{ImpulseReport, ReplayReport};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// One finished clip (or variant, or mirror image).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// Name of the result without extension.
    pub name: String,
    /// File name of the result within the folder.
    pub file: String,
    /// SHA-256 of that file as preprocessing wrote it, before phases were added.
    pub sha256: String,
    /// The input, as given.
    pub input: PathBuf,
    /// SHA-256 of the input.
    pub input_sha256: String,
    /// Hash of the configuration.
    pub config_hash: String,
    /// Collection, subject, description.
    pub source: String,
    /// Licence.
    pub license: String,
    /// Rig map, unit, up axis, scale and other results of the mapping.
    pub rig: String,
    /// Confidence in an inferred rig map, 0 to 1; absent for a known one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rig_confidence: Option<f32>,
    /// Frames of the result.
    pub frames: usize,
    /// Frames by dominant gait, in the order of the one-hot vector.
    pub gait_frames: [usize; pomp_motion::Gait::COUNT],
    /// Warnings of reader, mapping and terrain.
    pub warnings: Vec<String>,
    /// The ground.
    pub ground: GroundRecord,
    /// Variants that this clip does not have, in the entry of its first result only.
    pub left_out: Vec<LeftOut>,
    /// Figures of the physics replay.
    pub replay: ReplayReport,
    /// Figures of the contact impulses as stored.
    pub impulses: ImpulseReport,
}

/// The ground of a result, in words and numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroundRecord {
    /// The form reconstructed from the feet ("flat", "plane", "smooth", "steps"), or the kind of relief ("slope", "steps",
    /// "hills", "rough", "gaps") that the clip was laid on.
    pub kind: String,
    /// Its origin and its numbers.
    pub description: String,
    /// Seed of its random parts.
    pub seed: u64,
    /// Lowest and highest height, metres.
    pub min_max_m: [f32; 2],
}

/// A variant that a clip does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Name of the missing result.
    pub name: String,
    /// The reason.
    pub reason: String,
}

/// An append-only file of [`ManifestEntry`]s.
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
}

/// What the names of journals begin and end with; between them is the part whose journal it is.
const JOURNAL: (&str, &str) = ("journal", ".jsonl");

impl Journal {
    /// Opens the journal of a part, and reads the entries of all journals of `folder`. A last line that an
    /// interruption cut short is dropped: its clip is done again.
    pub fn open(folder: &Path, part: &str) -> Result<(Self, Vec<ManifestEntry>), PreprocessError> {
        let path = folder.join(format!("{}{part}{}", JOURNAL.0, JOURNAL.1));
        let io = |action, source| PreprocessError::Io {
            action,
            path: path.clone(),
            source,
            remedy: "check that the folder can be written and has room",
        };
        let mut entries = Vec::new();
        for other in journals(folder).map_err(|error| io("listing the journals", error))? {
            if other != path {
                read(&other, &mut entries)?;
            }
        }
        let whole = read(&path, &mut entries)?;
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|error| io("opening the journal", error))?;
        file.set_len(whole).map_err(|error| io("cutting the journal", error))?;
        Ok((Self { file, path }, entries))
    }

    /// Appends `entry` and makes it durable.
    pub fn append(&mut self, entry: &ManifestEntry) -> Result<(), PreprocessError> {
        let mut line = serde_json::to_string(entry).expect("an entry is plain data");
        line.push('\n');
        self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data()).map_err(|source| {
            PreprocessError::Io {
                action: "writing the journal",
                path: self.path.clone(),
                source,
                remedy: "make room on the disk and run the same command again: finished clips are kept",
            }
        })
    }
}

/// All journals of a folder, sorted.
fn journals(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(JOURNAL.0) && name.ends_with(JOURNAL.1) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the whole lines of a journal; gives their length in bytes, 0 when there is none.
fn read(path: &Path, entries: &mut Vec<ManifestEntry>) -> Result<u64, PreprocessError> {
    let io = |source, remedy| PreprocessError::Io {
        action: "reading the journal",
        path: path.to_path_buf(),
        source,
        remedy,
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(io(error, "check that it can be read")),
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    for (line, json) in text[..whole].lines().enumerate() {
        entries.push(serde_json::from_str(json).map_err(|error| {
            let reason = format!("line {}: {error}", line + 1);
            let source = std::io::Error::new(std::io::ErrorKind::InvalidData, reason);
            io(source, "it was written by another version or damaged: remove it and run again")
        })?);
    }
    Ok(whole as u64)
}
