//! Preprocessing with progress.

use crate::arguments::config;
use crate::arrays::plain;
use crate::errors::{OrRaise, wrong};
use crate::progress::{Event, watched};
use pomp_preprocess::{Manifest, OnFailure, Part, PreprocessConfig, Progress, find_inputs, run_part};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Preprocesses motion files into a folder of recordings, as `pomp preprocess` does.
///
/// The same call continues an interrupted run. Existing results from the same bytes and configuration are kept.
///
/// Args:
///     inputs: A motion file (.bvh, .glb, .gltf) or a folder of them, or a list of both.
///     out: Folder of the recordings.
///     config: A preprocessing configuration (.toml); if left out, the defaults.
///     settings: Values that override the configuration: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     rigs: Your own rig maps (.toml); they are tried before the built-in ones.
///     strict: Stop at the first clip that fails. By default the result lists failed clips, and the others are processed.
///     rank: Process only the clips of this rank (from 0), by a hash of the clip's name; needs `ranks`. When all ranks are done, a call
///         without rank and ranks writes the manifest of the whole folder.
///     ranks: Number of ranks.
///     progress: Called after each clip as progress(done, total, path, error), where error is None or a text. An exception in it stops
///         the run.
///
/// Returns:
///     The manifest, which is also in OUT/manifest.json. `clips` lists name, file, gaits, ground, replay and impulse figures of each
///     clip; `failures` lists the failures.
#[pyfunction]
#[pyo3(signature = (inputs, out, *, config=None, settings=None, rigs=Vec::new(), strict=false, rank=None, ranks=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn preprocess<'py>(
    py: Python<'py>,
    inputs: &Bound<'py, PyAny>,
    out: PathBuf,
    config: Option<PathBuf>,
    settings: Option<&Bound<'py, PyAny>>,
    rigs: Vec<PathBuf>,
    strict: bool,
    rank: Option<usize>,
    ranks: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let config: PreprocessConfig = self::config(config, settings)?;
    let inputs: Vec<PathBuf> = match inputs.extract::<PathBuf>() {
        Ok(one) => vec![one],
        Err(_) => inputs.extract()?,
    };
    let rigs = pomp_front::motion_file::rigs(&rigs).or_raise()?;
    let inputs = py.detach(|| find_inputs(&inputs)).or_raise()?;
    let on_failure = if strict { OnFailure::Stop } else { OnFailure::Skip };
    let part = part(rank, ranks)?;
    let total = inputs.iter().filter(|input| part.holds(input)).count();
    let manifest = watched(py, progress.as_ref(), total, |tell| {
        let told = |event: &Progress| {
            tell(match event {
                Progress::Done { input } => Event { path: input.display().to_string(), error: None },
                Progress::Failed(failure) => {
                    Event { path: failure.input.display().to_string(), error: Some(failure.error.clone()) }
                }
            })
        };
        run_part(&inputs, part, &out, &config, &rigs, on_failure, &told)
    })?;
    plain(py, &manifest)
}

/// The part of the work of `rank` of `ranks`; without them, all of it.
pub fn part(rank: Option<usize>, ranks: Option<usize>) -> PyResult<Part> {
    match (rank, ranks) {
        (None, None) => Ok(Part::WHOLE),
        (Some(rank), Some(ranks)) => Part::new(rank, ranks).map_err(|error| wrong(error.to_string())),
        _ => Err(wrong("rank and ranks: give both or none".to_owned())),
    }
}

/// The rank, of `ranks`, that processes the clip or rollout of this name.
///
/// The name of a clip is that of its file without folder and extension; the name of a rollout is like "rollout_0007". `rank` and `ranks` of
/// `preprocess` and `generate_many`, and `--rank` and `--ranks` of the command line, divide the work by this function.
#[pyfunction]
pub fn rank_of(name: &str, ranks: usize) -> PyResult<usize> {
    if ranks == 0 {
        return Err(wrong("ranks = 0: give 1 or more".to_owned()));
    }
    Ok(Part::rank_of(name, ranks))
}

/// The hash of a configuration in manifests.
#[pyfunction]
#[pyo3(signature = (config=None, settings=None))]
pub fn _preprocessing_hash(config: Option<PathBuf>, settings: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let config: PreprocessConfig = self::config(config, settings)?;
    pomp_preprocess::hash_with_files(&config).or_raise()
}

/// Merges the manifests of several parts (of rollouts, or of clips with these inputs) into the text of one manifest.
#[pyfunction]
pub fn _merged_manifest(
    texts: Vec<String>,
    of_rollouts: bool,
    inputs: Option<Vec<PathBuf>>,
) -> PyResult<String> {
    if of_rollouts {
        let parts =
            texts.iter().map(|text| serde_json::from_str(text)).collect::<Result<_, _>>().or_raise()?;
        return Ok(pomp_batch::Manifest::merged(parts).or_raise()?.to_json());
    }
    let parts = texts.iter().map(|text| serde_json::from_str(text)).collect::<Result<_, _>>().or_raise()?;
    Ok(Manifest::merged(parts, inputs.as_deref()).or_raise()?.to_json())
}
