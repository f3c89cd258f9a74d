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
/// A run that was interrupted goes on where it was when it is called again; what is there already, made from the same bytes by the same
/// configuration, is kept.
///
/// Args:
///     inputs: A BVH file or a folder of them, or a list of both.
///     out: Folder of the recordings.
///     config: A preprocessing configuration (.toml); without it the defaults.
///     settings: Values in place of the configuration's: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     rigs: Rig maps of your own (.toml), tried before the built-in ones.
///     strict: Stop at the first clip that fails; else it is told in the result, and the others go on.
///     rank: Do only the clips of this rank, from 0, by hash of the clip's name; with `ranks`. When all ranks are done, a call without
///         them writes the manifest of the whole.
///     ranks: Number of ranks.
///     progress: Called after each clip as progress(done, total, path, error), where error is None or a text. An exception in it stops
///         the run.
///
/// Returns:
///     The manifest that is also in OUT/manifest.json: `clips`, each with name, file, gaits, ground, replay and impulse figures, and
///     `failures`.
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

/// The part of the work that `rank` of `ranks` does; everything without them.
pub fn part(rank: Option<usize>, ranks: Option<usize>) -> PyResult<Part> {
    match (rank, ranks) {
        (None, None) => Ok(Part::WHOLE),
        (Some(rank), Some(ranks)) => Part::new(rank, ranks).map_err(|error| wrong(error.to_string())),
        _ => Err(wrong("rank and ranks: give both or none".to_owned())),
    }
}

/// Rank, of `ranks`, that does the clip of this name (of its file, without folder and ending) or the rollout of this name
/// ("rollout_0007"): what `rank` and `ranks` of `preprocess` and `generate_many`, and `--rank` and `--ranks`, share the work by.
#[pyfunction]
pub fn rank_of(name: &str, ranks: usize) -> PyResult<usize> {
    if ranks == 0 {
        return Err(wrong("ranks = 0: give 1 or more".to_owned()));
    }
    Ok(Part::rank_of(name, ranks))
}

/// The hash by which the results of a configuration are known.
#[pyfunction]
#[pyo3(signature = (config=None, settings=None))]
pub fn _preprocessing_hash(config: Option<PathBuf>, settings: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let config: PreprocessConfig = self::config(config, settings)?;
    pomp_preprocess::hash_with_files(&config).or_raise()
}

/// The text of one manifest of those of several parts: of rollouts, or else of clips, of these inputs.
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
