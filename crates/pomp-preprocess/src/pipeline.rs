//! From motion files to recordings: every step of docs/method.md §6 for each clip, in parallel over clips.

use crate::journal::{Journal, LeftOut, ManifestEntry};
use crate::own_ground::{Made, NotMade, OwnGround};
use crate::part::Part;
use crate::provenance::{Provenance, ProvenanceIndex};
use crate::variant::{Planned, Variant, planned};
use crate::{PreprocessConfig, PreprocessError};
use pomp_files::{Digest, Hasher};
use pomp_formats::write_atomically;
use pomp_motion::retarget::{RetargetReport, RigLibrary, SourceFrame};
use pomp_motion::{Clip, Gait, MotionError, Recording};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Fewest frames that a clip needs at the target rate: a third of a second.
const LEAST_FRAMES: usize = 20;

/// One motion file to preprocess.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file.
    pub path: PathBuf,
    /// Name of its results.
    pub name: String,
    /// Source and licence.
    pub provenance: Provenance,
}

/// A clip that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The input.
    pub input: PathBuf,
    /// What went wrong.
    pub error: String,
}

/// What a run made: `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Program and version.
    pub made_by: String,
    /// The resolved configuration.
    pub config: PreprocessConfig,
    /// Its hash, as stored in every result.
    pub config_hash: String,
    /// Results, sorted by name.
    pub clips: Vec<ManifestEntry>,
    /// Clips that failed, sorted by input.
    pub failures: Vec<Failure>,
}

/// What happens while a run goes on.
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

/// BVH files among `paths`: files as given, folders searched recursively, sorted by path.
///
/// # Errors
/// No such file, two files of one name, no file at all.
pub fn find_inputs(paths: &[PathBuf]) -> Result<Vec<Input>, PreprocessError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut files)?;
        } else {
            std::fs::metadata(path).map_err(|source| PreprocessError::Io {
                action: "looking for the clip",
                path: path.clone(),
                source,
                remedy: "give an existing BVH file or a folder that holds some",
            })?;
            files.push(path.clone());
        }
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        let looked_at: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(PreprocessError::NoInput { looked_at: looked_at.join(", ") });
    }
    let mut index = ProvenanceIndex::default();
    let mut by_name: HashMap<String, PathBuf> = HashMap::new();
    let mut inputs = Vec::with_capacity(files.len());
    for path in files {
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        if let Some(first) = by_name.insert(name.clone(), path.clone()) {
            return Err(PreprocessError::SameName { name, first, second: path });
        }
        let provenance = index.of(&path)?;
        inputs.push(Input { path, name, provenance });
    }
    Ok(inputs)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), PreprocessError> {
    let io = |source| PreprocessError::Io {
        action: "listing the folder",
        path: folder.to_path_buf(),
        source,
        remedy: "check that it can be read",
    };
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bvh")) {
            files.push(path);
        }
    }
    Ok(())
}

/// Hash of a configuration and of this version, as stored in every result.
pub fn config_hash(config: &PreprocessConfig) -> String {
    let json = serde_json::to_string(config).expect("a config is plain data");
    Digest::of(format!("{}\n{json}", env!("CARGO_PKG_VERSION"))).short()
}

/// The hash of a configuration with the contents of the files that it names.
fn hash_with_files(config: &PreprocessConfig) -> Result<String, PreprocessError> {
    let hash = config_hash(config);
    let files = config.falls.clips();
    if files.is_empty() {
        return Ok(hash);
    }
    let mut hasher = Hasher::default();
    hasher.update(hash);
    for path in files {
        let digest = Digest::of_file(path).map_err(|source| PreprocessError::Io {
            action: "reading the clip of falls.get_up",
            path: path.clone(),
            source,
            remedy: "name a motion file that can be read, or write get_up = \"physics\"",
        })?;
        hasher.update(digest);
    }
    Ok(hasher.finish().short())
}

/// Whether a clip that fails stops the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// It is reported and the others go on.
    Skip,
    /// The run stops.
    Stop,
}

/// Preprocesses `inputs` into `out`, one npz per clip, mirror image and terrain variant, and `manifest.json`.
///
/// Clips whose results are there, made from the same bytes by the same configuration, are not done again.
///
/// # Errors
/// The configuration is out of range, the folder cannot be written, or, with [`OnFailure::Stop`], the first clip that failed.
pub fn run(
    inputs: &[Input],
    out: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
    on_failure: OnFailure,
    progress: &(dyn Fn(&Progress) + Sync),
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
    progress: &(dyn Fn(&Progress) + Sync),
) -> Result<Manifest, PreprocessError> {
    config.validate()?;
    std::fs::create_dir_all(out).map_err(|source| PreprocessError::Io {
        action: "creating the output folder",
        path: out.to_path_buf(),
        source,
        remedy: "give a folder that can be written with --out",
    })?;
    let config_hash = hash_with_files(config)?;
    // Refused here, and not by every clip.
    crate::falls::get_up_clips(config, rigs)?;
    let (journal, entries) = Journal::open(out, &part.suffix())?;
    let mut known: HashMap<String, Vec<ManifestEntry>> = HashMap::new();
    for entry in entries {
        known.entry(entry.name.clone()).or_default().push(entry);
    }
    let journal = Mutex::new(journal);
    let done = Mutex::new(Vec::new());
    let failures = Mutex::new(Vec::new());
    let clip = |input: &Input| -> Result<(), PreprocessError> {
        let digest = Digest::of_file(&input.path).map_err(|source| PreprocessError::Io {
            action: "reading the clip",
            path: input.path.clone(),
            source,
            remedy: "check that it can be read",
        })?;
        let input_sha256 = digest.to_string();
        let names = planned(&input.name, config);
        let finished: Vec<ManifestEntry> = names
            .iter()
            .filter_map(|planned| {
                known.get(&planned.name)?.iter().rev().find(|entry| {
                    entry.input_sha256 == input_sha256
                        && entry.config_hash == config_hash
                        && is_unchanged(&out.join(&entry.file), &entry.sha256)
                })
            })
            .cloned()
            .collect();
        let left_out: usize = finished.iter().map(|entry| entry.left_out.len()).sum();
        let made = if finished.len() + left_out == names.len() {
            finished
        } else {
            let mut made = Vec::with_capacity(names.len());
            for result in preprocess_clip(input, config, rigs)? {
                let (mut recording, mut entry) = result;
                recording.config_hash.clone_from(&config_hash);
                let path = out.join(&entry.file);
                pomp_formats::npz::write_recording(&path, &recording)?;
                let written = Digest::of_file(&path).map_err(|source| PreprocessError::Io {
                    action: "reading the result back",
                    path: path.clone(),
                    source,
                    remedy: "check the disk and run the same command again",
                })?;
                entry.sha256 = written.to_string();
                entry.input_sha256.clone_from(&input_sha256);
                entry.config_hash.clone_from(&config_hash);
                journal.lock().expect("no thread panics while it writes").append(&entry)?;
                made.push(entry);
            }
            made
        };
        done.lock().expect("no thread panics while it pushes").extend(made);
        Ok(())
    };
    let inputs: Vec<&Input> = inputs.iter().filter(|input| part.holds(input)).collect();
    inputs.par_iter().try_for_each(|input| {
        match clip(input) {
            Ok(()) => progress(&Progress::Done { input: input.path.clone() }),
            // A folder that refuses refuses every clip: there is no point in going on.
            Err(error @ PreprocessError::Io { action: "writing the journal", .. }) => return Err(error),
            Err(error) if on_failure == OnFailure::Stop => {
                return Err(PreprocessError::Strict { message: error.to_string() });
            }
            Err(error) => {
                let failure = Failure { input: input.path.clone(), error: error.to_string() };
                progress(&Progress::Failed(failure.clone()));
                failures.lock().expect("no thread panics while it pushes").push(failure);
            }
        }
        Ok(())
    })?;
    let mut clips = done.into_inner().expect("all threads have joined");
    clips.sort_by(|a, b| a.name.cmp(&b.name));
    let mut failures = failures.into_inner().expect("all threads have joined");
    failures.sort_by(|a, b| a.input.cmp(&b.input));
    let manifest = Manifest {
        made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
        config: config.clone(),
        config_hash,
        clips,
        failures,
    };
    let json = serde_json::to_string_pretty(&manifest).expect("a manifest is plain data");
    let file = format!("manifest{}.json", part.suffix());
    write_atomically(&out.join(file), |file| file.write_all(json.as_bytes()))?;
    Ok(manifest)
}

/// All results of one clip; hashes are still empty. The first entry tells what the clip does not have.
///
/// # Errors
/// What is wrong with the clip.
pub fn preprocess_clip(
    input: &Input,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<Vec<(Recording, ManifestEntry)>, PreprocessError> {
    // What the libraries below report carries the clip's name.
    let _clip = tracing::info_span!("clip", name = %input.name).entered();
    let loaded = load_clip(&input.path, config, rigs)?;
    if loaded.clip.frames() < LEAST_FRAMES {
        return Err(PreprocessError::TooShort {
            path: input.path.clone(),
            frames: loaded.clip.frames(),
            least: LEAST_FRAMES,
        });
    }
    let mut results: Vec<(Recording, ManifestEntry)> = Vec::new();
    let mut left_out = Vec::new();
    let mut failed = Vec::new();
    let get_up = crate::falls::get_up_clips(config, rigs)?;
    let mut own: Option<OwnGround> = None;
    for Planned { name, mirrored, variant } in planned(&input.name, config) {
        if variant == Variant::Fitted(0) {
            own = Some(OwnGround::of(input, &loaded, mirrored, config)?);
        }
        let own = own.as_ref().expect("the plain result is planned before its variants");
        match own.made(input, &name, variant, &get_up, config)? {
            Ok(Made { mut recording, ground, mut warnings, replay, impulses, license }) => {
                warnings.splice(0..0, loaded.warnings.iter().cloned());
                recording.name.clone_from(&name);
                recording.source.clone_from(&input.provenance.source);
                if variant != Variant::Fitted(0) {
                    recording.source += &format!("; {}", ground.description);
                }
                recording.license.clone_from(&input.provenance.license);
                if let Some(license) = license {
                    recording.license += &format!("; getting up: {license}");
                }
                let mut gait_frames = [0; Gait::COUNT];
                for weights in &recording.gait {
                    gait_frames[Gait::dominant(weights).index()] += 1;
                }
                let entry = ManifestEntry {
                    file: format!("{name}.npz"),
                    name,
                    sha256: String::new(),
                    input: input.path.clone(),
                    input_sha256: String::new(),
                    config_hash: String::new(),
                    source: recording.source.clone(),
                    license: recording.license.clone(),
                    rig: loaded.report.rig.clone(),
                    frames: recording.frames(),
                    gait_frames,
                    warnings,
                    ground,
                    left_out: Vec::new(),
                    replay,
                    impulses,
                };
                results.push((recording, entry));
            }
            Err(NotMade { reason, is_failure }) => {
                if is_failure {
                    failed.push(format!("there is no {name}: {reason}"));
                }
                left_out.push(LeftOut { name, reason });
            }
        }
    }
    if let Some((_, first)) = results.first_mut() {
        first.left_out = left_out;
        first.warnings.extend(failed);
    }
    tracing::debug!(frames = loaded.clip.frames(), recordings = results.len(), "preprocessed");
    Ok(results)
}

/// A motion file mapped onto the project skeleton.
#[derive(Clone, Debug)]
pub struct LoadedClip {
    /// The clip at the config's rate.
    pub clip: Clip,
    /// What the mapping found and measured.
    pub report: RetargetReport,
    /// Warnings of reader and mapping.
    pub warnings: Vec<String>,
}

/// Reads a BVH or GLB file and maps it onto the project skeleton at the config's rate.
///
/// # Errors
/// The configuration is out of range; the file, its skeleton, its frames or its motion are refused.
pub fn load_clip(
    path: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<LoadedClip, PreprocessError> {
    config.validate()?;
    let (motion, mut warnings) = if path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("glb")) {
        let file = pomp_formats::read_glb(path)?;
        (file.motion, file.warnings)
    } else {
        let file = pomp_formats::bvh::read_bvh(path)?;
        (file.motion, file.warnings.iter().map(ToString::to_string).collect())
    };
    let retarget = |source| PreprocessError::Retarget { path: path.to_path_buf(), source };
    let (rig, joints) = rigs.choose(&motion.skeleton).map_err(retarget)?;
    motion.validate().map_err(|source| retarget(source.into()))?;
    let unit = SourceFrame::detect(&motion, &joints, &config.retarget).map_err(retarget)?.unit;
    let (motion, defects) = crate::defects::mended(motion, unit.metres())
        .map_err(|reason| PreprocessError::BadFrames { path: path.to_path_buf(), reason })?;
    warnings.extend(defects.iter().map(ToString::to_string));
    let retargeted = pomp_motion::retarget::retarget(&motion, rig, &config.retarget).map_err(retarget)?;
    warnings.extend(retargeted.report.warnings.iter().cloned());
    Ok(LoadedClip {
        clip: retargeted.clip.resampled(config.frame_rate_hz),
        report: retargeted.report,
        warnings,
    })
}

/// A recording of `clip` with foot contacts and gaits.
///
/// # Errors
/// What the gait labels find wrong with the clip.
pub fn labelled(clip: &Clip, config: &PreprocessConfig) -> Result<Recording, MotionError> {
    let mut recording = Recording::of_clip(clip);
    recording.foot_contact = pomp_motion::foot_contacts(clip, &config.contacts);
    recording.gait = pomp_motion::gait_labels(clip, &recording.foot_contact, &config.gaits)?;
    Ok(recording)
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
