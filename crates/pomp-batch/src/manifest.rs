//! `manifest.json`: what a batch is, and what each rollout became.

use crate::BatchError;
use pomp_motion::{FALL_HEIGHT, FALL_TILT_DEG, FallDetector, Recording};
use pomp_terrain::HeightMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// The manifest of a batch. Its `made_by`, `config_hash`, `clips` and `failures` are those of a dataset's manifest, so that
/// whatever reads datasets reads batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Program and version.
    pub made_by: String,
    /// Hash of `settings`.
    pub config_hash: String,
    /// Everything that decides the rollouts besides their number: model, loop, length, first seed, scenes.
    pub settings: Value,
    /// Number of rollouts asked for.
    pub count: usize,
    /// The rollouts in order; empty while the batch is being made.
    pub clips: Vec<ManifestRollout>,
    /// Rollouts that could not be made.
    pub failures: Vec<ManifestFailure>,
}

/// A rollout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestRollout {
    /// Name of the file within the folder.
    pub file: String,
    /// Its hash.
    pub sha256: String,
    /// Seed of everything that was drawn.
    pub seed: u64,
    /// The ground.
    pub ground: ManifestGround,
    /// The command.
    pub control: String,
    /// What held the character up: the name of its settings in `settings.generator`.
    pub support: String,
    /// Length, seconds.
    pub seconds: f32,
    /// Pushes that were applied.
    pub pushes: usize,
    /// When its first fall begins, seconds, as the metrics count falls; `None` without a fall.
    pub first_fall_s: Option<f32>,
    /// Always empty: a rollout is made or it fails.
    pub warnings: Vec<String>,
}

/// The ground of a rollout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestGround {
    /// Its kind, or the name or file that was given.
    pub kind: String,
}

/// A rollout that could not be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestFailure {
    /// Name of the file that it would have had.
    pub input: String,
    /// Why not.
    pub error: String,
}

impl Manifest {
    /// Reads a manifest; `None` where there is none.
    ///
    /// # Errors
    /// It cannot be read, or is not one of a batch.
    pub fn read(path: &Path) -> Result<Option<Self>, BatchError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(BatchError::Io {
                    action: "reading",
                    path: path.to_path_buf(),
                    source,
                    remedy: "check that it can be read",
                });
            }
        };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| BatchError::BadManifest { path: path.to_path_buf(), reason: error.to_string() })
    }

    /// The manifest of the whole, of those of all its shares, as one run would have written it.
    ///
    /// # Errors
    /// [`BatchError::OtherShares`] without shares, where they are not of one batch, and where rollouts are missing or there twice.
    pub fn merged(shares: Vec<Self>) -> Result<Self, BatchError> {
        let other = |reason| BatchError::OtherShares { reason };
        let mut shares = shares.into_iter();
        let mut whole = shares.next().ok_or_else(|| other("none"))?;
        for share in shares {
            let same = (&share.made_by, &share.config_hash, share.count)
                == (&whole.made_by, &whole.config_hash, whole.count);
            if !same {
                return Err(other("of different batches"));
            }
            whole.clips.extend(share.clips);
            whole.failures.extend(share.failures);
        }
        whole.clips.sort_by_key(|rollout| rollout.seed);
        // Longer names have larger numbers.
        whole.failures.sort_by(|a, b| (a.input.len(), &a.input).cmp(&(b.input.len(), &b.input)));
        let mut files: Vec<&str> = whole.clips.iter().map(|rollout| rollout.file.as_str()).collect();
        files.extend(whole.failures.iter().map(|failure| failure.input.as_str()));
        files.sort_unstable();
        files.dedup();
        if files.len() != whole.count || whole.clips.len() + whole.failures.len() != whole.count {
            return Err(other("not those of all rollouts, each once"));
        }
        Ok(whole)
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("a manifest is plain data");
        json.push('\n');
        json
    }

    /// Writes it whole or not at all.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), BatchError> {
        let json = self.to_json();
        Ok(pomp_formats::write_atomically(path, |file| file.write_all(json.as_bytes()))?)
    }
}

/// When the first fall of a rollout begins, seconds, as `pomp evaluate` counts falls.
pub(crate) fn first_fall_s(recording: &Recording) -> Option<f32> {
    let ground = recording.terrain.as_ref().and_then(|grid| HeightMap::from_grid(grid.clone()).ok());
    let height = |x, z| ground.as_ref().map_or(0.0, |ground| ground.height(x, z));
    let detector = FallDetector::new(&recording.skeleton, FALL_HEIGHT, FALL_TILT_DEG);
    let falls = detector.falls(&recording.positions, &recording.gait, recording.frame_rate_hz, height);
    falls.first().map(|fall| fall.start as f32 / recording.frame_rate_hz)
}
