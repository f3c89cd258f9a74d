//! From motion files to recordings: every step of method §6 for each clip, in parallel over clips.

use crate::journal::{Journal, ManifestEntry};
use crate::provenance::{Provenance, ProvenanceIndex};
use crate::replay::replay;
use crate::terrain_fit::{FitInput, fit_terrain};
use crate::{PreprocessConfig, PreprocessError};
use pomp_formats::write_atomically;
use pomp_motion::retarget::{RetargetReport, RigLibrary};
use pomp_motion::{Clip, Gait, MotionError, Recording};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
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
    hex(&Sha256::digest(format!("{}\n{json}", env!("CARGO_PKG_VERSION")).as_bytes()))[..16].to_owned()
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
    config.validate()?;
    std::fs::create_dir_all(out).map_err(|source| PreprocessError::Io {
        action: "creating the output folder",
        path: out.to_path_buf(),
        source,
        remedy: "give a folder that can be written with --out",
    })?;
    let config_hash = config_hash(config);
    let (journal, entries) = Journal::open(out)?;
    let known: HashMap<String, ManifestEntry> =
        entries.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
    let journal = Mutex::new(journal);
    let done = Mutex::new(Vec::new());
    let failures = Mutex::new(Vec::new());
    let clip = |input: &Input| -> Result<(), PreprocessError> {
        let bytes = std::fs::read(&input.path).map_err(|source| PreprocessError::Io {
            action: "reading the clip",
            path: input.path.clone(),
            source,
            remedy: "check that it can be read",
        })?;
        let input_sha256 = hex(&Sha256::digest(&bytes));
        let names = result_names(&input.name, config);
        let finished: Vec<ManifestEntry> = names
            .iter()
            .filter_map(|(name, _, _)| known.get(name))
            .filter(|entry| {
                entry.input_sha256 == input_sha256
                    && entry.config_hash == config_hash
                    && file_hash(&out.join(&entry.file)).is_some_and(|hash| hash == entry.sha256)
            })
            .cloned()
            .collect();
        let made = if finished.len() == names.len() {
            finished
        } else {
            let mut made = Vec::with_capacity(names.len());
            for result in preprocess_clip(input, config, rigs)? {
                let (mut recording, mut entry) = result;
                recording.config_hash.clone_from(&config_hash);
                let path = out.join(&entry.file);
                pomp_formats::npz::write_recording(&path, &recording)?;
                let written = std::fs::read(&path).map_err(|source| PreprocessError::Io {
                    action: "reading the result back",
                    path: path.clone(),
                    source,
                    remedy: "check the disk and run the same command again",
                })?;
                entry.sha256 = hex(&Sha256::digest(&written));
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
    write_atomically(&out.join("manifest.json"), |file| file.write_all(json.as_bytes()))?;
    Ok(manifest)
}

/// Name, whether mirrored, and terrain variant of each result of a clip.
fn result_names(name: &str, config: &PreprocessConfig) -> Vec<(String, bool, usize)> {
    let mut names = Vec::new();
    for mirrored in [false, true].into_iter().take(1 + usize::from(config.mirror)) {
        for variant in 0..config.terrain_variants.max(1) {
            let mirror = if mirrored { "_mirrored" } else { "" };
            let terrain = if variant > 0 { format!("_terrain{variant}") } else { String::new() };
            names.push((format!("{name}{mirror}{terrain}"), mirrored, variant));
        }
    }
    names
}

/// All results of one clip; hashes are still empty.
///
/// # Errors
/// What is wrong with the clip.
pub fn preprocess_clip(
    input: &Input,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<Vec<(Recording, ManifestEntry)>, PreprocessError> {
    let loaded = load_clip(&input.path, config, rigs)?;
    if loaded.clip.frames() < LEAST_FRAMES {
        return Err(PreprocessError::TooShort {
            path: input.path.clone(),
            frames: loaded.clip.frames(),
            least: LEAST_FRAMES,
        });
    }
    result_names(&input.name, config)
        .into_iter()
        .map(|(name, mirrored, variant)| {
            let mut clip = if mirrored { loaded.clip.mirrored() } else { loaded.clip.clone() };
            clip.name.clone_from(&name);
            let mut warnings = loaded.warnings.clone();
            let mut recording = labelled(&clip, config)
                .map_err(|source| PreprocessError::Motion { path: input.path.clone(), source })?;
            let fit = fit_terrain(&FitInput::of_recording(&recording), &config.terrain, variant)
                .map_err(|source| PreprocessError::Terrain { path: input.path.clone(), source })?;
            warnings.extend(fit.report.warnings.iter().cloned());
            let grid = fit.map.grid().clone();
            let (simulation, report) = replay(&clip, &grid, &config.dynamic, &config.replay)
                .map_err(|source| PreprocessError::Replay { path: input.path.clone(), source })?;
            recording.terrain = Some(grid);
            recording.simulation = Some(simulation);
            recording.source.clone_from(&input.provenance.source);
            recording.license.clone_from(&input.provenance.license);
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
                replay: report,
            };
            Ok((recording, entry))
        })
        .collect()
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

/// Reads a BVH file and maps it onto the project skeleton at the config's rate.
///
/// # Errors
/// The configuration is out of range; the file, its skeleton or its motion is refused.
pub fn load_clip(
    path: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<LoadedClip, PreprocessError> {
    config.validate()?;
    let file = pomp_formats::bvh::read_bvh(path)?;
    let retarget = |source| PreprocessError::Retarget { path: path.to_path_buf(), source };
    let (rig, _) = rigs.choose(&file.motion.skeleton).map_err(retarget)?;
    let retargeted =
        pomp_motion::retarget::retarget(&file.motion, rig, &config.retarget).map_err(retarget)?;
    let mut warnings: Vec<String> = file.warnings.iter().map(ToString::to_string).collect();
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
    std::fs::read(path).ok().map(|bytes| hex(&Sha256::digest(&bytes)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
