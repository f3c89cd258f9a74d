//! Tar shards: pairs `KEY.npz`, `KEY.json` that webdataset reads as samples.

use super::job::{Bytes, Unit, read};
use super::tar;
use crate::{Dataset, DatasetError};
use pomp_motion::Gait;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A shard is closed when it has this many bytes of npz.
const SHARD_BYTES: u64 = 64 << 20;

pub(super) fn units(dataset: &Dataset) -> Result<Vec<Unit>, DatasetError> {
    let mut keys = HashMap::new();
    for path in &dataset.recordings {
        let key = key(path);
        let bad = |reason| DatasetError::BadRecording { path: path.clone(), reason };
        if key.len() + ".json".len() > tar::LONGEST_NAME {
            return Err(bad(format!("its name is longer than {} bytes; rename it", tar::LONGEST_NAME - 5)));
        }
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
        bytes: Bytes::OfAll(shard),
    };
    Ok(shards.into_iter().enumerate().map(unit).collect())
}

/// Key of a sample. A dot would end it: webdataset takes what follows for the name of a column.
fn key(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().replace('.', "_"))
}

fn shard(inputs: &[PathBuf]) -> Result<Vec<u8>, DatasetError> {
    let mut archive = Vec::new();
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
        tar::append(&mut archive, &format!("{key}.json"), told.to_string().as_bytes());
        tar::append(&mut archive, &format!("{key}.npz"), &read(path)?);
    }
    tar::finish(&mut archive);
    Ok(archive)
}
