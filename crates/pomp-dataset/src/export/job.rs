use super::{Exported, Format};
use crate::{Dataset, DatasetError};
use pomp_motion::Recording;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// File of the folder of results in which finished files are written down.
const JOURNAL: &str = "export.jsonl";

/// One file to make.
#[derive(Clone)]
pub(super) struct Unit {
    /// Its name.
    pub file: String,
    /// Recordings that it is made of.
    pub inputs: Vec<PathBuf>,
    /// How.
    pub bytes: Bytes,
}

/// How the bytes of a file come from its recordings.
#[derive(Clone, Copy)]
pub(super) enum Bytes {
    /// From one recording; the error says what does not fit.
    OfOne(fn(&Recording) -> Result<Vec<u8>, String>),
    /// From the files of all of them.
    OfAll(fn(&[PathBuf]) -> Result<Vec<u8>, DatasetError>),
}

/// A line of the journal; the first one names the format alone.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    format: Format,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<Made>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Made {
    file: String,
    inputs_sha256: String,
    sha256: String,
}

/// An export under way.
pub(super) struct Job {
    out: PathBuf,
    format: Format,
    journal: File,
    made: HashMap<String, Made>,
    written: usize,
}

impl Job {
    pub fn open(dataset: &Dataset, format: Format, out: &Path) -> Result<Self, DatasetError> {
        let io = |action, path: &Path, source| DatasetError::Io { action, path: path.to_path_buf(), source };
        let refuse = |reason: String| DatasetError::BadTarget { folder: out.to_path_buf(), reason };
        std::fs::create_dir_all(out).map_err(|source| io("creating the folder", out, source))?;
        let same = |path: &Path| path.canonicalize().ok();
        if same(out).is_some() && same(out) == same(&dataset.folder) {
            return Err(refuse("it is the dataset itself".to_owned()));
        }
        let path = out.join(JOURNAL);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(io("reading the journal", &path, error)),
        };
        // A last line without its end was cut by an interruption: its file is made again.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut made = HashMap::new();
        for (number, json) in text[..whole].lines().enumerate() {
            let line: Line = serde_json::from_str(json)
                .map_err(|error| refuse(format!("{JOURNAL}, line {}: {error}", number + 1)))?;
            if line.format != format {
                return Err(refuse(format!("it holds an export in the format {}", line.format.name())));
            }
            if let Some(one) = line.made {
                made.insert(one.file.clone(), one);
            }
        }
        let journal = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|source| io("opening the journal", &path, source))?;
        journal.set_len(whole as u64).map_err(|source| io("cutting the journal", &path, source))?;
        let mut job = Self { out: out.to_path_buf(), format, journal, made, written: 0 };
        if whole == 0 {
            job.note(None)?;
        }
        Ok(job)
    }

    /// Makes a file, unless it is there and made of the same recordings.
    pub fn make(&mut self, unit: &Unit) -> Result<(), DatasetError> {
        let path = self.out.join(&unit.file);
        let mut inputs = Sha256::new();
        inputs.update(env!("CARGO_PKG_VERSION"));
        for input in &unit.inputs {
            inputs.update(Sha256::digest(read(input)?));
        }
        let inputs_sha256 = hex(&inputs.finalize());
        let there = self.made.get(&unit.file).is_some_and(|made| {
            made.inputs_sha256 == inputs_sha256
                && std::fs::read(&path).is_ok_and(|bytes| hex(&Sha256::digest(&bytes)) == made.sha256)
        });
        if there {
            return Ok(());
        }
        let bytes = match unit.bytes {
            Bytes::OfOne(bytes) => {
                let input = unit.inputs.first().expect("a unit of one recording names it");
                let recording = Dataset::read(input)?;
                bytes(&recording)
                    .map_err(|reason| DatasetError::BadRecording { path: input.clone(), reason })?
            }
            Bytes::OfAll(bytes) => bytes(&unit.inputs)?,
        };
        pomp_formats::write_atomically(&path, |file| file.write_all(&bytes))?;
        self.written += 1;
        let made = Made { file: unit.file.clone(), inputs_sha256, sha256: hex(&Sha256::digest(&bytes)) };
        self.note(Some(made))
    }

    fn note(&mut self, made: Option<Made>) -> Result<(), DatasetError> {
        let mut line =
            serde_json::to_string(&Line { format: self.format, made }).expect("a line is plain data");
        line.push('\n');
        self.journal.write_all(line.as_bytes()).and_then(|()| self.journal.sync_data()).map_err(|source| {
            DatasetError::Io { action: "writing the journal", path: self.out.join(JOURNAL), source }
        })
    }

    pub fn finish(self, units: &[Unit]) -> Result<Exported, DatasetError> {
        let mut files: Vec<String> = units.iter().map(|unit| unit.file.clone()).collect();
        files.sort();
        Ok(Exported { files, written: self.written })
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, DatasetError> {
    std::fs::read(path).map_err(|source| DatasetError::Io {
        action: "reading the recording",
        path: path.to_path_buf(),
        source,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
