//! Export of a folder of recordings to other formats.

use crate::arrays::plain;
use crate::errors::{OrRaise, exception};
use crate::interrupt::in_background;
use pomp_dataset::{Dataset, Exported, Format, export};
use pyo3::prelude::*;
use std::path::PathBuf;

const FORMATS: [Format; 6] =
    [Format::Shards, Format::Parquet, Format::ProtoMotions, Format::MimicKit, Format::Glb, Format::Bvh];

/// Writes a folder of recordings or rollouts in another format, as `pomp export` does. The same call continues an interrupted export.
///
/// Args:
///     data: Folder written by `preprocess` or `generate_many`.
///     out: Folder of the results.
///     format: "parquet" (a row per frame, read by pandas, pyarrow and Ray Data), "shards" (tar files, read by webdataset and Ray Data),
///         "protomotions", "mimickit", "glb" or "bvh"; docs/dataset.md describes them.
///
/// Returns:
///     A dict of `files`, the names of the files, and `written`, the number of files that this call has written.
#[pyfunction(name = "export")]
#[pyo3(signature = (data, out, *, format="parquet"))]
pub fn export_folder<'py>(
    py: Python<'py>,
    data: PathBuf,
    out: PathBuf,
    format: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let format = FORMATS.into_iter().find(|known| known.name() == format).ok_or_else(|| {
        let known = FORMATS.map(Format::name);
        exception(&pomp_front::errors::unknown("", "format", format, known))
    })?;
    let exported = in_background(py, move || -> anyhow::Result<Exported> {
        Ok(export(&Dataset::open(&data)?, format, &out, &mut || {})?)
    })?;
    plain(py, &exported.or_raise()?)
}
