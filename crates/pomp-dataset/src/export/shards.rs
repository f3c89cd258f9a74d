//! Tar shards: pairs `KEY.npz`, `KEY.json` that webdataset reads as samples.

use super::job::{Contents, Output, Trouble, Unit, unreadable};
use crate::{Dataset, DatasetError};
use pomp_motion::Gait;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tar::{Builder, Header};

/// A shard is closed when it has this many bytes of npz.
const SHARD_BYTES: u64 = 64 << 20;

pub(super) fn units(dataset: &Dataset) -> Result<Vec<Unit>, DatasetError> {
    let mut keys = HashMap::new();
    for path in &dataset.recordings {
        let key = key(path);
        let bad = |reason| DatasetError::BadRecording { path: path.clone(), reason };
        if let Some(other) = keys.insert(key.clone(), path) {
            return Err(bad(format!("it would have the key {key} of {}; rename one", other.display())));
        }
    }
    let mut shards: Vec<Vec<PathBuf>> = Vec::new();
    let mut size = SHARD_BYTES;
    for path in &dataset.recordings {
        let bytes = std::fs::metadata(path)
            .map_err(|source| DatasetError::Io { action: "looking at", path: path.clone(), source })?
            .len();
        if size >= SHARD_BYTES {
            shards.push(Vec::new());
            size = 0;
        }
        shards.last_mut().expect("one was just begun").push(path.clone());
        size += bytes;
    }
    let unit = |(number, inputs)| Unit {
        file: format!("shard-{number:06}.tar"),
        inputs,
        contents: Contents::OfAll(shard),
    };
    Ok(shards.into_iter().enumerate().map(unit).collect())
}

/// Key of a sample. A dot would end it: webdataset takes what follows for the name of a column.
fn key(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().replace('.', "_"))
}

/// Writes a shard; one recording at a time is in memory.
fn shard(inputs: &[PathBuf], out: &mut Output<'_>) -> Result<(), Trouble> {
    let mut archive = Builder::new(out);
    for path in inputs {
        let recording = Dataset::read(path)?;
        let gaits: serde_json::Map<String, serde_json::Value> = Gait::ALL
            .iter()
            .map(|gait| {
                let frames = recording.gait.iter().filter(|weights| Gait::dominant(weights) == *gait).count();
                (gait.name().to_owned(), frames.into())
            })
            .collect();
        let told = serde_json::json!({
            "name": recording.name,
            "frames": recording.frames(),
            "framerate": recording.frame_rate_hz,
            "gait_frames": gaits,
            "source": recording.source,
            "license": recording.license,
            "config_hash": recording.config_hash,
            "phase_model": recording.phase_model,
            "impulse_estimator": recording.simulation.as_ref().map(|simulation| &simulation.impulse_estimator),
            "has_replay": recording.simulation.is_some(),
            "has_terrain": recording.terrain.is_some(),
        });
        let key = key(path);
        let told = told.to_string();
        append(&mut archive, &format!("{key}.json"), told.len() as u64, told.as_bytes())?;
        let file = File::open(path).map_err(|source| unreadable(path, source))?;
        let size = file.metadata().map_err(|source| unreadable(path, source))?.len();
        append(&mut archive, &format!("{key}.npz"), size, file)?;
    }
    Ok(archive.finish()?)
}

/// Appends a file; owner, time and mode are always the same, so that the same contents give the same bytes.
fn append(
    archive: &mut Builder<&mut Output<'_>>,
    name: &str,
    size: u64,
    contents: impl Read,
) -> std::io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    archive.append_data(&mut header, name, contents)
}
