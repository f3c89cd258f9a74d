//! Rollouts in bulk.

use crate::arguments::{name, seconds};
use crate::arrays::plain;
use crate::errors::{OrRaise, wrong};
use crate::model;
use crate::preprocess::part;
use crate::progress::{Event, watched};
use crate::rollout::LoopArguments;
use pomp_batch::{Batch, Progress};
use pomp_front::batch::{Scenes, with_share};
use pomp_front::support::Situation;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use std::path::PathBuf;

/// Generates many rollouts into a folder, as `pomp generate --count` does.
///
/// The files are OUT/rollout_0000.npz and so on, with the seeds `seed`, `seed` + 1, …, and manifest.json. They are identical to those of
/// the command, byte by byte.
///
/// The same call continues an interrupted batch. A larger count adds rollouts to a finished batch.
///
/// Args:
///     count: Number of rollouts.
///     out: Folder of the results. It is new, empty, or contains a batch with the same settings.
///     seconds: Length of each rollout; 60 frames per second.
///     control: A preset, a path file (.toml), or a clip (.bvh, .glb, .gltf, .npz) whose path is followed; if left out, "walk".
///     terrain: A preset or a file (.toml, .png, .npz); if left out, "hills".
///     random: True draws terrain, command and pushes of each rollout from its seed, by the ranges of configs/batch.toml. A file gives
///         other ranges. It cannot be combined with control, terrain and pushes.
///     seed: Seed of the first rollout.
///     pushes: Pushes in the form of the command line, "5,Spine2,50,left". Values in ranges are drawn from the seed of each rollout.
///     model: A Model or the folder of one; if left out, the embedded models, as on the command line.
///     support: What holds the character up: "own-feet" or "assist". If left out, as on the command line: own-feet where it was measured to
///         hold, elsewhere assist; of random rollouts each has its own. It cannot be combined with config.
///     config: A configuration of the loop (.toml), over the settings of configs/generate.toml.
///     settings: Values that override the configuration: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     stature: Height of the character, metres, 1.5 to 2.0.
///     mass: Mass of the character, kg, 5 to 500.
///     style: Weights of the styles in which the character walks, as {"zombie": 0.7}; if left out, those of the settings.
///     rank: Generate only the rollouts of this rank (from 0), by a hash of the rollout's name; needs `ranks`. When all ranks are done, a
///         call without rank and ranks writes the manifest of the whole batch.
///     ranks: Number of ranks.
///     threads: Number of threads; if left out, one per core.
///     dry_run: Generate nothing and return the manifest before the first rollout.
///     progress: Called after each rollout as progress(done, total, path, error), where error is None or a text. An exception in
///         it, like Ctrl-C, stops the call after the rollouts in progress.
///
/// Returns:
///     The manifest, which is also in OUT/manifest.json. `clips` lists file, sha256, seed, ground, control, support and first_fall_s of
///     each rollout, `settings["generator"]` the settings of each support; `failures` lists the failures.
#[pyfunction]
#[pyo3(signature = (
    count, out, *, seconds=10.0, control=None, terrain=None, random=None, seed=0, pushes=None, model=None, support=None, config=None,
    settings=None, stature=None, mass=None, style=None, rank=None, ranks=None, threads=None, dry_run=false, progress=None
))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn generate_many<'py>(
    py: Python<'py>,
    count: usize,
    out: PathBuf,
    seconds: f32,
    control: Option<&Bound<'py, PyAny>>,
    terrain: Option<&Bound<'py, PyAny>>,
    random: Option<&Bound<'py, PyAny>>,
    seed: u64,
    pushes: Option<&Bound<'py, PyAny>>,
    model: Option<&Bound<'py, PyAny>>,
    support: Option<&str>,
    config: Option<PathBuf>,
    settings: Option<&Bound<'py, PyAny>>,
    stature: Option<f32>,
    mass: Option<f32>,
    style: Option<&Bound<'py, PyAny>>,
    rank: Option<usize>,
    ranks: Option<usize>,
    threads: Option<usize>,
    dry_run: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let seconds = self::seconds(seconds)?;
    let part = part(rank, ranks)?;
    if threads == Some(0) {
        return Err(wrong("threads = 0: give 1 or more".to_owned()));
    }
    let models = model::find_all(model, py)?;
    let bodies = &models.first.description.body_names;
    let asked = LoopArguments { support, config, settings, stature, mass, style };
    let (scenes, supports) = match drawn(random)? {
        Some(_) if control.is_some() || terrain.is_some() || pushes.is_some() => {
            return Err(wrong("random: it draws control, terrain and pushes; give none of them".to_owned()));
        }
        Some(file) => (Scenes::random(file.as_deref(), bodies), asked.choose_drawn(py, &models)?),
        None => {
            let control = control.map_or(Ok("walk".to_owned()), |given| name(given, "control"))?;
            let terrain = terrain.map_or(Ok("hills".to_owned()), |given| name(given, "terrain"))?;
            let scenes = Scenes::given(&terrain, &control, &texts(pushes)?, seconds, bodies);
            let situation = Situation::Given { terrain: &terrain, control: &control, seconds };
            (scenes, asked.choose(py, &models, situation)?.into())
        }
    };
    let scenes = scenes.or_raise()?;
    let loops = supports.loops.clone();
    let batch = Batch { loops, seconds, first_seed: seed, count, scenes: scenes.settings() };
    if dry_run {
        return plain(py, &batch.new_manifest().or_raise()?);
    }
    let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let total = with_share(part, |share| {
        (0..count).filter(|index| (share.holds)(&pomp_batch::rollout_name(*index))).count()
    });
    let report = watched(py, progress.as_ref(), total, |tell| {
        let scene = |seed| scenes.scene(seed, seconds, bodies, &supports);
        let told = |event: &Progress<'_>| {
            tell(match event {
                Progress::Made { file } | Progress::Kept { file } => {
                    Event { path: out.join(file).display().to_string(), error: None }
                }
                Progress::Failed { failure } => Event {
                    path: out.join(&failure.input).display().to_string(),
                    error: Some(failure.error.clone()),
                },
            })
        };
        with_share(part, |share| pomp_batch::run(&batch, &scene, share, &out, threads, &told))
    })?;
    plain(py, &report.manifest)
}

/// Whether scenes are drawn at random, and by which file.
fn drawn(random: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Option<PathBuf>>> {
    match random {
        None => Ok(None),
        Some(given) if given.is_instance_of::<PyBool>() => Ok(given.is_truthy()?.then_some(None)),
        Some(given) => Ok(Some(Some(PathBuf::from(name(given, "random")?)))),
    }
}

/// Pushes as texts; the manifest stores them.
fn texts(pushes: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(pushes) = pushes else { return Ok(Vec::new()) };
    if pushes.is_instance_of::<PyString>() {
        return Err(wrong("pushes: give a list of texts".to_owned()));
    }
    pushes.try_iter()?.map(|push| push?.extract::<String>()).collect()
}
