//! All rollouts of a batch: in parallel, resumable.

use crate::BatchError;
use crate::manifest::{Manifest, ManifestFailure, ManifestGround, ManifestRollout, first_fall_s};
use crate::scene::{LONGEST_S, Scene, model_hash};
use pomp_config::Fields;
use pomp_files::Digest;
use pomp_formats::{FormatError, read_recording, write_recording};
use pomp_generator::{FRAME_RATE_HZ, GeneratorConfig, GeneratorError, Networks, RolloutRecipe};
use pomp_model::Model;
use pomp_motion::Recording;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What the names of manifests begin and end with; between them is the share whose manifest it is.
const MANIFEST: (&str, &str) = ("manifest", ".json");
/// What the names of files begin with that are being written, or were when a process was killed.
const PARTIAL: &str = ".partial-pomp-";

/// Rollouts that a thread makes together at most: enough that the networks' weights are read seldom, few enough that an
/// interruption loses little.
const TOGETHER: usize = 8;

/// What makes the frames of a rollout.
#[derive(Clone, Debug)]
pub struct Loop<'a> {
    /// The model that leads the character.
    pub model: &'a Model,
    /// Settings.
    pub settings: GeneratorConfig,
}

/// What the rollouts of a batch share.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// Loops by the name of what holds the character up in them; each scene names its own.
    pub loops: BTreeMap<String, Loop<'a>>,
    /// Length of each rollout, seconds.
    pub seconds: f32,
    /// Seed of the first rollout; the others count up from it.
    pub first_seed: u64,
    /// Number of rollouts.
    pub count: usize,
    /// What decides the scenes, for the manifest: two batches whose scenes differ should differ here.
    pub scenes: Value,
}

/// Which rollouts of a batch one process makes, where several write into one folder.
pub struct Share<'a> {
    /// What its manifest's name ends with, before `.json`: empty for the whole.
    pub suffix: String,
    /// Whether it makes the rollout of this name (`rollout_0007`). Shares do not overlap, and together they are the whole.
    pub holds: &'a (dyn Fn(&str) -> bool + Sync),
}

impl Share<'_> {
    /// All rollouts.
    pub fn whole() -> Self {
        Share { suffix: String::new(), holds: &|_| true }
    }
}

/// What happens while a batch goes on.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// A rollout has been made.
    Made {
        /// Its file.
        file: &'a str,
    },
    /// A rollout was there, whole and of these settings.
    Kept {
        /// Its file.
        file: &'a str,
    },
    /// A rollout could not be made.
    Failed {
        /// Which, and why.
        failure: &'a ManifestFailure,
    },
}

/// What came of a batch.
#[derive(Clone, Debug)]
pub struct BatchReport {
    /// The manifest, as it is in the folder.
    pub manifest: Manifest,
    /// Rollouts made now; the others were there, or failed.
    pub made: usize,
}

/// A rollout that is to be made.
struct Asked {
    index: usize,
    path: PathBuf,
    recipe: RolloutRecipe,
    row: Row,
}

/// What the manifest says of a rollout beside what it came to.
struct Row {
    file: String,
    seed: u64,
    ground: String,
    control: String,
    support: String,
}

/// What one rollout came to.
enum Outcome {
    Made(ManifestRollout),
    Kept(ManifestRollout),
    Failed(ManifestFailure),
}

/// Makes the rollouts of `batch` into the folder `out`, in `threads` that make up to eight each frame by frame together
/// ([`RolloutRecipe::run_together`]); `scene` gives the scene of a seed.
///
/// Several processes may write into one folder, each a share; the whole, afterwards, finds all rollouts there and writes the
/// manifest of all. Rollouts that are there are read and compared with what they were asked to be; those that are whole are kept, those that
/// are cut or damaged are made again. A rollout that fails is told in the manifest, and the others go on.
///
/// # Errors
/// Settings out of range, a folder that holds something else, and a file that cannot be read or written.
pub fn run(
    batch: &Batch<'_>,
    scene: &(dyn Fn(u64) -> Result<Scene, BatchError> + Sync),
    share: &Share<'_>,
    out: &Path,
    threads: usize,
    progress: &(dyn Fn(&Progress<'_>) -> ControlFlow<()> + Sync),
) -> Result<BatchReport, BatchError> {
    let mut manifest = batch.new_manifest()?;
    let packed = batch
        .loops
        .iter()
        .map(|(support, with)| Ok((support.as_str(), Networks::new(with.model, &with.settings)?)));
    let networks: BTreeMap<&str, Networks> = packed.collect::<Result<_, GeneratorError>>()?;
    let path = out.join(format!("{}{}{}", MANIFEST.0, share.suffix, MANIFEST.1));
    take_folder(out, &manifest)?;
    manifest.write(&path)?;

    let indices: Vec<usize> = (0..batch.count).filter(|index| (share.holds)(&rollout_name(*index))).collect();
    let outcomes: Vec<Mutex<Option<Outcome>>> = indices.iter().map(|_| Mutex::new(None)).collect();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let problem = Mutex::new(None);
    let tell = |index: usize, outcome: Outcome| {
        let told = progress(&match &outcome {
            Outcome::Made(rollout) => Progress::Made { file: &rollout.file },
            Outcome::Kept(rollout) => Progress::Kept { file: &rollout.file },
            Outcome::Failed(failure) => Progress::Failed { failure },
        });
        if told.is_break() {
            stop.store(true, Ordering::Relaxed);
        }
        let at = indices.binary_search(&index).expect("only rollouts of the share are made");
        *outcomes[at].lock().expect("no thread panics while it stores") = Some(outcome);
    };
    let threads = threads.clamp(1, indices.len().max(1));
    // As many for each thread, so that none is left with the last ones.
    let together = indices.len().div_ceil(threads).clamp(1, TOGETHER);
    let work = || -> Result<(), BatchError> {
        while !stop.load(Ordering::Relaxed) {
            let first = next.fetch_add(together, Ordering::Relaxed);
            if first >= indices.len() {
                break;
            }
            let mut asked = Vec::with_capacity(together);
            for &index in &indices[first..(first + together).min(indices.len())] {
                match batch.ask(index, scene, out)? {
                    Ok(rollout) => asked.push(rollout),
                    Err(kept) => tell(index, Outcome::Kept(kept)),
                }
            }
            batch.make(asked, &networks, &tell)?;
        }
        Ok(())
    };
    // Plain threads: in a pool that also serves the networks, a frame would wait for whole rollouts that it has picked up.
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                if let Err(error) = work() {
                    stop.store(true, Ordering::Relaxed);
                    *problem.lock().expect("no thread panics while it stores") = Some(error);
                }
            });
        }
    });
    if let Some(error) = problem.into_inner().expect("all threads have joined") {
        return Err(error);
    }
    if stop.into_inner() {
        return Err(BatchError::Stopped);
    }
    let mut made = 0;
    for outcome in outcomes {
        let outcome = outcome.into_inner().expect("all threads have joined");
        match outcome.expect("without a problem every rollout has an outcome") {
            Outcome::Made(rollout) => {
                made += 1;
                manifest.clips.push(rollout);
            }
            Outcome::Kept(rollout) => manifest.clips.push(rollout),
            Outcome::Failed(failure) => manifest.failures.push(failure),
        }
    }
    manifest.write(&path)?;
    Ok(BatchReport { manifest, made })
}

/// Makes the folder, or sees that the batch in it is this one.
fn take_folder(out: &Path, asked: &Manifest) -> Result<(), BatchError> {
    let io = |action, source| BatchError::Io {
        action,
        path: out.to_path_buf(),
        source,
        remedy: "give a folder that can be written with --out",
    };
    std::fs::create_dir_all(out).map_err(|source| io("creating the folder", source))?;
    pomp_files::remove_abandoned(out).map_err(|source| io("listing", source))?;
    let mut names = Vec::new();
    for entry in std::fs::read_dir(out).map_err(|source| io("listing", source))? {
        let name = entry.map_err(|source| io("listing", source))?.file_name().to_string_lossy().into_owned();
        // Another share may be writing its first manifest just now.
        if !name.starts_with(PARTIAL) {
            names.push(name);
        }
    }
    let is_manifest = |name: &&String| name.starts_with(MANIFEST.0) && name.ends_with(MANIFEST.1);
    if !names.is_empty() && !names.iter().any(|name| is_manifest(&name)) {
        return Err(BatchError::NotABatch { folder: out.to_path_buf() });
    }
    for name in names.iter().filter(is_manifest) {
        if let Some(there) = Manifest::read(&out.join(name))? {
            check_same(out, &there, asked)?;
        }
    }
    Ok(())
}

/// That the batch which is there is the one that is asked for, or the beginning of it.
fn check_same(out: &Path, there: &Manifest, asked: &Manifest) -> Result<(), BatchError> {
    let other = |what: &str, there: &Value, asked: &Value| BatchError::OtherBatch {
        folder: out.to_path_buf(),
        what: what.to_owned(),
        there: there.to_string(),
        asked: asked.to_string(),
    };
    if there.made_by != asked.made_by {
        return Err(other("version of the program", &json!(there.made_by), &json!(asked.made_by)));
    }
    // As the folder's have been: a number that was written and read may have lost its last bit.
    let settings = plain(&asked.settings);
    if let Some((what, there, asked)) = first_difference("", &there.settings, &settings) {
        return Err(other(&what, there, asked));
    }
    if there.count > asked.count {
        return Err(other("count", &json!(there.count), &json!(asked.count)));
    }
    Ok(())
}

/// Data as JSON, through its text: `0.06` in 32 bits is 0.06, not 0.05999999865889549.
pub(crate) fn plain(data: &impl Serialize) -> Value {
    let text = serde_json::to_string(data).expect("settings are plain data");
    serde_json::from_str(&text).expect("what was written so is JSON")
}

/// The first key at which two trees differ, with both values.
fn first_difference<'a>(key: &str, a: &'a Value, b: &'a Value) -> Option<(String, &'a Value, &'a Value)> {
    match (a, b) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            keys.into_iter().find_map(|inner| {
                let path = if key.is_empty() { inner.clone() } else { format!("{key}.{inner}") };
                let value =
                    |tree: &'a serde_json::Map<String, Value>| tree.get(inner).unwrap_or(&Value::Null);
                first_difference(&path, value(left), value(right))
            })
        }
        _ if a == b => None,
        _ => Some((key.to_owned(), a, b)),
    }
}

impl Batch<'_> {
    /// Its manifest before the first rollout.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn new_manifest(&self) -> Result<Manifest, BatchError> {
        let fields = Fields::root();
        fields.within("seconds", self.seconds, (Bound::Excluded(0.0), Bound::Included(LONGEST_S)))?;
        let counts = self.count > 0 && self.first_seed.checked_add(self.count as u64).is_some();
        fields.holds(counts, "count", self.count, "1 or more, and as many as there are seeds left")?;
        fields.holds(!self.loops.is_empty(), "loops", "{}", "at least one of them")?;
        let mut model_hashes = BTreeMap::new();
        let mut generator = BTreeMap::new();
        for (support, Loop { model, settings }) in &self.loops {
            settings.validate()?;
            model_hashes.insert(support, model_hash(model, settings.used_parts())?);
            generator.insert(support, settings);
        }
        let settings = json!({
            "model_sha256": model_hashes,
            "seconds": plain(&self.seconds),
            "first_seed": self.first_seed,
            "scenes": self.scenes,
            "generator": plain(&generator),
        });
        let digest = Digest::of(settings.to_string());
        Ok(Manifest {
            made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
            config_hash: digest.short(),
            settings,
            count: self.count,
            clips: Vec::new(),
            failures: Vec::new(),
        })
    }

    /// Rollout `index` as it is to be made, or, as an error, as it was found.
    fn ask(
        &self,
        index: usize,
        scene: &(dyn Fn(u64) -> Result<Scene, BatchError> + Sync),
        out: &Path,
    ) -> Result<Result<Asked, ManifestRollout>, BatchError> {
        let file = format!("{}.npz", rollout_name(index));
        let seed = self.first_seed + index as u64;
        let path = out.join(&file);
        let scene = scene(seed)?;
        let Some(Loop { model, settings }) = self.loops.get(&scene.support) else {
            let reason = format!("its support \"{}\" is not among the loops of the batch", scene.support);
            return Err(BatchError::BadScene { seed, reason });
        };
        let Scene { ground, control, support, .. } = &scene;
        let [ground, control, support] = [ground, control, support].map(String::clone);
        let row = Row { file, seed, ground, control, support };
        let frames = (self.seconds * FRAME_RATE_HZ).round().max(1.0) as usize;
        let recipe = scene.recipe(model, settings, seed, frames)?;
        Ok(match found(&path, &recipe)? {
            Some(there) => Err(row.of(&there, &path)?),
            None => Ok(Asked { index, path, recipe, row }),
        })
    }

    /// Makes rollouts, those with the same settings together, and tells what each came to.
    fn make(
        &self,
        asked: Vec<Asked>,
        networks: &BTreeMap<&str, Networks>,
        tell: &dyn Fn(usize, Outcome),
    ) -> Result<(), BatchError> {
        let mut by_support: BTreeMap<String, Vec<Asked>> = BTreeMap::new();
        for one in asked {
            by_support.entry(one.row.support.clone()).or_default().push(one);
        }
        for (support, asked) in by_support {
            let model = self.loops[&support].model;
            Self::make_alike(asked, model, &networks[support.as_str()], tell)?;
        }
        Ok(())
    }

    /// Makes rollouts with the same settings together.
    fn make_alike(
        asked: Vec<Asked>,
        model: &Model,
        networks: &Networks,
        tell: &dyn Fn(usize, Outcome),
    ) -> Result<(), BatchError> {
        let names: Vec<String> = asked.iter().map(|one| rollout_name(one.index)).collect();
        let recipes: Vec<(&RolloutRecipe, &str)> =
            asked.iter().zip(&names).map(|(one, name)| (&one.recipe, name.as_str())).collect();
        let made = RolloutRecipe::run_together(&recipes, model, networks);
        for (Asked { index, path, row, .. }, recording) in asked.into_iter().zip(made) {
            let _rollout = tracing::info_span!("rollout", index, seed = row.seed).entered();
            let outcome = match recording {
                Ok(recording) => {
                    write_recording(&path, &recording)?;
                    tracing::debug!(frames = recording.frames(), "made");
                    Outcome::Made(row.of(&recording, &path)?)
                }
                Err(error) => Outcome::Failed(ManifestFailure { input: row.file, error: error.to_string() }),
            };
            tell(index, outcome);
        }
        Ok(())
    }
}

impl Row {
    /// The row of a rollout that lies at `path`.
    fn of(self, recording: &Recording, path: &Path) -> Result<ManifestRollout, BatchError> {
        let Self { file, seed, ground, control, support } = self;
        Ok(ManifestRollout {
            sha256: hash_of(path)?,
            file,
            seed,
            ground: ManifestGround { kind: ground },
            control,
            support,
            seconds: recording.frames() as f32 / recording.frame_rate_hz,
            pushes: recording.generation.as_ref().map_or(0, |generation| generation.pushes.len()),
            first_fall_s: first_fall_s(recording),
            warnings: Vec::new(),
        })
    }
}

/// Name of the rollout of this index.
pub fn rollout_name(index: usize) -> String {
    format!("rollout_{index:04}")
}

/// The rollout that is there, if it is whole.
fn found(path: &Path, recipe: &RolloutRecipe) -> Result<Option<Recording>, BatchError> {
    match read_recording(path) {
        Ok(recording) if recipe.made(&recording) => Ok(Some(recording)),
        Ok(_) => Err(BatchError::OtherRollout { path: path.to_path_buf() }),
        // Nothing there, or what an interruption or a broken disk has left of it.
        Err(FormatError::Io { source, .. }) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(BatchError::Io {
                action: "reading",
                path: path.to_path_buf(),
                source,
                remedy: "check that it can be read",
            })
        }
        Err(_) => Ok(None),
    }
}

fn hash_of(path: &Path) -> Result<String, BatchError> {
    Digest::of_file(path).map(|digest| digest.to_string()).map_err(|source| BatchError::Io {
        action: "reading back",
        path: PathBuf::from(path),
        source,
        remedy: "check that it can be read",
    })
}
