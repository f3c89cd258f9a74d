//! From motion files to recordings: every step of docs/method.md §6 for each clip, in parallel over clips, resumable.

use crate::clip_results::preprocess_clip;
use crate::given::Given;
use crate::input::Input;
use crate::journal::{Journal, ManifestEntry};
use crate::manifest::{Failure, Manifest, hash_with_files};
use crate::part::Part;
use crate::variant::planned;
use crate::{PreprocessConfig, PreprocessError};
use pomp_files::Digest;
use pomp_formats::write_atomically;
use pomp_motion::Recording;
use pomp_motion::retarget::RigLibrary;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;

/// Progress of a run.
#[derive(Clone, Debug)]
pub enum Progress {
    /// A clip is finished, or was already.
    Done {
        /// The input.
        input: PathBuf,
    },
    /// A clip failed.
    Failed(Failure),
}

/// Whether a failed clip stops the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// It is reported and the others continue.
    Skip,
    /// The run stops.
    Stop,
}

/// Preprocesses `inputs` into `out`, one npz per clip, mirror image and terrain variant, and `manifest.json`.
///
/// Clips whose results are there, made from the same bytes by the same configuration, are not done again. `progress` hears of every
/// clip, and stops the run with `Break`; the same run again goes on from there.
///
/// # Errors
/// The configuration is out of range, the folder cannot be written, with [`OnFailure::Stop`] the first clip that failed, and
/// [`PreprocessError::Stopped`].
pub fn run(
    inputs: &[Input],
    out: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
    on_failure: OnFailure,
    progress: &(dyn Fn(&Progress) -> ControlFlow<()> + Sync),
) -> Result<Manifest, PreprocessError> {
    run_part(inputs, Part::WHOLE, out, config, rigs, on_failure, progress)
}

/// As [`run`], for those of `inputs` that belong to `part`; its manifest is named after the part.
///
/// # Errors
/// As [`run`].
pub fn run_part(
    inputs: &[Input],
    part: Part,
    out: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
    on_failure: OnFailure,
    progress: &(dyn Fn(&Progress) -> ControlFlow<()> + Sync),
) -> Result<Manifest, PreprocessError> {
    config.validate()?;
    std::fs::create_dir_all(out).map_err(|source| PreprocessError::Io {
        action: "creating the output folder",
        path: out.to_path_buf(),
        source,
        remedy: "give a folder that can be written with --out",
    })?;
    pomp_files::remove_abandoned(out).map_err(|source| PreprocessError::Io {
        action: "listing the output folder",
        path: out.to_path_buf(),
        source,
        remedy: "give a folder that can be read with --out",
    })?;
    let config_hash = hash_with_files(config)?;
    // Refused here once, and not for every clip.
    Given::read(config, rigs)?;
    let (journal, known) = Journal::open(out, &part.suffix())?;
    let shared =
        SharedRun { out, config, rigs, config_hash, known: by_name(known), journal: Mutex::new(journal) };
    let inputs: Vec<&Input> = inputs.iter().filter(|input| part.holds(input)).collect();
    let (clips, failures) = shared.all(&inputs, on_failure, progress)?;
    let manifest = Manifest {
        made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
        config: config.clone(),
        config_hash: shared.config_hash,
        clips,
        failures,
    };
    let json = manifest.to_json();
    let file = format!("manifest{}.json", part.suffix());
    write_atomically(&out.join(file), |file| file.write_all(json.as_bytes()))?;
    Ok(manifest)
}

fn by_name(entries: Vec<ManifestEntry>) -> HashMap<String, Vec<ManifestEntry>> {
    let mut known: HashMap<String, Vec<ManifestEntry>> = HashMap::new();
    for entry in entries {
        known.entry(entry.name.clone()).or_default().push(entry);
    }
    known
}

/// State shared by the clips of a run.
struct SharedRun<'a> {
    out: &'a Path,
    config: &'a PreprocessConfig,
    rigs: &'a RigLibrary,
    config_hash: String,
    /// Entries of earlier runs, by name.
    known: HashMap<String, Vec<ManifestEntry>>,
    journal: Mutex<Journal>,
}

impl SharedRun<'_> {
    /// Results and failures of all inputs, each sorted.
    fn all(
        &self,
        inputs: &[&Input],
        on_failure: OnFailure,
        progress: &(dyn Fn(&Progress) -> ControlFlow<()> + Sync),
    ) -> Result<(Vec<ManifestEntry>, Vec<Failure>), PreprocessError> {
        let done = Mutex::new(Vec::new());
        let failures = Mutex::new(Vec::new());
        inputs.par_iter().try_for_each(|input| {
            let told = match self.clip(input) {
                Ok(made) => {
                    done.lock().expect("no thread panics while it pushes").extend(made);
                    progress(&Progress::Done { input: input.path.clone() })
                }
                // A folder that cannot be written fails every clip.
                Err(error @ PreprocessError::Io { action: "writing the journal", .. }) => return Err(error),
                Err(error) if on_failure == OnFailure::Stop => {
                    return Err(PreprocessError::Strict { message: error.to_string() });
                }
                Err(error) => {
                    let failure = Failure { input: input.path.clone(), error: error.to_string() };
                    failures.lock().expect("no thread panics while it pushes").push(failure.clone());
                    progress(&Progress::Failed(failure))
                }
            };
            if told.is_break() { Err(PreprocessError::Stopped) } else { Ok(()) }
        })?;
        let mut clips = done.into_inner().expect("all threads have joined");
        clips.sort_by(|a: &ManifestEntry, b| a.name.cmp(&b.name));
        let mut failures = failures.into_inner().expect("all threads have joined");
        failures.sort_by(|a: &Failure, b| a.input.cmp(&b.input));
        Ok((clips, failures))
    }

    /// The entries of one input, whose results are made unless all of them are there.
    fn clip(&self, input: &Input) -> Result<Vec<ManifestEntry>, PreprocessError> {
        let digest = Digest::of_file(&input.path).map_err(|source| PreprocessError::Io {
            action: "reading the clip",
            path: input.path.clone(),
            source,
            remedy: "check that it can be read",
        })?;
        let input_sha256 = digest.to_string();
        if let Some(finished) = self.finished(input, &input_sha256) {
            return Ok(finished);
        }
        preprocess_clip(input, self.config, self.rigs)?
            .into_iter()
            .map(|(recording, entry)| self.write(recording, entry, &input_sha256))
            .collect()
    }

    /// The entries of an input whose results are all there, made from the same bytes by the same configuration.
    fn finished(&self, input: &Input, input_sha256: &str) -> Option<Vec<ManifestEntry>> {
        let names = planned(&input.name, self.config);
        let finished: Vec<ManifestEntry> = names
            .iter()
            .filter_map(|planned| {
                self.known.get(&planned.name)?.iter().rev().find(|entry| {
                    entry.input_sha256 == input_sha256
                        && entry.config_hash == self.config_hash
                        && is_unchanged(&self.out.join(&entry.file), &entry.sha256)
                })
            })
            .cloned()
            .collect();
        let left_out: usize = finished.iter().map(|entry| entry.left_out.len()).sum();
        (finished.len() + left_out == names.len()).then_some(finished)
    }

    /// Writes a result and notes it in the journal.
    fn write(
        &self,
        mut recording: Recording,
        mut entry: ManifestEntry,
        input_sha256: &str,
    ) -> Result<ManifestEntry, PreprocessError> {
        recording.config_hash.clone_from(&self.config_hash);
        let path = self.out.join(&entry.file);
        pomp_formats::npz::write_recording(&path, &recording)?;
        let written = Digest::of_file(&path).map_err(|source| PreprocessError::Io {
            action: "reading the result back",
            path: path.clone(),
            source,
            remedy: "check the disk and run the same command again",
        })?;
        entry.sha256 = written.to_string();
        input_sha256.clone_into(&mut entry.input_sha256);
        entry.config_hash.clone_from(&self.config_hash);
        self.journal.lock().expect("no thread panics while it writes").append(&entry)?;
        Ok(entry)
    }
}

fn file_hash(path: &Path) -> Option<String> {
    Digest::of_file(path).ok().map(|digest| digest.to_string())
}

/// Whether a result is what was written with this hash; phases may have been added to it since.
fn is_unchanged(path: &Path, sha256: &str) -> bool {
    let without_phases = || {
        let recording = pomp_formats::read_recording(path).ok()?;
        recording.phase.as_ref()?;
        let bytes = pomp_formats::npz::bytes_without_phases(&recording).ok()?;
        Some(Digest::of(bytes).to_string())
    };
    file_hash(path).is_some_and(|hash| hash == sha256) || without_phases().is_some_and(|hash| hash == sha256)
}
