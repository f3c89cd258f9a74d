//! The same recordings in other people's formats.

mod character;
mod frames;
mod job;
mod mimickit;
mod parquet;
mod pickle;
mod protomotions;
mod shards;
mod tensor_file;

use crate::{Dataset, DatasetError};
use job::{Contents, Job, Output, Trouble, Unit};
use pomp_motion::Recording;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

/// A format to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Tar files of npz and JSON pairs, as webdataset reads them: `shard-000000.tar`, … of up to 64 MB.
    Shards,
    /// One Parquet file per recording: a row per frame, a list of fixed length per array, in row groups of 16,384 frames. The
    /// terrain, which has no frames, is left out.
    Parquet,
    /// One `.motion` per recording: a dictionary of tensors in PyTorch's zip, the fields of ProtoMotions' motions, Z up,
    /// with contact forces.
    ProtoMotions,
    /// One `.pkl` per recording, as MimicKit's motions, Z up, and `character.xml`, the body whose joints they turn.
    MimicKit,
    /// One animated glTF per recording.
    Glb,
    /// One BVH file per recording.
    Bvh,
}

impl Format {
    /// Name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shards => "shards",
            Self::Parquet => "parquet",
            Self::ProtoMotions => "protomotions",
            Self::MimicKit => "mimickit",
            Self::Glb => "glb",
            Self::Bvh => "bvh",
        }
    }
}

/// What an export made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Files, sorted.
    pub files: Vec<String>,
    /// How many of them were made in this run; the others were there.
    pub written: usize,
}

/// Exports every recording of `dataset` into the folder `out`; `on_done` is called after each file.
///
/// A journal, `export.jsonl`, holds one line per finished file with the hashes of its inputs and of itself: what is there
/// and unchanged is not made again. The same data gives the same bytes, whatever was interrupted.
///
/// # Errors
/// A recording that cannot be read or does not fit the format; a folder that is the dataset's own, holds an export in
/// another format, or cannot be written.
pub fn export(
    dataset: &Dataset,
    format: Format,
    out: &Path,
    on_done: &mut dyn FnMut(),
) -> Result<Exported, DatasetError> {
    let mut job = Job::open(dataset, format, out)?;
    let units = match format {
        Format::Shards => shards::units(dataset)?,
        Format::MimicKit => {
            let motions = singles(dataset, "pkl", |recording, out| put(mimickit::bytes(recording)?, out));
            [vec![character::unit(dataset)], motions].concat()
        }
        Format::Parquet => singles(dataset, "parquet", parquet::write),
        Format::ProtoMotions => {
            singles(dataset, "motion", |recording, out| put(protomotions::bytes(recording)?, out))
        }
        Format::Glb => singles(dataset, "glb", |recording, out| {
            let clip = recording.to_clip().map_err(|error| error.to_string())?;
            put(pomp_formats::glb::glb_bytes(&clip).map_err(|error| error.to_string())?, out)
        }),
        Format::Bvh => singles(dataset, "bvh", |recording, out| {
            let clip = recording.to_clip().map_err(|error| error.to_string())?;
            let text = pomp_formats::bvh::bvh_text(&clip, &pomp_formats::BvhWriteOptions::default());
            put(text.map_err(|error| error.to_string())?, out)
        }),
    };
    for unit in &units {
        job.make(unit)?;
        on_done();
    }
    job.finish(&units)
}

/// Writes what is small beside its recording in one piece.
fn put(contents: impl AsRef<[u8]>, out: &mut Output<'_>) -> Result<(), Trouble> {
    Ok(out.write_all(contents.as_ref())?)
}

/// One file per recording.
fn singles(
    dataset: &Dataset,
    extension: &str,
    write: fn(&Recording, &mut Output<'_>) -> Result<(), Trouble>,
) -> Vec<Unit> {
    let unit = |path: &std::path::PathBuf| {
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Unit {
            file: format!("{stem}.{extension}"),
            inputs: vec![path.clone()],
            contents: Contents::OfOne(write),
        }
    };
    dataset.recordings.iter().map(unit).collect()
}
