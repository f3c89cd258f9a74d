use super::{Exported, Format};
use crate::{Dataset, DatasetError};
use pomp_files::{Digest, Hasher};
use pomp_formats::FormatError;
use pomp_motion::Recording;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// File of the folder of results in which finished files are written down.
const JOURNAL: &str = "export.jsonl";
/// Counted up when the same recordings give other bytes: files of earlier programs are then made again.
const REVISION: &str = "2";

/// One file to make.
#[derive(Clone)]
pub(super) struct Unit {
    /// Its name.
    pub file: String,
    /// Recordings that it is made of.
    pub inputs: Vec<PathBuf>,
    /// How.
    pub contents: Contents,
}

/// How a file is written from its recordings.
#[derive(Clone, Copy)]
pub(super) enum Contents {
    /// From one recording.
    OfOne(fn(&Recording, &mut Output<'_>) -> Result<(), Trouble>),
    /// From the files of all of them.
    OfAll(fn(&[PathBuf], &mut Output<'_>) -> Result<(), Trouble>),
}

/// Why a file could not be written.
pub(super) enum Trouble {
    /// What in a recording does not fit the format.
    Unfit(String),
    /// A recording that cannot be read, or does not fit.
    Dataset(DatasetError),
    /// The file itself.
    Io(io::Error),
}

impl From<String> for Trouble {
    fn from(reason: String) -> Self {
        Self::Unfit(reason)
    }
}

impl From<DatasetError> for Trouble {
    fn from(error: DatasetError) -> Self {
        Self::Dataset(error)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A file that is being written, and its hash.
pub(super) struct Output<'a> {
    file: &'a mut (dyn Write + Send),
    hasher: Hasher,
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
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
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
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
        let mut inputs = Hasher::default();
        inputs.update(env!("CARGO_PKG_VERSION"));
        inputs.update(REVISION);
        for input in &unit.inputs {
            inputs.update(Digest::of_file(input).map_err(|source| unreadable(input, source))?);
        }
        let inputs_sha256 = inputs.finish().to_string();
        let there = self.made.get(&unit.file).is_some_and(|made| {
            made.inputs_sha256 == inputs_sha256
                && Digest::of_file(&path).is_ok_and(|digest| digest.to_string() == made.sha256)
        });
        if there {
            return Ok(());
        }
        let sha256 = write(&path, unit)?.to_string();
        self.written += 1;
        self.note(Some(Made { file: unit.file.clone(), inputs_sha256, sha256 }))
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

/// Writes a file whole or not at all, and gives its hash.
fn write(path: &Path, unit: &Unit) -> Result<Digest, DatasetError> {
    let fill = |out: &mut Output<'_>| match unit.contents {
        Contents::OfAll(write) => write(&unit.inputs, out),
        Contents::OfOne(write) => {
            let input = unit.inputs.first().expect("a unit of one recording names it");
            write(&Dataset::read(input)?, out).map_err(|trouble| match trouble {
                Trouble::Unfit(reason) => DatasetError::BadRecording { path: input.clone(), reason }.into(),
                other => other,
            })
        }
    };
    let replaced = pomp_files::replace_file(path, |file| {
        let mut out = Output { file, hasher: Hasher::default() };
        fill(&mut out)?;
        Ok(out.hasher.finish())
    });
    replaced.map_err(|trouble| match trouble {
        Trouble::Dataset(error) => error,
        Trouble::Unfit(reason) => DatasetError::BadRecording { path: path.to_path_buf(), reason },
        Trouble::Io(source) => FormatError::Io { action: "write", path: path.to_path_buf(), source }.into(),
    })
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> DatasetError {
    DatasetError::Io { action: "reading the recording", path: path.to_path_buf(), source }
}
